// How StreamRank ends: whom it has lost, what peers say of a failure, and what it tells them.
// The process of a rank that has heard of a death may end at once, and so do its streams, as those of the dead rank do.
// Whoever sees an end without a word before it hence asks whether that rank has died or was told something: for
// kHearsay all that has come on any stream is still taken in, also behind a call that was not begun here, and a word of
// the cause decides. Without one the witness is asked: a connection may have been too full for words. Where nobody has
// said any all that are lost are named. A peer that has left in order too early may have done so because another died:
// that is asked likewise, and the death named.
#include <algorithm>
#include <utility>

#include "base/listing.h"
#include "transport/stream_rank.h"

namespace hocket {
namespace {

constexpr std::chrono::milliseconds kHearsay{20};

std::string_view words_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void StreamRank::take_abort(std::uint32_t stream) {
  const std::uint32_t code = link(stream).reader.header().op;
  const bool known = code <= static_cast<std::uint32_t>(Code::kInternal);
  heard(stream, known ? static_cast<Code>(code) : Code::kPeerFailed, words_of(link(stream).abort_in));
}

void StreamRank::heard(std::uint32_t stream, Code code, std::string_view text) {
  if (failure_) return;
  link(stream).left = true;
  link(stream).bye_number = ~std::uint64_t{0};
  be_told(code, text, name_of(stream));
}

/// Words that begin with the name of who says them need it no second time; this rank's own are of another communicator.
void StreamRank::be_told(Code code, std::string_view text, const std::string& by) {
  told_ = text;
  if (told_.starts_with(names_[rank_] + " ")) return raise({code, told_});
  const bool named = by.empty() || told_.starts_with(by + " ") || told_.starts_with(by + ":");
  raise({code, fmt::format("{} was told{}: {}", names_[rank_], named ? "" : " by " + by, told_)});
}

void StreamRank::closed(std::uint32_t stream, const std::string& why) {
  note_loss(stream, why);
  link(stream).open = false;
}

void StreamRank::suspected(std::uint32_t stream, const std::string& why) { note_loss(stream, why); }

void StreamRank::note_loss(std::uint32_t stream, const std::string& why) {
  Link& l = link(stream);
  l.writer.clear();
  if (failure_ || l.left || std::exchange(l.lost, true)) return;
  if (losses_.empty()) verdict_at_ = std::chrono::steady_clock::now() + kHearsay;
  const std::uint32_t peer = streams_.peer(stream);
  const bool known =
      std::any_of(losses_.begin(), losses_.end(), [peer](const Loss& loss) { return loss.peer == peer; });
  if (!known) losses_.push_back({peer, why});
}

void StreamRank::left_early(Error error) {
  if (failure_ || left_early_) return;
  left_early_ = std::move(error);
  verdict_at_ = std::min(verdict_at_, std::chrono::steady_clock::now() + kHearsay);
}

bool StreamRank::hears_others() const {
  return std::any_of(links_.begin(), links_.end(), [](const Link& l) { return l.open && !l.left; });
}

void StreamRank::conclude() {
  const Testimony known = witness_ ? witness_->ask() : Testimony{};
  if (known.told) return be_told(known.told->code, known.told->text, "");
  if (!known.died.empty()) {
    const auto seen =
        std::find_if(losses_.begin(), losses_.end(), [&](const Loss& loss) { return names_[loss.peer] == known.died; });
    const std::string why = seen == losses_.end() ? "it ended without a word" : seen->why;
    return raise({Code::kPeerFailed, fmt::format("{} lost {}: {}", names_[rank_], known.died, why)});
  }
  if (losses_.empty()) return raise(*left_early_);
  std::string text = names_[rank_];
  for (const Loss& loss : std::span(losses_).first(listed_of(losses_.size())))
    text += fmt::format("{} lost {}: {}", &loss == losses_.data() ? "" : ";", names_[loss.peer], loss.why);
  text += and_more(losses_.size());
  raise({Code::kPeerFailed, std::move(text)});
}

void StreamRank::malformed(std::uint32_t stream, std::string_view what) {
  raise({Code::kMalformed, fmt::format("{} got from {} {}", names_[rank_], name_of(stream), what)});
}

void StreamRank::raise(Error error) {
  if (!failure_) failure_ = std::move(error);
}

bool StreamRank::report_failure(TransportEvents& events) {
  // Of one alone there is no doubt when nobody else is there.
  const bool clear = losses_.size() < 2 && !hears_others();
  if (in_doubt() && (clear || std::chrono::steady_clock::now() >= verdict_at_)) conclude();
  if (!failure_) return false;
  verdict_at_ = SteadyTime::max();
  events.failed(*failure_);
  return true;
}

void StreamRank::fail(const Error& error) {
  if (!failure_) failure_ = error;
  if (has_told()) return;
  abort_text_ = (told_.empty() ? error.text : told_).substr(0, kAbortBytesMax);
  if (abort_text_.empty()) abort_text_ = "unknown";
  if (witness_) witness_->tell({error.code, abort_text_});
  for (Link& l : links_) {
    l.sends.clear();
    l.first_taken = kNoOp;
    l.hello_due = l.ping_due = false;
    l.abort_due = l.open && !l.left && !l.lost;
    l.writer.keep_started(l.salvaged, kNoToken);
  }
}

void StreamRank::take_leave() {
  if (failure_) return fail(*failure_);
  for (Link& l : links_) l.bye_due = l.open;
}

}  // namespace hocket
