#include "transport/shm/shm_rank.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "net/socket.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kPartsMax = 4;  // two frames
/// Published at once, so that the reader copies out while the writer copies in.
constexpr std::size_t kPublishBytes = std::size_t{32} << 10;

/// With so much room nobody looks how far the reader is: its position lies in its core's cache.
constexpr std::size_t kSmallBytes = 1024;
constexpr int kYields = 32;
constexpr std::chrono::microseconds kYieldMax{50};
/// From so many bytes on a copy less is worth a word back, that it was read.
constexpr std::size_t kBounceBytesMin = std::size_t{24} << 10;
/// The same where the receiver reads in place what its sender did not even copy.
constexpr std::size_t kLendMappedMin = std::size_t{2} << 10;

/// Some milliseconds old, and much cheaper than the exact time; for saying how long a peer has been silent.
SteadyTime recent_time() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return SteadyTime(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

/// The system's error, or 0 when all bytes are here.
int read_memory(std::int64_t process, std::uint64_t address, std::span<std::byte> to) {
  while (!to.empty()) {
    const iovec here{to.data(), to.size()};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
    const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), to.size()};
    const ssize_t got = ::process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EFAULT;
    address += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return 0;
}

/// Copies a run of bytes into places in order; both sides advance.
class Copier {
 public:
  explicit Copier(RingParts to) : to_(to) {}
  /// Bytes that found a place.
  std::size_t put(std::span<const std::byte> from) {
    std::size_t done = 0;
    for (std::span<std::byte>& part : to_) {
      const std::size_t here = std::min(part.size(), from.size() - done);
      if (here > 0) std::memcpy(part.data(), from.data() + done, here);
      part = part.subspan(here);
      done += here;
    }
    return done;
  }

 private:
  RingParts to_;
};

}  // namespace

ShmRank::ShmRank(std::uint32_t rank, std::vector<std::string> names, std::shared_ptr<ShmSegment> segment,
                 std::vector<Descriptor> links, const ShmOptions& options)
    : StreamRank(rank, std::move(names)),
      segment_(std::move(segment)),
      links_(std::move(links)),
      untried_(rank_count() - 1),
      token_(segment_->token()),
      wake_(options.wake) {
  waits_.reserve(rank_count());
  peers_.reserve(rank_count());
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    waits_.push_back({links_[peer].get(), POLLIN, 0});
    peers_.push_back({RingWriter(segment_->ring(rank, peer).positions, segment_->ring_bytes(rank, peer)),
                      RingReader(segment_->ring(peer, rank).positions, segment_->ring_bytes(peer, rank)),
                      &segment_->state(peer).bell,
                      {}});
  }
  segment_->touch(rank);
  set_bounce_memory({segment_->bounce_bytes(), kBounceBytesMin});
  set_board(Board(segment_->board(), rank));
  if (options.lends) show_memory();
}

std::unique_ptr<ShmRank> ShmRank::make(std::uint32_t rank, std::vector<std::string> names,
                                       std::shared_ptr<ShmSegment> segment, std::vector<Descriptor> links,
                                       const ShmOptions& options) {
  return std::unique_ptr<ShmRank>(new ShmRank(rank, std::move(names), std::move(segment), std::move(links), options));
}

void ShmRank::show_memory() {
  ShmSegment::RankState& mine = segment_->state(rank());
  mine.process.store(::getpid(), std::memory_order_relaxed);
  mine.token_address.store(reinterpret_cast<std::uintptr_t>(token_.data()), std::memory_order_release);
}

/// Once, when the peer is there; it lends nothing before.
void ShmRank::try_memory(std::uint32_t peer) {
  const ShmSegment::RankState& theirs = segment_->state(peer);
  const std::uint64_t address = theirs.token_address.load(std::memory_order_acquire);
  if (peer == rank() || peers_[peer].tried || address == 0) return;
  peers_[peer].tried = true;
  --untried_;
  Nonce token{};
  if (read_memory(theirs.process.load(std::memory_order_relaxed), address, token) != 0 || token != token_) return;
  segment_->ring(peer, rank()).reads_memory.store(1, std::memory_order_release);
}

SegmentWay ShmRank::way_of(std::uint32_t peer, std::span<const std::byte> bytes, bool bounces) const {
  if (bytes.size() < kLendMappedMin) return SegmentWay::kSent;
  const bool reads = segment_->ring(rank(), peer).reads_memory.load(std::memory_order_acquire) != 0;
  if (reads && segment_->state(rank()).ranges.holds(bytes.data(), bytes.size())) return SegmentWay::kLent;
  if (bytes.size() < kBounceBytesMin) return SegmentWay::kSent;
  if (bounces) return SegmentWay::kBounced;
  return reads ? SegmentWay::kLent : SegmentWay::kSent;
}

Result<void> ShmRank::add_memory(const SharedRange& range) { return segment_->state(rank()).ranges.add(range); }
void ShmRank::remove_memory(const SharedRange& range) { segment_->state(rank()).ranges.remove(range.begin); }

