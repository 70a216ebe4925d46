#include "net/socket.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>

#include "net/backlog.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

constexpr double kPaceOfRate = 2;  // so that nothing waits for the pace alone
constexpr int kBacklog = 1024;
/// Between two attempts to reach somebody who does not listen yet.
constexpr std::chrono::milliseconds kRetry{20};

Result<Descriptor> stream_socket(int family) {
  Descriptor made(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made.open()) {
    tune(made);
    return made;
  }
  if (errno == EAFNOSUPPORT)
    return fail(Code::kUnsupported, "no {} on this host", family == AF_INET6 ? "IPv6" : "IPv4");
  return fail(Code::kResourceExhausted, "no socket: {}", system_words(errno));
}

void set_option(const Descriptor& socket, int level, int name, int value) {
  ::setsockopt(socket.get(), level, name, &value, sizeof(value));
}

/// Who listens there hears IPv4, too.
bool is_any_v6(const Address& address) {
  return address.family() == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_addr);
}

/// `ask`: getsockname or getpeername.
Result<Address> address_of(const Descriptor& socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  auto* place = reinterpret_cast<sockaddr*>(&storage);
  if (ask(socket.get(), place, &length) != 0) return fail(Code::kIo, "no address: {}", system_words(errno));
  if (storage.ss_family != AF_INET && storage.ss_family != AF_INET6)
    return fail(Code::kInvalidArgument, "descriptor {} is no IP socket", socket.get());
  return Address(place, length);
}

}  // namespace

std::string system_words(int error) { return std::generic_category().message(error); }

int milliseconds_until(SteadyTime deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

int wait_for(std::span<pollfd> descriptors, SteadyTime deadline) {
  for (;;) {
    const int ready = ::poll(descriptors.data(), descriptors.size(), milliseconds_until(deadline));
    if (ready >= 0) return ready;
    if (errno != EINTR || steady_clock::now() >= deadline) return 0;
  }
}

Result<Descriptor> listen_at(const Address& address) {
  HOCKET_TRY_ASSIGN(Descriptor socket, stream_socket(address.family()));
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, is_any_v6(address) ? 0 : 1);
  if (::bind(socket.get(), address.get(), address.length()) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    const int error = errno;
    if (error == EADDRINUSE) return fail(Code::kResourceExhausted, "port already used: {}", address.text());
    return fail(Code::kInvalidArgument, "cannot listen at {}: {}", address.text(), system_words(error));
  }
  return socket;
}

Result<Address> local_address(const Descriptor& socket) { return address_of(socket, ::getsockname); }

Result<Address> remote_address(const Descriptor& socket) { return address_of(socket, ::getpeername); }

Result<Descriptor> start_connect(const Address& address, const Address* local) {
  HOCKET_TRY_ASSIGN(Descriptor socket, stream_socket(address.family()));
  if (local != nullptr && ::bind(socket.get(), local->get(), local->length()) != 0)
    return fail(Code::kInvalidArgument, "cannot use {} here: {}", local->host(), system_words(errno));
  if (::connect(socket.get(), address.get(), address.length()) == 0 || errno == EINPROGRESS) return socket;
  return fail(Code::kPeerFailed, "cannot reach {}: {}", address.text(), system_words(errno));
}

Result<void> finish_connect(const Descriptor& socket, const Address& address) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error == 0) return {};
  return fail(Code::kPeerFailed, "cannot reach {}: {}", address.text(), system_words(error));
}

Result<Descriptor> connect_once(const Address& address, SteadyTime deadline, const Address* local) {
  HOCKET_TRY_ASSIGN(Descriptor socket, start_connect(address, local));
  pollfd ready{socket.get(), POLLOUT, 0};
  if (wait_for({&ready, 1}, deadline) == 0) return fail(Code::kTimeout, "no answer from {}", address.text());
  HOCKET_TRY(finish_connect(socket, address));
  return socket;
}

Result<Descriptor> connect_until(const Address& address, SteadyTime deadline) {
  for (;;) {
    Result<Descriptor> socket = connect_once(address, deadline);
    const bool again = !socket && socket.error().code == Code::kPeerFailed;
    if (!again || steady_clock::now() + kRetry >= deadline) return socket;
    std::this_thread::sleep_for(kRetry);
  }
}

bool has_ended(const Descriptor& socket) {
  if (!socket.open()) return true;
  pollfd end{socket.get(), POLLRDHUP, 0};
  return wait_for({&end, 1}, SteadyTime{}) > 0;
}

void tune(const Descriptor& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(kBacklogMax));
  std::array<char, 16> now{};
  socklen_t length = now.size();
  ::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, now.data(), &length);
  if (std::string_view(now.data()) == "cubic" || std::string_view(now.data()) == "reno") return;
  for (const std::string_view name : {"cubic", "reno"}) {
    if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) == 0)
      return;
  }
}

void tune_for(const Descriptor& socket, BytesPerSecond rate) {
  const auto most = static_cast<std::uint64_t>(kPaceOfRate * rate.value);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &most, sizeof(most));
}

Result<std::size_t> read_some(const Descriptor& socket, std::span<std::byte> bytes, SteadyTime deadline) {
  for (;;) {
    const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) return fail(Code::kPeerFailed, "the connection was closed");
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return fail(Code::kPeerFailed, "the connection broke: {}", system_words(errno));
    pollfd ready{socket.get(), POLLIN, 0};
    if (wait_for({&ready, 1}, deadline) == 0) return fail(Code::kTimeout, "no answer");
  }
}

Result<void> read_exactly(const Descriptor& socket, std::span<std::byte> bytes, SteadyTime deadline) {
  while (!bytes.empty()) {
    HOCKET_TRY_ASSIGN(const std::size_t got, read_some(socket, bytes, deadline));
    bytes = bytes.subspan(got);
  }
  return {};
}

Result<void> write_all(const Descriptor& socket, std::span<const std::byte> bytes, SteadyTime deadline) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return fail(Code::kPeerFailed, "the connection broke: {}", system_words(errno));
    pollfd ready{socket.get(), POLLOUT, 0};
    if (wait_for({&ready, 1}, deadline) == 0) return fail(Code::kTimeout, "the peer takes no bytes");
  }
  return {};
}

}  // namespace hocket
