#include "base/queue.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace hocket {

// The kernel's futex: std::atomic::wait has no deadline in C++20.
void Parker::sleep(SteadyTime deadline) {
  using std::chrono::nanoseconds;
  const nanoseconds left = deadline - std::chrono::steady_clock::now();
  const std::int64_t ns = std::max<std::int64_t>(left.count(), 0);
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &asleep_, FUTEX_WAIT_PRIVATE, 1, &limit, nullptr, 0);
}

void Parker::rouse() { syscall(SYS_futex, &asleep_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace hocket
