#include "transport/tcp/tcp_rank.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "net/backlog.h"
#include "net/socket.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kPartsMax = 32;
constexpr std::size_t kEventsMax = 64;
/// Reads of one connection before the engine gets its turn.
constexpr int kReadsPerPoll = 4;
/// With more streams than this, poll() asks epoll which of them have something.
constexpr std::size_t kDirectStreamsMax = 4;
/// Between two looks whether the peers have got the last words.
constexpr std::chrono::microseconds kSettleLook{200};

}  // namespace

Result<std::unique_ptr<TcpRank>> TcpRank::make(std::uint32_t rank, std::vector<std::string> names,
                                               std::vector<Descriptor> links, Streams streams) {
  std::unique_ptr<TcpRank> made(new TcpRank(rank, std::move(names), std::move(links), std::move(streams)));
  made->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  made->wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->epoll_.open() || !made->wakeup_.open())
    return hocket::fail(Code::kResourceExhausted, "{}: no descriptor to wait with: {}", made->own_name(),
                        system_words(errno));
  HOCKET_TRY(made->watch_all());
  return made;
}

Result<void> TcpRank::watch_all() {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = stream_count();
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) != 0)
    return hocket::fail(Code::kResourceExhausted, "{}: cannot watch: {}", own_name(), system_words(errno));
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
    if (stream != rank()) watch(stream, false);
  }
  return {};
}

TcpRank::~TcpRank() {
  const SteadyTime deadline = steady_clock::now() + kLeaveTime;
  take_leave();
  flush_until(deadline);
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
    if (links_[stream].open()) ::shutdown(links_[stream].get(), SHUT_WR);
  }
  drain_until(deadline);
}

void TcpRank::watch(std::uint32_t stream, bool writing) {
  const std::uint32_t wanted =
      (readable(stream) ? std::uint32_t{EPOLLIN} : 0U) | (writing ? std::uint32_t{EPOLLOUT} : 0U);
  if (wanted == watched_[stream]) return;
  if (wanted == 0) return unwatch(stream);
  epoll_event event{};
  event.events = wanted;
  event.data.u32 = stream;
  ::epoll_ctl(epoll_.get(), watched_[stream] == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, links_[stream].get(), &event);
  watched_[stream] = wanted;
}

void TcpRank::unwatch(std::uint32_t stream) {
  if (std::exchange(watched_[stream], 0U) == 0) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, links_[stream].get(), nullptr);
}

bool TcpRank::lost(std::uint32_t stream, const std::string& why) {
  unwatch(stream);
  closed(stream, why);
  return true;
}

bool TcpRank::read(std::uint32_t stream, TransportEvents* events) {
  bool any = false;
  // After a failure nothing is parsed, so that there may be no room: a read of nothing would look like an end.
  for (int i = 0; i < kReadsPerPoll && readable(stream) && !failure(); ++i) {
    const auto room = this->room(stream);
    std::array<iovec, 2> parts{{{room[0].data(), room[0].size()}, {room[1].data(), room[1].size()}}};
    const std::size_t skip = room[0].empty() ? 1 : 0;
    msghdr message{};
    message.msg_iov = parts.data() + skip;
    message.msg_iovlen = parts.size() - skip;
    const ssize_t got = ::recvmsg(links_[stream].get(), &message, MSG_DONTWAIT);
    if (got == 0) return lost(stream, "it closed the connection");
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? any : lost(stream, system_words(errno));
    received(stream, static_cast<std::size_t>(got), events, steady_clock::now());
    any = true;
    if (static_cast<std::size_t>(got) < room[0].size() + room[1].size()) break;
  }
  if (!readable(stream) && is_open(stream)) watch(stream, (watched_[stream] & EPOLLOUT) != 0);
  return any;
}

void TcpRank::count_sent(std::uint32_t stream, std::size_t bytes) {
  std::size_t& left = look_in_[stream];
  if (bytes < left) {
    left -= bytes;
    return;
  }
  left = kNextLook;
  commit_at_most(stream, 2 * fit_backlog(links_[stream]));
}

