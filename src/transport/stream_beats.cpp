// Signs of life of StreamRank: what a rank that waits says, and what is known of those that are late.
#include <algorithm>
#include <iterator>

#include "base/circle.h"
#include "base/units.h"
#include "net/word.h"
#include "transport/stream_rank.h"

namespace hocket {
namespace {

/// A peer that was heard within this time is not called silent.
constexpr std::chrono::seconds kSilence{1};

}  // namespace

void StreamRank::beat(std::uint32_t waits_for) {
  waited_for_ = waits_for;
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) nudge(peer);
}

void StreamRank::nudge(std::uint32_t peer) {
  Link& l = link(peer);
  if (!l.open || failure_ || l.ping_due || l.ping_on_way) return;
  put_word(l.ping_out.data(), call_.number);
  put_word(l.ping_out.data() + 8, waited_for_);
  l.ping_due = true;
}

/// "rank 0 waits for rank 1, that for rank 0": a circle in this call, by what peers have said of late.
std::string StreamRank::circle_of(std::uint32_t waits_for) const {
  const SteadyTime now = std::chrono::steady_clock::now();
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
    if (!l.open || l.ping_call != call_.number || now - l.heard > kSilence) return {};
    next = l.ping_waits_for;
  }
  return {};
}

std::string StreamRank::late_ranks(std::uint32_t waits_for) const {
  std::string text = circle_of(waits_for);
  const SteadyTime now = std::chrono::steady_clock::now();
  const auto add = [&text](const std::string& words) { text += (text.empty() ? "" : "; ") + words; };
  for (std::uint32_t peer = 0; peer < rank_count(); ++peer) {
    const Link& l = link(peer);
    if (!l.open || l.held || l.left) continue;
    const std::uint64_t call = std::max(l.theirs.number, l.ping_call);
    const std::chrono::duration<double> silent = now - l.heard;
    const std::string where = call == 0 ? "not in any call yet" : fmt::format("last seen in call {}", call);
    if (l.heard == SteadyTime{}) {
      add(fmt::format("no progress from {}: never heard", names_[peer]));
    } else if (silent > kSilence) {
      add(fmt::format("no progress from {}: silent for {}, {}", names_[peer], format_seconds({silent.count()}), where));
    } else if (call < call_.number) {
      add(fmt::format("{} is {}", names_[peer], where));
    }
  }
  return text;
}

}  // namespace hocket
