// Signs of life of StreamRank: what a rank that waits says, and what is known of those that are late.
#include <algorithm>
#include <iterator>

#include "base/circle.h"
#include "base/listing.h"
#include "base/units.h"
#include "net/word.h"
#include "transport/stream_rank.h"

namespace hocket {
/// Who still has bytes to send waits for nobody: they may be all that the others wait for.
void StreamRank::beat(std::uint32_t waits_for) {
  const bool sends = std::any_of(links_.begin(), links_.end(), [](const Link& l) {
    return l.open && (!l.writer.empty() || !l.sends.empty() || l.first_taken != kNoOp);
  });
  const Standing now{call_.number, own_.standing.beat + 1, sends ? rank_ : waits_for, moved()};
  own_ = {now, now.repeats(own_.standing), std::chrono::steady_clock::now()};
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) nudge(peer);
}

/// Between beats the last one is said again, with the call of now.
void StreamRank::nudge(std::uint32_t peer) {
  Link& l = link(peer);
  if (!l.open || failure_ || l.ping_due || l.ping_on_way) return;
  const Standing& own = own_.standing;
  const std::uint32_t waits_for = own.call == call_.number ? own.waits_for : rank_;
  put_word(l.ping_out.data(), call_.number);
  put_word(l.ping_out.data() + 8, std::uint64_t{own.beat} << 32 | waits_for);
  put_word(l.ping_out.data() + 16, own.moved);
  l.ping_due = true;
}

void StreamRank::take_ping(Link& l) {
  const std::uint64_t both = word_at(l.ping_in.data() + 8);
  const Standing said{word_at(l.ping_in.data()), static_cast<std::uint32_t>(both >> 32),
                      static_cast<std::uint32_t>(both), word_at(l.ping_in.data() + 16)};
  l.ping_call = said.call;
  if (said.beat == l.stated.standing.beat) return;
  l.stated = {said, said.repeats(l.stated.standing), l.heard};
}

bool StreamRank::stands_still(const Statement& stated, SteadyTime since) const {
  return stated.repeated && stated.standing.call == call_.number && stated.said >= since;
}

/// "rank 0 waits for rank 1, that for rank 0": a circle in this call, by what all of them have said at two beats at
/// least without getting anything in between. One statement means little: in a call that is well under way ranks often
/// wait for each other for a moment.
std::string StreamRank::circle_of(std::uint32_t waits_for, SteadyTime since) const {
  const Standing& own = own_.standing;
  if (!stands_still(own_, since) || own.waits_for != waits_for || own.moved != moved()) return {};
  std::vector<std::uint32_t> chain{rank_};
  for (std::uint32_t next = waits_for; next < rank_count() && next != chain.back();) {
    const auto seen = std::find(chain.begin(), chain.end(), next);
    if (seen != chain.end()) {
      std::vector<std::string> circle;
      std::transform(seen, chain.end(), std::back_inserter(circle), [this](std::uint32_t r) { return names_[r]; });
      return circle_text(circle);
    }
    chain.push_back(next);
    const Link& l = link(next);
    if (!l.open || !stands_still(l.stated, since)) return {};
    next = l.stated.standing.waits_for;
  }
  return {};
}

/// Without a look at the clock: what completed the call was the last that came. The half beside this one calls ranks
/// otherwise, and is not asked.
void StreamRank::note_proof() {
  const Collective& collective = call_.what.collective;
  const SteadyTime beside = beside_.half == nullptr ? SteadyTime{} : beside_.half->heard_at_;
  const Proof proof{call_.number, std::max(heard_at_, beside)};
  if (collective.kind == CollectiveKind::kBroadcast) {
    if (collective.root < of_broadcasts_.size()) of_broadcasts_[collective.root] = proof;
  } else if (collective.kind != CollectiveKind::kReduce || collective.root == rank_) {
    of_all_ = proof;
  }
}

StreamRank::Sighting StreamRank::sighting(std::uint32_t peer) const {
  const Link& l = link(peer);
  const bool here = on_board_ && board_.shows(peer);
  Sighting seen{std::max({l.theirs.number, l.ping_call, here ? call_.number : 0}), l.heard,
                in_call() && program_->involves(peer), !l.open || l.held || l.left};
  if (beside_.half == nullptr || beside_.places[peer] < 0) return seen;
  const Sighting there = beside_.half->sighting(static_cast<std::uint32_t>(beside_.places[peer]));
  return {std::max(seen.call, there.call), std::max(seen.heard, there.heard), seen.involved || there.involved,
          seen.explained || there.explained};
}

/// A peer is heard here only while it is in the same message: silence before means that it does something else.
std::string StreamRank::late_half(std::uint32_t peer, std::chrono::nanoseconds silence) const {
  const Sighting seen = sighting(peer);
  if (seen.explained) return {};
  if (seen.call < call_.number) return fmt::format("{} has not begun its half of the message", names_[peer]);
  const std::chrono::duration<double> silent = std::chrono::steady_clock::now() - seen.heard;
  if (silent <= silence) return {};
  return fmt::format("{} has begun its half of the message and been silent for {}", names_[peer],
                     format_seconds({silent.count()}));
}

/// Of a peer that has no part in this rank's plan nobody says in which call it is but its own pings, and its data that
/// others have passed on: how far it was when it was heard last is old, and told only where it is this call, or where a
/// call that is over proves it.
std::string StreamRank::late_ranks(std::uint32_t waits_for, std::chrono::nanoseconds silence) const {
  if (messages_) return late_half(1 - rank_, silence);
  const SteadyTime now = std::chrono::steady_clock::now();
  std::string text = circle_of(waits_for, now - silence);
  std::size_t count = 0;
  const auto add = [&](const std::string& words) {
    if (++count <= kListedMax) text += (text.empty() ? "" : "; ") + words;
  };
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    Sighting seen = sighting(peer);
    if (seen.explained) continue;
    const Proof& proof = of_broadcasts_[peer].at > of_all_.at ? of_broadcasts_[peer] : of_all_;
    const bool proved = proof.at > seen.heard;
    seen.call = std::max(seen.call, proof.call);
    seen.heard = std::max(seen.heard, proof.at);
    const std::chrono::duration<double> silent = now - seen.heard;
    const std::string where = seen.call == 0 ? "not in any call yet" : fmt::format("last seen in call {}", seen.call);
    if (seen.heard == SteadyTime{}) {
      add(fmt::format("no progress from {}: never heard", names_[peer]));
    } else if (silent > silence) {
      const bool fresh = seen.involved || proved || seen.call == call_.number;
      add(fmt::format("no progress from {}: silent for {}{}{}", names_[peer], format_seconds({silent.count()}),
                      fresh ? ", " : "", fresh ? where : ""));
    } else if (seen.call < call_.number && (seen.involved || !proved)) {
      add(fmt::format("{} is {}", names_[peer], where));
    }
  }
  return text + and_more(count);
}

}  // namespace hocket
