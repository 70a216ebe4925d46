// Signals of the program: how they must be on entry, and those that users end it by. One that is ignored on entry
// (nohup, a shell's background jobs) stays ignored, here and in the ranks that are started.
// Ownership: HeldSignals owns the mask of the calling thread. Threading: one owner, before other threads. Refuses:
// nothing.
#pragma once

#include <csignal>

#include "base/result.h"

namespace hocket {

/// Children can be waited for, and a write beyond a limit of file sizes (ulimit -f) fails instead of ending us
/// silently, however whoever started this program has left SIGCHLD and SIGXFSZ.
void take_signals();

/// Of SIGINT, SIGTERM and SIGHUP those that are not ignored.
[[nodiscard]] sigset_t ending_signals();

/// Keeps those signals pending while there is something to put away first; they end the program when it is destroyed.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// An error when one has come.
  [[nodiscard]] Result<void> check() const;

 private:
  sigset_t held_;
  sigset_t before_{};
};

}  // namespace hocket
