#include "net/descriptor_limit.h"

#include <sys/resource.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>

namespace hocket {
namespace {

/// Of the numbers below `limit` those that are taken; the limit is one of numbers, not of how many there are.
std::size_t taken_below(std::size_t limit) {
  std::error_code error;
  std::filesystem::directory_iterator at("/proc/self/fd", error);
  if (error == std::errc::too_many_files_open) return limit;
  std::size_t taken = 0;
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::size_t number = limit;
    std::from_chars(name.data(), name.data() + name.size(), number);
    taken += number < limit ? 1 : 0;
  }
  return taken == 0 ? 0 : taken - 1;  // the folder's own
}

}  // namespace

Result<void> check_descriptors(std::size_t needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const auto most = static_cast<std::size_t>(limit.rlim_cur);
  const std::size_t left = most - taken_below(most);
  if (needed <= left) return {};
  return fail(Code::kResourceExhausted, "too many open files: {} more are needed, {} of {} are left (ulimit -n)",
              needed, left, most);
}

}  // namespace hocket
