#include "net/port_range.h"

#include <algorithm>

namespace hocket {

Result<PortRange> parse_port_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const Result<std::uint16_t> first = parse_port(text.substr(0, dash));
  const Result<std::uint16_t> last = dash == std::string_view::npos ? first : parse_port(text.substr(dash + 1));
  if (!first || !last)
    return fail(Code::kInvalidArgument, "'{}' is not a port range: FIRST-LAST, each 1 to 65535", text);
  if (*first > *last)
    return fail(Code::kInvalidArgument, "port range '{}' is empty: {} is above {}", text, *first, *last);
  return PortRange{.first = *first, .last = *last};
}

Result<Descriptor> listen_in(const PortRange& range, const Address& address, std::uint32_t needed) {
  if (range.first == 0) return listen_at(address.with_port(0));
  for (std::uint32_t port = range.first; port <= range.last; ++port) {
    Result<Descriptor> listener = listen_at(address.with_port(static_cast<std::uint16_t>(port)));
    if (listener || listener.error().code != Code::kResourceExhausted) return listener;
  }
  // Ranks of this host have all but this one of those that they need, at most.
  const std::uint32_t others = range.count() - std::min(needed - 1, range.count());
  return fail(Code::kResourceExhausted,
              "{} {}-{}: no port is left at {}: this host needs {} of {}, and other programs hold {}{}", range.name,
              range.first, range.last, address.host(), needed, range.count(), needed > 1 ? "at least " : "", others);
}

}  // namespace hocket
