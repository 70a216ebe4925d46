// HostPlace: where a process is as far as meeting another one there goes: its kernel, its network namespace and the
// folder in which private files lie. Containers may have one host name and none of these in common, or one kernel and
// other folders. Ownership: values. Threading: pure but for reading /proc. Refuses: nothing; what the system does not
// say is "unknown", and the same everywhere.
#pragma once

#include <string>
#include <string_view>

namespace hocket {

struct HostPlace {
  std::string kernel = "unknown";  // its boot number
  std::string network = "unknown";
  std::string folder = "unknown";

  [[nodiscard]] static HostPlace own();
  /// One word, and back; of a text that is none, all is unknown.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static HostPlace from(std::string_view text);
  /// "kernel", "network namespace", "folder for private files": the first that differs; empty where two may meet.
  [[nodiscard]] std::string_view difference(const HostPlace& other) const;
};

}  // namespace hocket
