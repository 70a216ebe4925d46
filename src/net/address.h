// Address: an IPv4 or IPv6 address with a port, as sockets take it; Endpoint: the words a user gives for one.
// An Endpoint is `host:port`, `[v6]:port`, or a bare host, v4 or v6 (`::1`, `fe80::1%lo`). IPv4 mapped into IPv6
// becomes IPv4. Threading: plain values; resolve() may ask the system's resolver, numbers never do. Refuses: words that
// are no host, ports outside 1..65535 (an Error with the text given).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

class Address {
 public:
  Address() = default;
  Address(const sockaddr* address, socklen_t length);

  [[nodiscard]] static Address loopback(int family = AF_INET, std::uint16_t port = 0);

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t length() const { return length_; }
  [[nodiscard]] int family() const { return storage_.ss_family; }
  /// Every address of this host.
  [[nodiscard]] static Address any(int family);
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] Address with_port(std::uint16_t port) const;
  [[nodiscard]] bool is_loopback() const;
  [[nodiscard]] std::string host() const;  // "127.0.0.1", "::1", "fe80::1%lo"
  [[nodiscard]] std::string text() const;  // "127.0.0.1:29555", "[::1]:29555"

 private:
  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

/// `port` is used when the text has none; 0 refuses such texts.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view text, std::uint16_t port = 0);
[[nodiscard]] Result<std::uint16_t> parse_port(std::string_view text);

/// `family`: AF_INET, AF_INET6, or AF_UNSPEC for whichever the host has, IPv4 first.
[[nodiscard]] Result<Address> resolve(const Endpoint& endpoint, int family = AF_UNSPEC);

}  // namespace hocket
