// Interfaces: which network interface a rank listens on, with the filter grammar of NCCL_SOCKET_IFNAME:
//   eth,ib   names that begin with one of these     =eth0     exactly this name
//   ^docker  all but names that begin so            ^=docker0 all but exactly this one
// Threading: pure functions; the system is asked once per call.
// Refuses: filters that leave nothing; the Error lists every interface, or those the filter passes and why none will
// do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"

namespace hocket {

struct Interface {
  std::string name;
  Address address;
  bool up = false;
};

class InterfaceFilter {
 public:
  /// Empty text passes everything.
  [[nodiscard]] static Result<InterfaceFilter> parse(std::string_view text);
  [[nodiscard]] bool passes(std::string_view name) const;
  [[nodiscard]] bool empty() const { return names_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool excludes_ = false;
  bool exact_ = false;
  std::vector<std::string> names_;
};

/// One entry per interface and address, IPv4 and IPv6.
[[nodiscard]] Result<std::vector<Interface>> list_interfaces();

struct InterfaceWish {
  InterfaceFilter filter;
  int family = AF_UNSPEC;
  bool several_hosts = false;  // then loopback will not do
};
[[nodiscard]] Result<Interface> choose_interface(const std::vector<Interface>& all, const InterfaceWish& wish);

}  // namespace hocket
