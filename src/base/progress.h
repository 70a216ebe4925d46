// Progress: how far a long piece of work is, told by the worker and shown by somebody else on another thread.
// A step has a name and, where it is known, an amount; the worker counts what is done. Every call takes a lock: it is
// for work of milliseconds, not for each item of it. Ownership: whoever shows it.
// Threading: one worker, any number of watchers. Refuses: nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace hocket {

class Progress {
 public:
  /// What a watcher sees. total 0: the amount is not known.
  struct State {
    std::string step;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    std::chrono::steady_clock::time_point since;
  };

  /// A step begins, "simulating ring". The one before is over.
  void begin(std::string step) {
    const std::lock_guard lock(mutex_);
    state_ = {std::move(step), 0, 0, std::chrono::steady_clock::now()};
  }
  /// The step consists of so much, and that begins now.
  void expect(std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    state_.total = total;
    state_.done = 0;
    state_.since = std::chrono::steady_clock::now();
  }
  void set_done(std::uint64_t done) {
    const std::lock_guard lock(mutex_);
    state_.done = done;
  }

  [[nodiscard]] State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 private:
  mutable std::mutex mutex_;
  State state_;
};

/// "simulating ring: 42 %, 3 s left", cut to `width` characters; `now` is when it is looked at.
[[nodiscard]] std::string text_of(const Progress::State& state, std::chrono::steady_clock::time_point now,
                                  std::size_t width = 79);

}  // namespace hocket
