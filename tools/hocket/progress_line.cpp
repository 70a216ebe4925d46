#include "progress_line.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/say.h"

namespace hocket {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSilence = std::chrono::seconds(2);
constexpr auto kPeriod = std::chrono::milliseconds(250);

}  // namespace

ProgressLine::ProgressLine() {
  if (isatty(STDERR_FILENO) != 0) watcher_ = std::thread([this] { watch(); });
}

ProgressLine::~ProgressLine() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  over_.notify_one();
  watcher_.join();
}

void ProgressLine::watch() {
  std::unique_lock lock(mutex_);
  if (over_.wait_for(lock, kSilence, [this] { return ended_; })) return;
  do {
    say("\r\x1b[K{}", text_of(progress_.state(), Clock::now()));
    std::fflush(stderr);
  } while (!over_.wait_for(lock, kPeriod, [this] { return ended_; }));
  say("\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace hocket