/// The peer's memory holds what it lent as long as its communicator has not failed; what it says of that lies in its
/// ring by then and is read before this call can end well.
const std::byte* ShmRank::fetch(const Loan& loan, std::byte* place) {
  ShmSegment::RankState& theirs = segment_->state(loan.peer);
  const std::int64_t process = theirs.process.load(std::memory_order_relaxed);
  const std::byte* mapped = peers_[loan.peer].memory.find(theirs.ranges, process, loan.address, loan.bytes);
  if (mapped != nullptr) {
    ++loan_counts_.mapped;
    return mapped;
  }
  ++loan_counts_.copied;
  std::byte* landing = events_->landing(loan.receive, loan.segment);
  std::byte* to = landing != nullptr ? landing : place;
  const int error = read_memory(process, loan.address, std::span(to, loan.bytes));
  if (error != 0) note_gone(loan.peer, "its memory cannot be read: " + system_words(error));
  return to;
}

/// Whoever has failed may have written there meanwhile. Adding 0 reads the flag after everything that was read before
/// it, which a plain load would not: what is read and written at once also releases.
void ShmRank::used_loan(std::uint32_t peer) {
  if (segment_->state(peer).failed.fetch_add(0, std::memory_order_seq_cst) != 0) hear_words(peer);
}

void ShmRank::note_gone(std::uint32_t peer, const std::string& why) {
  any_gone_ = true;
  if (peers_[peer].gone.empty()) peers_[peer].gone = why;
}

void ShmRank::begin(LoadedProgram& program) {
  StreamRank::begin(program);
  for (std::uint32_t peer = 0; untried_ > 0 && peer < rank_count(); ++peer) try_memory(peer);
}

void ShmRank::begin_shown(LoadedProgram& program, std::span<const std::byte> message) {
  StreamRank::begin_shown(program, message);
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (peer != rank()) ring(peer, Doorbell::kBytes);
  }
}

/// A rank that has failed in this call after it showed its message ends the call all the same: its words come by
/// poll().
bool ShmRank::all_shown() {
  if (!StreamRank::all_shown()) return false;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    const ShmSegment::RankState& theirs = segment_->state(peer);
    if (theirs.failed.load(std::memory_order_acquire) != 0 && theirs.words.call <= unfinished_call()) return false;
  }
  note_shown(recent_time());
  return true;
}

ShmRank::~ShmRank() {
  take_leave();
  flush_until(steady_clock::now() + kLeaveTime);
}

bool ShmRank::read(std::uint32_t peer, TransportEvents& events) {
  Peer& p = peers_[peer];
  bool any = false;
  while (readable(peer) && !failure()) {
    const std::size_t available = p.in.available();
    if (available == 0) {
      if (p.in.damaged()) malformed(peer, "a position beyond its ring");
      return any;
    }
    Copier copier(this->room(peer));
    std::size_t taken = 0;
    for (const std::span<std::byte> part : p.in.front(available)) taken += copier.put(part);
    if (p.in.consume(taken)) ring(peer, Doorbell::kRoom);
    received(peer, taken, &events, recent_time());
    any = true;
  }
  return any;
}

/// Without events: nothing but control frames, and what had begun, is sent.
bool ShmRank::write(std::uint32_t peer, TransportEvents* events) {
  Peer& p = peers_[peer];
  bool any = false;
  while (has_outgoing(peer)) {
    const std::size_t room = std::min(p.out.room(kSmallBytes), kPublishBytes);
    if (p.out.damaged()) malformed(peer, "a position beyond its ring");
    if (room == 0) return any || p.out.damaged();
    std::array<std::span<const std::byte>, kPartsMax> parts;
    const std::size_t count = gather(peer, parts);
    Copier copier(p.out.place(room));
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += copier.put(parts[i]);
    if (bytes == 0) return any;
    p.out.publish(bytes);
    ring(peer, Doorbell::kBytes);
    sent(peer, bytes, events);
    any = true;
    if (bounced_bytes() > 0) return true;  // the peer's may be waiting, still in the caches
  }
  return any;
}

void ShmRank::ring(std::uint32_t peer, std::uint32_t reason) {
  Doorbell& bell = *peers_[peer].bell;
  if (!wake_) return bell.ring(reason);
  if (bell.takes_sleeper(reason)) wake_(peer);
}

bool ShmRank::poll(TransportEvents& events) {
  events_ = &events;
  if (report_failure(events)) return true;
  bool any = on_board() && check_board();
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (has_outgoing(peer)) any = write(peer, &events) || any;
    any = resume(peer, &events) || any;
    if (readable(peer)) any = read(peer, events) || any;
  }
  if (any_gone_) any = close_gone() || any;
  return report_failure(events) || any;
}

/// After its last words.
bool ShmRank::close_gone() {
  bool any = false;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (peers_[peer].gone.empty() || !readable(peer) || peers_[peer].in.available() > 0) continue;
    if (!hear_words(peer)) closed(peer, peers_[peer].gone);
    any = true;
  }
  for (std::uint32_t peer = 0; in_doubt() && peer < rank_count(); ++peer) hear_words(peer);
  return any;
}

