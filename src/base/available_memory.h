// available_memory(): what this process can still take: what the system has without swapping, or less where a control
// group that the process is in, or one above it, has a limit. Both versions of control groups are read, and caches of
// files count as free, as they do in the system's own figure. Ownership: values. Threading: pure but for reading
// /proc and the mounted control groups. Refuses: nothing; what cannot be read limits nothing.
#pragma once

#include <optional>
#include <string>

namespace hocket {

struct AvailableMemory {
  double bytes = 0;
  /// "/sys/fs/cgroup/job/memory.max is 2.0 GiB"; empty when the whole system has no more.
  std::string limit;
  /// "3.5 GiB are available (/sys/fs/cgroup/job/memory.max is 4.0 GiB)"
  [[nodiscard]] std::string text() const;
};

/// Nothing when the system does not say. `root`: before every path that is read, for tests.
[[nodiscard]] std::optional<AvailableMemory> available_memory(const std::string& root = "");

}  // namespace hocket
