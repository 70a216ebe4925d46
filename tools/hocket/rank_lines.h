// RankLines: what local ranks say on standard error, passed on line by line. Ranks that fail alike say the same: a line
// of hocket's that was there already is not printed again. Lines of anything else pass as they are.
// Ownership: both ends of one pipe that all ranks write to. Threading: one owner. Refuses: nothing; remembers a bounded
// number of lines.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/descriptor.h"

namespace hocket {

class RankLines {
 public:
  [[nodiscard]] static Result<RankLines> make();

  /// What a rank gets as its standard error.
  [[nodiscard]] int writer() const { return writer_.get(); }
  /// Readable when there is something to pass on.
  [[nodiscard]] int reader() const { return reader_.get(); }
  /// Prints whole lines; with `last`, what has no end of line too.
  void pass_on(bool last = false);
  /// Nothing is printed any more.
  void silence() { silent_ = true; }

 private:
  void print(std::string_view line);

  Descriptor reader_;
  Descriptor writer_;
  std::string text_;
  std::deque<std::string> printed_;
  bool silent_ = false;
};

}  // namespace hocket