/// Before anybody can see that this rank has failed.
void ShmRank::leave_words() {
  ShmSegment::LastWords& words = segment_->state(rank()).words;
  words.code = static_cast<std::uint32_t>(failure()->code);
  words.call = unfinished_call();
  words.length = static_cast<std::uint32_t>(told_text().copy(words.text.data(), words.text.size()));
  segment_->state(rank()).failed.store(1, std::memory_order_seq_cst);
}

bool ShmRank::hear_words(std::uint32_t peer) {
  const ShmSegment::RankState& theirs = segment_->state(peer);
  if (peer == rank() || theirs.failed.load(std::memory_order_acquire) == 0) return false;
  const std::size_t length = std::min<std::size_t>(theirs.words.length, theirs.words.text.size());
  const bool known = theirs.words.code <= static_cast<std::uint32_t>(Code::kInternal);
  heard(peer, known ? static_cast<Code>(theirs.words.code) : Code::kPeerFailed, {theirs.words.text.data(), length});
  return true;
}

bool ShmRank::something_to_do() {
  if (interrupted_.load(std::memory_order_seq_cst) || failure()) return true;
  if (on_board() && shown_more()) return true;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    Peer& p = peers_[peer];
    if (readable(peer) && (p.in.available() > 0 || p.in.damaged() || !p.gone.empty())) return true;
    if (has_outgoing(peer) && (p.out.room() > 0 || p.out.damaged())) return true;
  }
  return false;
}

/// A peer on the same core goes on by that, faster than by being woken; and two that never sleep are soon parted by the
/// system. When the core is another's for long, sleeping is better: who wakes comes first.
bool ShmRank::yield_to_peers() {
  SteadyTime before = steady_clock::now();
  for (int i = 0; i < kYields; ++i) {
    if (something_to_do()) return true;
    ::sched_yield();
    const SteadyTime now = steady_clock::now();
    if (now - before > kYieldMax) return false;
    before = now;
  }
  return false;
}

void ShmRank::rest(SteadyTime until) {
  if (yield_to_peers()) return;
  const SteadyTime now = steady_clock::now();
  if (now - looked_ >= kLookAround) look_around(now);
  segment_->state(rank()).bell.sleep(sleep_reasons(), std::min({until, now + kLookAround, verdict_at()}),
                                     [this] { return something_to_do(); });
  interrupted_.store(false, std::memory_order_relaxed);
}

std::uint32_t ShmRank::sleep_reasons() const { return Doorbell::kBytes | (all_sent() ? 0 : Doorbell::kRoom); }

bool ShmRank::doze() {
  if (yield_to_peers()) return false;
  segment_->state(rank()).bell.lie_down(sleep_reasons());
  return !something_to_do();
}

void ShmRank::interrupt() {
  interrupted_.store(true, std::memory_order_seq_cst);
  segment_->state(rank()).bell.ring(Doorbell::kBytes);
}

/// A peer that has failed may have found no room for its words in the ring.
void ShmRank::look_around(SteadyTime now) {
  looked_ = now;
  const bool any_ended = ::poll(waits_.data(), waits_.size(), 0) > 0;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (any_ended && waits_[peer].revents != 0) look_at(peer);
    if (readable(peer) && peers_[peer].in.available() == 0) hear_words(peer);
  }
}

/// The connection carries nothing: whatever comes of it is its end, or bytes that nobody may send.
void ShmRank::look_at(std::uint32_t peer) {
  std::array<char, 64> dropped;
  const ssize_t got = ::recv(links_[peer].get(), dropped.data(), dropped.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  peers_[peer].gone = got == 0  ? "it closed the connection"
                      : got < 0 ? system_words(errno)
                                : "bytes came on the connection that only tells who lives";
  any_gone_ = true;
  waits_[peer].fd = -1;
  links_[peer].reset();
}

/// Peers whose rings are full read the words from memory when they have emptied them.
void ShmRank::fail(const Error& error) {
  if (has_told()) return;
  StreamRank::fail(error);
  leave_words();
  while (flush()) {
  }
}

bool ShmRank::flush() {
  bool room = false;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    if (has_outgoing(peer)) write(peer, nullptr);
    const bool deaf = peers_[peer].out.damaged() || !peers_[peer].gone.empty();
    if (has_outgoing(peer) && deaf) closed(peer, peers_[peer].gone);
    room = room || (has_outgoing(peer) && peers_[peer].out.room() > 0);
  }
  return room;
}

void ShmRank::flush_until(SteadyTime deadline) {
  while (flush() || !all_sent()) {
    const SteadyTime now = steady_clock::now();
    if (now >= deadline) return;
    segment_->state(rank()).bell.sleep(Doorbell::kRoom, std::min(deadline, now + kLookAround),
                                       [this] { return flush(); });
    look_around(now);
  }
}

}  // namespace hocket
