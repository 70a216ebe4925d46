#include "transport/shm/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace hocket {

// Not FUTEX_PRIVATE: sleeper and ringer are different processes.
void Doorbell::wait(std::uint32_t reasons, SteadyTime until) {
  using std::chrono::nanoseconds;
  const nanoseconds left = until - std::chrono::steady_clock::now();
  const std::int64_t ns = std::max<std::int64_t>(left.count(), 0);
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &asleep_, FUTEX_WAIT, reasons, &limit, nullptr, 0);
}

void Doorbell::rouse() { syscall(SYS_futex, &asleep_, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

}  // namespace hocket
