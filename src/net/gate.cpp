#include "net/gate.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// When descriptors have run out: others may close some.
constexpr std::chrono::milliseconds kPause{50};
/// A connector that was turned away while the gate was full tries again.
constexpr std::chrono::milliseconds kRetry{20};

/// Of one handshake to whose listener we connect: the Error's code says whether another attempt makes sense.
Result<void> shake(const Descriptor& socket, Handshake& handshake, SteadyTime deadline) {
  std::array<std::byte, 128> bytes{};
  while (handshake.state() == Handshake::State::kPending) {
    const std::span<std::byte> want = std::span(bytes).first(handshake.wanted());
    HOCKET_TRY(read_exactly(socket, want, deadline));
    handshake.received(want);
    const std::span<const std::byte> out = handshake.outgoing();
    HOCKET_TRY(write_all(socket, out, deadline));
    handshake.sent(out.size());
  }
  if (handshake.state() == Handshake::State::kDone) return {};
  return fail(Code::kMismatch, "{}", handshake.reason());
}

}  // namespace

void Gate::append_waits(std::vector<pollfd>& waits) const {
  if (steady_clock::now() >= accept_again_) waits.push_back({listener_.get(), POLLIN, 0});
  for (const auto& stranger : strangers_) {
    const bool writes = !stranger->handshake.outgoing().empty();
    waits.push_back({stranger->socket.get(), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0});
  }
}

SteadyTime Gate::next_deadline(SteadyTime none) const {
  if (accept_again_ > steady_clock::now()) none = std::min(none, accept_again_);
  return strangers_.empty() ? none : std::min(none, strangers_.front()->deadline);
}

std::string Gate::hindrance() const {
  return refused_ == 0 ? "" : "; a connection could not be taken: " + system_words(refused_);
}

void Gate::take_new(SteadyTime now) {
  if (now < accept_again_) return;
  for (std::size_t taken = 0; taken < kStrangersMax; ++taken) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.open()) {
      const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (exhausted) accept_again_ = now + kPause;
      if (exhausted) refused_ = errno;
      return;
    }
    refused_ = 0;
    socket.keep_from_children();
    const Result<Nonce> nonce = fresh_nonce();
    if (!nonce) return;
    if (strangers_.size() == kStrangersMax) {
      strangers_.erase(strangers_.begin());
      ++turned_away_;
    }
    strangers_.push_back(
        std::make_unique<Stranger>(std::move(socket), Handshake(*secret_, *nonce), now + kStrangerTime));
  }
}

bool Gate::go_on(Stranger& stranger) {
  Handshake& handshake = stranger.handshake;
  std::array<std::byte, 128> bytes{};
  while (handshake.state() == Handshake::State::kPending && handshake.wanted() > 0) {
    const ssize_t got = ::recv(stranger.socket.get(), bytes.data(), handshake.wanted(), 0);
    if (got == 0) return false;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) return false;
    if (got < 0) break;
    handshake.received(std::span(bytes).first(static_cast<std::size_t>(got)));
  }
  if (handshake.state() == Handshake::State::kRefused) {
    turn_away(stranger);
    return false;
  }
  while (!handshake.outgoing().empty()) {
    const auto out = handshake.outgoing();
    const ssize_t put = ::send(stranger.socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno == EAGAIN;
    handshake.sent(static_cast<std::size_t>(put));
  }
  return true;
}

/// Says so, where there is something to say: what the system takes at once.
void Gate::turn_away(Stranger& stranger) {
  const std::span<const std::byte> last = stranger.handshake.outgoing();
  if (last.empty()) return;
  [[maybe_unused]] const ssize_t put = ::send(stranger.socket.get(), last.data(), last.size(), MSG_NOSIGNAL);
  if (!stranger.handshake.unproved()) return;
  const Result<Address> from = remote_address(stranger.socket);
  unproved_.push_back({*stranger.handshake.unproved(), from ? from->host() : "an address that is gone"});
}

std::vector<Guest> Gate::admit() {
  const SteadyTime now = steady_clock::now();
  unproved_.clear();
  take_new(now);
  std::vector<Guest> guests;
  std::vector<std::unique_ptr<Stranger>> kept;
  kept.reserve(strangers_.size());
  for (auto& stranger : strangers_) {
    const bool good = go_on(*stranger) && now < stranger->deadline;
    const bool through =
        stranger->handshake.state() == Handshake::State::kDone && stranger->handshake.outgoing().empty();
    if (good && through) {
      guests.push_back({std::move(stranger->socket), stranger->handshake.peer()});
    } else if (good) {
      kept.push_back(std::move(stranger));
    } else {
      ++turned_away_;
    }
  }
  strangers_ = std::move(kept);
  return guests;
}

Result<Descriptor> enter(const Address& address, const Secret& secret, const Claim& claim, SteadyTime deadline,
                         const Approach& approach) {
  for (;;) {
    const bool listens = approach.patience == Patience::kItListens;
    HOCKET_TRY_ASSIGN(Descriptor socket,
                      listens ? connect_once(address, deadline, approach.local) : connect_until(address, deadline));
    socket.keep_from_children();
    HOCKET_TRY_ASSIGN(const Nonce nonce, fresh_nonce());
    Handshake handshake(secret, nonce, claim);
    const Result<void> shaken = shake(socket, handshake, deadline);
    if (shaken) return socket;
    const bool again = shaken.error().code == Code::kPeerFailed && steady_clock::now() + kRetry < deadline;
    if (!again) return fail(shaken.error().code, "{}: {}", address.text(), shaken.error().text);
    std::this_thread::sleep_for(kRetry);
  }
}

}  // namespace hocket
