// What a hktUniqueId holds: where rank 0 will listen, and the job's secret. The process that makes one listens at once;
// the socket waits in a table of the process until rank 0 is initialised there.
// Ownership: the table owns sockets that nobody took yet. Threading: any thread.
// Refuses: texts that are no id; taking a socket twice.
#pragma once

#include <string>

#include "base/result.h"
#include "net/descriptor.h"

namespace hocket {

struct MeetingPoint {
  std::string root;  // host:port
  std::string secret;
};

/// At most 127 characters.
[[nodiscard]] Result<std::string> make_unique_id();
[[nodiscard]] Result<MeetingPoint> parse_unique_id(const std::string& text);
/// The socket that listens for this id, if this process made it.
[[nodiscard]] Descriptor take_listener(const std::string& text);

}  // namespace hocket
