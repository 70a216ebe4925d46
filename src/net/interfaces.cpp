#include "net/interfaces.h"

#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "net/socket.h"

namespace hocket {
namespace {

/// Why an interface that the filter passes will not do; empty when it will.
std::string objection(const Interface& each, const InterfaceWish& wish) {
  if (!each.up) return "down";
  if (wish.family != AF_UNSPEC && each.address.family() != wish.family)
    return wish.family == AF_INET6 ? "not IPv6" : "not IPv4";
  if (wish.several_hosts && each.address.is_loopback()) return "loopback, and the job has several hosts";
  return {};
}

}  // namespace

Result<InterfaceFilter> InterfaceFilter::parse(std::string_view text) {
  InterfaceFilter filter;
  filter.text_ = text;
  std::string_view rest = text;
  if (rest.starts_with('^')) {
    filter.excludes_ = true;
    rest.remove_prefix(1);
  }
  if (rest.starts_with('=')) {
    filter.exact_ = true;
    rest.remove_prefix(1);
  }
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    if (name.empty() || name.front() == '^' || name.front() == '=')
      return fail(Code::kInvalidArgument, "interface filter '{}': '{}' is no name; '^' and '=' stand at the front only",
                  text, name);
    filter.names_.emplace_back(name);
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  if (filter.names_.empty() && !text.empty())
    return fail(Code::kInvalidArgument, "interface filter '{}' names no interface", text);
  return filter;
}

bool InterfaceFilter::passes(std::string_view name) const {
  if (names_.empty()) return true;
  const bool listed = std::any_of(names_.begin(), names_.end(), [&](const std::string& each) {
    return exact_ ? name == each : name.starts_with(each);
  });
  return listed != excludes_;
}

Result<std::vector<Interface>> list_interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return fail(Code::kIo, "cannot list the interfaces: {}", system_words(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(first, &freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    all.push_back({each->ifa_name, Address(each->ifa_addr, length), (each->ifa_flags & IFF_UP) != 0});
  }
  return all;
}

Result<Interface> choose_interface(const std::vector<Interface>& all, const InterfaceWish& wish) {
  std::set<std::string> names;
  std::vector<std::string> rejected;
  for (const bool loopback : {false, true}) {
    for (const Interface& each : all) {
      names.insert(each.name);
      if (each.address.is_loopback() != loopback || !wish.filter.passes(each.name)) continue;
      const std::string why = objection(each, wish);
      if (why.empty()) return each;
      rejected.push_back(fmt::format("{} {} ({})", each.name, each.address.host(), why));
    }
  }
  if (all.empty()) return fail(Code::kInvalidArgument, "this host has no interface");
  if (rejected.empty())
    return fail(Code::kInvalidArgument, "'{}' passes none of the interfaces {}", wish.filter.text(),
                fmt::join(names, ", "));
  const std::string passed =
      wish.filter.empty() ? "no interface will do" : fmt::format("'{}' passes none that will do", wish.filter.text());
  return fail(Code::kInvalidArgument, "{}: {}", passed, fmt::join(rejected, ", "));
}

}  // namespace hocket