bool TcpRank::write(std::uint32_t stream, TransportEvents* events) {
  bool any = false;
  while (has_outgoing(stream)) {
    std::array<std::span<const std::byte>, kPartsMax> parts;
    std::array<iovec, kPartsMax> vectors;
    const std::size_t count = gather(stream, parts);
    if (count == 0) break;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      vectors[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
      bytes += parts[i].size();
    }
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    const ssize_t put = ::sendmsg(links_[stream].get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    // What the peer said last may still lie here: a failed write alone is no verdict.
    if (put < 0) {
      const std::string why = system_words(errno);
      while (readable(stream) && read(stream, events)) {
      }
      if (!is_open(stream)) return true;
      if (readable(stream)) return lost(stream, why);
      suspected(stream, why);  // it is a call ahead: its last words are not read yet
      return true;
    }
    sent(stream, static_cast<std::size_t>(put), events);
    count_sent(stream, static_cast<std::size_t>(put));
    any = true;
    if (static_cast<std::size_t>(put) < bytes) break;
  }
  return any;
}

void TcpRank::begin(LoadedProgram& program) { StreamRank::begin(program); }

bool TcpRank::poll(TransportEvents& events) {
  if (report_failure(events)) return true;
  bool any = false;
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
    if (has_outgoing(stream)) any = write(stream, &events) || any;
    if (!resume(stream, &events)) continue;
    any = true;
    if (is_open(stream)) watch(stream, (watched_[stream] & EPOLLOUT) != 0);
  }
  if (stream_count() <= kDirectStreamsMax + 1) {
    for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
      if (readable(stream)) any = read(stream, &events) || any;
    }
  } else {
    std::array<epoll_event, kEventsMax> ready;
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    for (int i = 0; i < count; ++i) {
      const std::uint32_t stream = ready[static_cast<std::size_t>(i)].data.u32;
      if (stream < stream_count() && readable(stream)) any = read(stream, &events) || any;
    }
  }
  return report_failure(events) || any;
}

void TcpRank::rest(SteadyTime until) {
  until = std::min(until, verdict_at());
  for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
    if (is_open(stream)) watch(stream, has_outgoing(stream));
  }
  std::array<epoll_event, kEventsMax> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), milliseconds_until(until));
  for (int i = 0; i < count; ++i) {
    if (ready[static_cast<std::size_t>(i)].data.u32 != stream_count()) continue;
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t got = ::read(wakeup_.get(), &times, sizeof(times));
  }
}

void TcpRank::interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(wakeup_.get(), &one, sizeof(one));
}

void TcpRank::fail(const Error& error) {
  if (has_told()) return;
  StreamRank::fail(error);
  const SteadyTime deadline = steady_clock::now() + kLeaveTime;
  flush_until(deadline);
  settle_until(deadline);
}

/// The caller's process may end as soon as it hears of the failure. Then a connection with bytes unread is reset, and
/// what the peer's system has not got yet is lost: so what comes is dropped until it has got our words.
void TcpRank::settle_until(SteadyTime deadline) {
  std::array<char, 65536> dropped;
  for (;;) {
    bool settled = true;
    for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
      if (!is_open(stream)) continue;
      for (int i = 0; i < kReadsPerPoll; ++i) {
        if (::recv(links_[stream].get(), dropped.data(), dropped.size(), MSG_DONTWAIT) <= 0) break;
      }
      settled = settled && all_confirmed(links_[stream]);
    }
    if (settled || steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(kSettleLook);
  }
}

/// Without events: nothing but control frames, and what had begun, is sent.
void TcpRank::flush_until(SteadyTime deadline) {
  for (;;) {
    std::vector<pollfd> waits;
    waits.reserve(links_.size());
    for (std::uint32_t stream = 0; stream < stream_count(); ++stream) {
      if (has_outgoing(stream)) write(stream, nullptr);
      if (has_outgoing(stream)) waits.push_back({links_[stream].get(), POLLOUT, 0});
    }
    if (waits.empty() || steady_clock::now() >= deadline) return;
    wait_for(waits, deadline);
  }
}

/// A socket closed with bytes unread resets the connection, and the peer may never see our last words.
void TcpRank::drain_until(SteadyTime deadline) {
  std::vector<pollfd> waits;
  waits.reserve(links_.size());
  for (const Descriptor& link : links_) {
    if (link.open()) waits.push_back({link.get(), POLLIN, 0});
  }
  std::array<char, 65536> dropped;
  while (!waits.empty() && steady_clock::now() < deadline) {
    wait_for(waits, deadline);
    std::erase_if(waits, [&dropped](const pollfd& wait) {
      if (wait.revents == 0) return false;
      const ssize_t got = ::recv(wait.fd, dropped.data(), dropped.size(), MSG_DONTWAIT);
      return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    });
  }
}

}  // namespace hocket
