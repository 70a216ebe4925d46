#include "lab/slow_cables.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <span>

#include "net/socket.h"

namespace hocket {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::size_t kFrameBytesMax = std::size_t{1} << 17;
/// Of frames that wait for their latency in one direction; the token bucket lets far less in at a time.
constexpr std::size_t kHeldBytesMax = std::size_t{64} << 20;
/// The kernel may wake us that much later than asked for.
constexpr unsigned long kTimerSlackNs = 1000;

struct Frame {
  SteadyTime due;
  std::vector<char> bytes;
};

/// One direction of a cable.
struct Direction {
  int from = -1;
  int to = -1;
  nanoseconds latency{};
  std::deque<Frame> held;
  std::size_t held_bytes = 0;

  /// Takes what has come; beyond the bound frames are lost, as in any network.
  void take(std::span<char> room) {
    for (;;) {
      const ssize_t got = ::read(from, room.data(), room.size());
      if (got <= 0) return;
      const auto size = static_cast<std::size_t>(got);
      if (held_bytes + size > kHeldBytesMax) continue;
      held.push_back({steady_clock::now() + latency, {room.begin(), room.begin() + got}});
      held_bytes += size;
    }
  }

  /// A frame that the other end does not take is lost; TCP sends it again.
  void hand_over() {
    while (!held.empty() && held.front().due <= steady_clock::now()) {
      const std::vector<char>& bytes = held.front().bytes;
      static_cast<void>(!::write(to, bytes.data(), bytes.size()));
      held_bytes -= bytes.size();
      held.pop_front();
    }
  }
};

/// Until the first frame is due; for ever when none is held: new ones wake us, and the parent's end ends us.
const timespec* time_to_next(std::span<const Direction> directions, timespec& room) {
  SteadyTime next = SteadyTime::max();
  for (const Direction& each : directions) {
    if (!each.held.empty()) next = std::min(next, each.held.front().due);
  }
  if (next == SteadyTime::max()) return nullptr;
  const auto left = std::max(nanoseconds(0), std::chrono::duration_cast<nanoseconds>(next - steady_clock::now()));
  room = {left.count() / 1'000'000'000, left.count() % 1'000'000'000};
  return &room;
}

}  // namespace

SlowCables::~SlowCables() {
  if (carrier_ <= 0 || !check()) return;
  ::kill(carrier_, SIGKILL);
  while (::waitpid(carrier_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> SlowCables::add_end(const CableEnd& end, const NetworkNamespace& there, const NetworkNamespace& home) {
  const NetworkNamespace::Inside inside(there, home);
  Descriptor device(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!device.open())
    return fail(Code::kUnsupported, "a latency of {} on links needs /dev/net/tun: {}", format_seconds(end.latency),
                system_words(errno));
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  end.device.copy(request.ifr_name, IFNAMSIZ - 1);
  // Frames pass whole, with checksums left to whoever would need them.
  if (::ioctl(device.get(), TUNSETIFF, &request) != 0 ||
      ::ioctl(device.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)
    return fail(Code::kUnsupported, "a latency of {} on links needs TAP devices: {}", format_seconds(end.latency),
                system_words(errno));
  ends_.push_back({std::move(device), end.latency});
  return {};
}

/// It may have been waited for elsewhere, as any child.
Result<void> SlowCables::check() const {
  if (carrier_ <= 0 || ::waitpid(carrier_, nullptr, WNOHANG) == 0) return {};
  return fail(Code::kPeerFailed, "the process that holds frames for the latency of {} cables (pid {}) has ended",
              count(), carrier_);
}

Result<void> SlowCables::start() {
  if (ends_.empty()) return {};
  const pid_t parent = ::getpid();
  carrier_ = ::fork();
  if (carrier_ < 0) return fail(Code::kResourceExhausted, "no process for slow cables: {}", system_words(errno));
  if (carrier_ == 0) carry(parent);
  for (End& end : ends_) end.device.reset();
  return {};
}

void SlowCables::carry(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  std::vector<Direction> directions(ends_.size());
  std::vector<pollfd> waits;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    directions[i].from = ends_[i].device.get();
    directions[i].to = ends_[i ^ 1U].device.get();
    directions[i].latency = nanoseconds(static_cast<std::int64_t>(ends_[i].latency.value * 1e9));
    waits.push_back({directions[i].from, POLLIN, 0});
  }
  std::vector<char> room(kFrameBytesMax);
  for (;;) {
    timespec left{};
    if (::ppoll(waits.data(), waits.size(), time_to_next(directions, left), nullptr) < 0 && errno != EINTR) ::_exit(1);
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if ((waits[i].revents & POLLIN) != 0) directions[i].take(room);
      directions[i].hand_over();
    }
  }
}

}  // namespace hocket
