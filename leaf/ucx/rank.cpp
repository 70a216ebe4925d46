#include "rank.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/socket.h"
#include "transport/plug_in.h"

namespace hocket::ucx {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Progress calls of one poll.
constexpr int kProgressMax = 4;
constexpr milliseconds kLookAround{100};
/// How long after the end of a peer's connection its last words may still arrive.
constexpr milliseconds kLastWords{200};

std::string key_of(std::uint32_t rank) { return fmt::format("ucx/{}", rank); }

}  // namespace

Rank::Rank(std::uint32_t rank, std::vector<std::string> names, std::unique_ptr<Wire> wire,
           std::vector<Descriptor> links)
    : StreamRank(rank, std::move(names)), wire_(std::move(wire)), links_(std::move(links)) {
  gone_.resize(links_.size());
  last_said_.resize(links_.size());
  waits_.reserve(links_.size() + 2);
  for (const Descriptor& link : links_) waits_.push_back({link.open() ? link.get() : -1, POLLIN, 0});
  wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  waits_.push_back({wire_->descriptor(), POLLIN, 0});
  waits_.push_back({wakeup_.get(), POLLIN, 0});
}

Result<std::unique_ptr<RankTransport>> Rank::make(Job& job, SteadyTime deadline) {
  HOCKET_TRY_ASSIGN(std::unique_ptr<Wire> wire, Wire::open(job.launch.rank, job.launch.size));
  std::vector<std::string> names;
  names.reserve(job.members.size());
  for (const Member& member : job.members) names.push_back(member.text());
  std::unique_ptr<Rank> made(new Rank(job.launch.rank, std::move(names), std::move(wire), std::move(job.links)));
  if (!made->wakeup_.open())
    return hocket::fail(Code::kResourceExhausted, "rank {}: no descriptor to wait with: {}", job.launch.rank,
                        system_words(errno));
  HOCKET_TRY(made->exchange(job, deadline));
  return std::unique_ptr<RankTransport>(std::move(made));
}

Result<void> Rank::exchange(Job& job, SteadyTime deadline) {
  if (job.launch.size == 1) return {};
  HOCKET_TRY_ASSIGN(const std::string mine, wire_->address());
  HOCKET_TRY(job.store->set(key_of(rank()), mine, deadline));
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (peer == rank()) continue;
    HOCKET_TRY_ASSIGN(const std::optional<std::string> theirs, job.store->get(key_of(peer), deadline));
    if (!theirs)
      return hocket::fail(Code::kTimeout, "{}: {} has left no UCX address in time", job.members[rank()].text(),
                          job.members[peer].text());
    HOCKET_TRY(wire_->connect(peer, *theirs));
  }
  return {};
}

Rank::~Rank() {
  take_leave();
  flush_until(steady_clock::now() + kLeaveTime);
}

bool Rank::read(std::uint32_t peer, TransportEvents* events) {
  bool any = false;
  while (readable(peer) && !failure()) {
    std::span<const std::byte> bytes = wire_->arrived(peer);
    if (bytes.empty()) return any;
    std::size_t taken = 0;
    for (const std::span<std::byte> place : room(peer)) {
      const std::size_t part = std::min(place.size(), bytes.size());
      if (part > 0) std::memcpy(place.data(), bytes.data(), part);
      bytes = bytes.subspan(part);
      taken += part;
    }
    if (taken == 0) return any;
    wire_->consume(peer, taken);
    last_said_[peer] = steady_clock::now();
    received(peer, taken, events, last_said_[peer]);
    any = true;
  }
  return any;
}

bool Rank::write(std::uint32_t peer, TransportEvents* events) {
  bool any = false;
  while (is_open(peer) && wire_->broken(peer).empty()) {
    if (wire_->sending(peer)) {
      const std::size_t bytes = wire_->sent_bytes(peer);
      if (wire_->sending(peer)) return any;
      if (bytes > 0) sent(peer, bytes, events);
      any = true;
      continue;
    }
    if (!has_outgoing(peer)) return any;
    std::array<std::span<const std::byte>, Wire::kPartsMax> parts;
    const std::size_t count = gather(peer, parts);
    if (count == 0) return any;
    const std::size_t bytes = wire_->send(peer, std::span(parts).first(count));
    if (bytes > 0) sent(peer, bytes, events);
    any = true;
  }
  return any;
}

