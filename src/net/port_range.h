// PortRange: which ports a rank may listen on, for hosts behind a firewall: "20000-20015", one port, or any (0).
// Threading: plain values. Refuses: a range that is empty or outside 1..65535, and (listen_in) one that is used up: the
// Error says how many ports it has and how many are needed.
#pragma once

#include <string>
#include <string_view>

#include "net/socket.h"

namespace hocket {

struct PortRange {
  std::uint16_t first = 0;  // 0: the system chooses
  std::uint16_t last = 0;
  std::string name = "port range";  // who said it: "--ports"

  [[nodiscard]] std::uint32_t count() const { return last - first + 1U; }
  [[nodiscard]] bool holds(std::uint16_t port) const { return first <= port && port <= last; }
};

[[nodiscard]] Result<PortRange> parse_port_range(std::string_view text);

/// At the first free port of the range. `needed`: how many this host needs of it, for the text of the error.
[[nodiscard]] Result<Descriptor> listen_in(const PortRange& range, const Address& address, std::uint32_t needed);

}  // namespace hocket
