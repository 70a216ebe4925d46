#include "net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

namespace hocket {
namespace {

const sockaddr_in& as_v4(const sockaddr_storage& s) { return reinterpret_cast<const sockaddr_in&>(s); }
const sockaddr_in6& as_v6(const sockaddr_storage& s) { return reinterpret_cast<const sockaddr_in6&>(s); }

std::string_view family_name(int family) { return family == AF_INET6 ? "IPv6" : "IPv4"; }

/// The IPv4 address that an IPv6 one stands for.
std::optional<sockaddr_in> unmapped(const sockaddr_storage& storage) {
  if (storage.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&as_v6(storage).sin6_addr)) return std::nullopt;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = as_v6(storage).sin6_port;
  std::memcpy(&v4.sin_addr, as_v6(storage).sin6_addr.s6_addr + 12, 4);
  return v4;
}

}  // namespace

Address::Address(const sockaddr* address, socklen_t length) : length_(length) {
  std::memcpy(&storage_, address, length);
  if (const auto v4 = unmapped(storage_)) {
    storage_ = {};
    length_ = sizeof(*v4);
    std::memcpy(&storage_, &*v4, length_);
  }
}

Address Address::any(int family) {
  Address address;
  address.storage_.ss_family = static_cast<sa_family_t>(family);
  address.length_ = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return address;
}

Address Address::loopback(int family, std::uint16_t port) {
  Address address;
  address.storage_.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address.storage_).sin6_addr = in6addr_loopback;
    address.length_ = sizeof(sockaddr_in6);
  } else {
    reinterpret_cast<sockaddr_in&>(address.storage_).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.length_ = sizeof(sockaddr_in);
  }
  return address.with_port(port);
}

std::uint16_t Address::port() const {
  return ntohs(family() == AF_INET6 ? as_v6(storage_).sin6_port : as_v4(storage_).sin_port);
}

Address Address::with_port(std::uint16_t port) const {
  Address other = *this;
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(other.storage_).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(other.storage_).sin_port = htons(port);
  }
  return other;
}

bool Address::is_loopback() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&as_v6(storage_).sin6_addr);
  return family() == AF_INET && ntohl(as_v4(storage_).sin_addr.s_addr) >> 24 == 127;
}

std::string Address::host() const {
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(get(), length_, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return "?";
  return text.data();
}

std::string Address::text() const {
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host(), port()) : fmt::format("{}:{}", host(), port());
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0 || port > 65535)
    return fail(Code::kInvalidArgument, "'{}' is not a port: 1 to 65535", text);
  return static_cast<std::uint16_t>(port);
}

Result<Endpoint> parse_endpoint(std::string_view text, std::uint16_t port) {
  std::string_view host = text;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos)
      return fail(Code::kInvalidArgument, "'{}' is not an address: '[' without ']'", text);
    host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
  } else if (const std::size_t colon = text.find(':');
             colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    host = text.substr(0, colon);  // one colon only: more are an IPv6 address
    rest = text.substr(colon);
  }
  if (host.empty()) return fail(Code::kInvalidArgument, "'{}' is not an address: no host", text);
  Endpoint endpoint{std::string(host), port};
  if (!rest.empty()) {
    if (rest.front() != ':') return fail(Code::kInvalidArgument, "'{}' is not an address: '{}' after ']'", text, rest);
    const Result<std::uint16_t> given = parse_port(rest.substr(1));
    if (!given) return fail(Code::kInvalidArgument, "'{}' is not an address: {}", text, given.error().text);
    endpoint.port = *given;
  }
  if (endpoint.port == 0) return fail(Code::kInvalidArgument, "'{}' has no port: host:port or [v6]:port", text);
  return endpoint;
}

Result<Address> resolve(const Endpoint& endpoint, int family) {
  addrinfo wanted{};
  wanted.ai_family = family;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), nullptr, &wanted, &found);
  if (error != 0) {
    const std::string kind = family == AF_UNSPEC ? "" : fmt::format(" as {}", family_name(family));
    return fail(Code::kInvalidArgument, "host '{}'{}: {}", endpoint.host, kind, gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  if (!list) return fail(Code::kInvalidArgument, "host '{}' has no address", endpoint.host);
  const addrinfo* best = list.get();
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) {
      best = each;
      break;
    }
  }
  return Address(best->ai_addr, best->ai_addrlen).with_port(endpoint.port);
}

}  // namespace hocket