bool Rank::poll(TransportEvents& events) {
  if (report_failure(events)) return true;
  bool any = false;
  for (int i = 0; i < kProgressMax && wire_->progress(); ++i) any = true;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (peer == rank()) continue;
    any = write(peer, &events) || any;
    any = resume(peer, &events) || any;
    any = read(peer, &events) || any;
    if (!wire_->broken(peer).empty() && is_open(peer) && gone_[peer].empty()) {
      gone_[peer] = wire_->broken(peer);
      last_said_[peer] = steady_clock::now();
      any_gone_ = true;
    }
  }
  if (any_gone_) any = close_gone() || any;
  return report_failure(events) || any;
}

bool Rank::close_gone() {
  bool any = false;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (gone_[peer].empty() || !readable(peer) || steady_clock::now() - last_said_[peer] < kLastWords) continue;
    closed(peer, gone_[peer]);
    any = true;
  }
  return any;
}

/// The connection carries nothing: whatever comes of it is its end, or bytes that nobody may send.
void Rank::look_around() {
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (waits_[peer].fd < 0 || waits_[peer].revents == 0) continue;
    std::array<char, 64> dropped;
    const ssize_t got = ::recv(waits_[peer].fd, dropped.data(), dropped.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (gone_[peer].empty()) last_said_[peer] = steady_clock::now();
    gone_[peer] = got == 0  ? "it closed the connection"
                  : got < 0 ? system_words(errno)
                            : "bytes came on the connection that only tells who lives";
    any_gone_ = true;
    waits_[peer].fd = -1;
    links_[peer].reset();
  }
}

void Rank::rest(SteadyTime until) {
  SteadyTime end = until;
  if (any_gone_) end = std::min(end, steady_clock::now() + kLookAround);
  if (!wire_->arm()) return;
  wait_for(waits_, end);
  look_around();
  if (waits_.back().revents != 0) {
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t got = ::read(wakeup_.get(), &times, sizeof(times));
  }
}

void Rank::interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(wakeup_.get(), &one, sizeof(one));
}

void Rank::settle(SteadyTime deadline) {
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    while (wire_->sending(peer) && wire_->broken(peer).empty() && gone_[peer].empty() &&
           steady_clock::now() < deadline) {
      wire_->progress();
      const std::size_t bytes = wire_->sent_bytes(peer);
      if (bytes > 0 && is_open(peer)) sent(peer, bytes, nullptr);
    }
    if (wire_->sending(peer)) wire_->cut_off(peer);
  }
}

/// Words to peers go out behind what is under way, which first has to end: its bytes are the caller's.
void Rank::fail(const Error& error) {
  settle(steady_clock::now() + kLeaveTime);
  StreamRank::fail(error);
  flush_until(steady_clock::now() + kLeaveTime);
}

void Rank::flush_until(SteadyTime deadline) {
  for (;;) {
    bool left = false;
    wire_->progress();
    for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
      if (peer == rank() || !wire_->broken(peer).empty()) continue;
      write(peer, nullptr);
      left = left || (is_open(peer) && wire_->broken(peer).empty() && (has_outgoing(peer) || wire_->sending(peer)));
    }
    if (!left || steady_clock::now() >= deadline) return;
  }
}

}  // namespace hocket::ucx

namespace {

hocket::Result<std::unique_ptr<hocket::RankTransport>> open(hocket::Job& job, hocket::SteadyTime deadline) {
  return hocket::ucx::Rank::make(job, deadline);
}

const std::string& build() {
  static const std::string text = hocket::build_text();
  return text;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const hocket::TransportPlugIn hocket_transport{build().c_str(), open};
