// ProgressLine: while it lives, one line on stderr says what long work is at, how far, and how long it may still take.
// It appears after two seconds, on a terminal only, and is wiped when the work ends. Ownership: the verb's action, for
// as long as it computes; it must be gone before anything is printed. Threading: has one thread of its own.
// Refuses: nothing; without a terminal it does nothing.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/progress.h"

namespace hocket {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] Progress& progress() { return progress_; }

 private:
  void watch();

  Progress progress_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool ended_ = false;
  std::thread watcher_;
};

}  // namespace hocket
