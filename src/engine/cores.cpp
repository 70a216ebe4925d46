#include "engine/cores.h"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <ctime>
#include <system_error>

#include "base/result.h"

namespace hocket {

std::chrono::nanoseconds thread_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

Result<void> keep_thread_on(std::uint32_t core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  if (core < CPU_SETSIZE) CPU_SET(core, &one);
  const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof(one), &one);
  if (error == EINVAL) return fail(Code::kInvalidArgument, "core {} is none that this process may run on", core);
  if (error != 0) return fail(Code::kIo, "to stay on core {}: {}", core, std::generic_category().message(error));
  return {};
}

Result<void> check_core(std::uint32_t core) {
  cpu_set_t before;
  if (const int error = ::pthread_getaffinity_np(::pthread_self(), sizeof(before), &before); error != 0)
    return fail(Code::kIo, "the cores of this thread: {}", std::generic_category().message(error));
  HOCKET_TRY(keep_thread_on(core));
  ::pthread_setaffinity_np(::pthread_self(), sizeof(before), &before);
  return {};
}

}  // namespace hocket
