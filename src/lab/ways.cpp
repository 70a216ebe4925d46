#include "lab/ways.h"

#include <algorithm>
#include <array>

namespace hocket {
namespace {

constexpr std::size_t kPairsPerNet = std::size_t{1} << 15;  // pairs of addresses in a /16
constexpr std::size_t kFirstNet = 100;                      // 10.100.0.0/16 to 10.199.0.0/16
constexpr std::size_t kNets = 100;

}  // namespace

std::vector<HopId> WayBook::turned(const std::vector<HopId>& hops) {
  std::vector<HopId> reversed(hops.rbegin(), hops.rend());
  for (HopId& hop : reversed) hop = Wiring::turned(hop);
  return reversed;
}

BytesPerSecond WayBook::rate_of(const std::vector<HopId>& hops) const {
  BytesPerSecond rate = wiring_->sender(hops.front()).rate;
  for (const HopId hop : hops) rate.value = std::min(rate.value, wiring_->sender(hop).rate.value);
  return rate;
}

std::vector<WayBook::Way> WayBook::ways_of(std::span<const LaneWay> lanes) const {
  using Lanes = std::map<std::uint32_t, std::vector<HopId>>;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<Lanes, 2>> pairs;
  for (const LaneWay& lane : lanes) {
    std::vector<HopId>& hops = pairs[std::minmax(lane.from, lane.to)][lane.from > lane.to ? 1 : 0][lane.lane];
    for (const LinkId link : lane.links) hops.push_back(wiring_->hop_of(link));
  }
  // Where one direction has fewer ways than the other, its acknowledgements share the first of them.
  const auto way_in = [](const Lanes& ways, std::uint32_t k) {
    const auto found = ways.find(k);
    if (found != ways.end()) return found->second;
    return ways.empty() ? std::vector<HopId>() : ways.begin()->second;
  };
  std::vector<Way> ways;
  for (const auto& [ranks, both] : pairs) {
    const auto count = static_cast<std::uint32_t>(std::max(both[0].size(), both[1].size()));
    for (std::uint32_t k = 0; k < count; ++k) {
      Way way{ranks.first, ranks.second, way_in(both[0], k), way_in(both[1], k)};
      if (way.forth.empty()) way.forth = turned(way.back);
      if (way.back.empty()) way.back = turned(way.forth);
      ways.push_back(std::move(way));
    }
  }
  return ways;
}

Result<WayBook::Addresses> WayBook::addresses_of(const Way& way, IpCommands& commands) {
  if (const auto known = ways_.find(way); known != ways_.end()) return known->second;
  if (way.forth.size() == 1 && way.back == turned(way.forth)) {
    Addresses ends{wiring_->sender(way.forth[0]).address, wiring_->receiver(way.forth[0]).address};
    return ways_.emplace(way, std::move(ends)).first->second;
  }
  const std::size_t n = ways_.size();
  if (n >= kPairsPerNet * kNets) return fail(Code::kUnsupported, "more than {} ways between ranks", n);
  const auto address = [n](std::size_t side) {
    return fmt::format("10.{}.{}.{}", kFirstNet + n / kPairsPerNet, n / 128 % 256, n % 128 * 2 + side);
  };
  const Addresses ends{address(0), address(1)};
  commands[topology_->vertex_of(way.a)].push_back(fmt::format("addr add {}/32 dev lo", ends.first));
  commands[topology_->vertex_of(way.b)].push_back(fmt::format("addr add {}/32 dev lo", ends.second));
  const auto lead = [&](const std::vector<HopId>& hops, const std::string& to) {
    for (const HopId hop : hops) {
      const CableEnd& sender = wiring_->sender(hop);
      commands[sender.vertex].push_back(
          fmt::format("route add {}/32 via {} dev {}", to, wiring_->receiver(hop).address, sender.device));
    }
  };
  lead(way.forth, ends.second);
  lead(way.back, ends.first);
  return ways_.emplace(way, ends).first->second;
}

Result<WayBook::Laid> WayBook::lay(std::span<const LaneWay> lanes) {
  Laid laid;
  for (const Way& way : ways_of(lanes)) {
    HOCKET_TRY_ASSIGN(const Addresses ends, addresses_of(way, laid.commands));
    laid.cables += fmt::format("{0} {1} {2} {3} {4:.0f}B/s\n{1} {0} {3} {2} {5:.0f}B/s\n", way.a, way.b, ends.first,
                               ends.second, rate_of(way.forth).value, rate_of(way.back).value);
  }
  return laid;
}

}  // namespace hocket
