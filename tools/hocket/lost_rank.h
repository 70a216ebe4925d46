// LostRank: what the process that starts local ranks knows of the first that a signal has ended: words in a file
// without a name. Ranks look there while they meet: nobody else misses one that has not come yet, or rank 0 before it
// serves. Ownership: the file is the starter's. Threading: one owner. Refuses: nothing; what cannot be read says
// nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "lab/memory_file.h"

namespace hocket {

class LostRank {
 public:
  [[nodiscard]] static Result<LostRank> make();

  /// "NAME=value", which every rank gets.
  [[nodiscard]] std::string variable() const;
  void note(std::uint32_t rank, pid_t process, int signal);

  /// On a rank: whether it was started by a process that may note one.
  [[nodiscard]] static bool started_here();
  /// An error of that rank when one was noted.
  [[nodiscard]] static Result<void> check(std::uint32_t me);

 private:
  std::optional<MemoryFile> file_;
  bool noted_ = false;
};

}  // namespace hocket
