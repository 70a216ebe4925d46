#include "algorithms/packing/translations.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace hocket {
namespace {

bool is_direct(const Topology& topology) {
  if (topology.rank_count() < 3 || topology.rank_count() != topology.vertices().size()) return false;
  for (std::uint32_t r = 0; r < topology.rank_count(); ++r) {
    if (topology.vertex_of(r) != r) return false;
  }
  return topology.symmetric();
}

}  // namespace

std::uint32_t Translations::sum(std::uint32_t a, std::uint32_t b) const {
  std::uint32_t result = 0, stride = 1;
  for (const std::uint32_t extent : extents_) {
    const std::uint32_t digit = a % extent + b % extent;
    result += (digit >= extent ? digit - extent : digit) * stride;
    stride *= extent;
    a /= extent;
    b /= extent;
  }
  return result;
}

std::uint32_t Translations::negative(std::uint32_t a) const {
  std::uint32_t result = 0, stride = 1;
  for (const std::uint32_t extent : extents_) {
    result += (extent - a % extent) % extent * stride;
    stride *= extent;
    a /= extent;
  }
  return result;
}

std::optional<Translations> Translations::of(const Topology& topology) {
  if (!is_direct(topology)) return std::nullopt;
  Translations t;
  t.vertices_ = topology.rank_count();
  t.extents_.assign(topology.extents().begin(), topology.extents().end());
  if (t.extents_.empty()) t.extents_ = {t.vertices_};
  const auto product = std::accumulate(t.extents_.begin(), t.extents_.end(), std::uint64_t{1}, std::multiplies<>());
  const std::size_t degree = topology.outgoing(0).size();
  if (product != t.vertices_ || topology.links().size() != degree * t.vertices_) return std::nullopt;
  using Key = std::tuple<std::uint32_t, double, double, LinkId>;  // offset, rate, latency
  std::vector<Key> first, here;
  for (std::uint32_t v = 0; v < t.vertices_; ++v) {
    here.clear();
    const std::uint32_t back = t.negative(v);
    for (const LinkId id : topology.outgoing(v)) {
      const Link& link = topology.link(id);
      here.emplace_back(t.sum(link.to, back), -link.bandwidth.value, link.latency.value, id);
    }
    std::sort(here.begin(), here.end());
    if (v == 0) first = here;
    const auto same = [](const Key& a, const Key& b) {
      return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b) && std::get<2>(a) == std::get<2>(b);
    };
    if (!std::equal(first.begin(), first.end(), here.begin(), here.end(), same)) return std::nullopt;
    for (const Key& key : here) t.links_.push_back(std::get<3>(key));
  }
  for (const Key& key : first) {
    t.offsets_.push_back(std::get<0>(key));
    t.bandwidths_.push_back(-std::get<1>(key));
  }
  if (!t.pair_classes()) return std::nullopt;
  return t;
}

/// The i-th class of an offset belongs with the i-th of the opposite one.
bool Translations::pair_classes() {
  twins_.assign(classes(), 0);
  for (std::uint32_t c = 0; c < classes(); ++c) {
    const auto begin = std::lower_bound(offsets_.begin(), offsets_.end(), offsets_[c]);
    const std::uint32_t opposite = negative(offsets_[c]);
    const auto other = std::lower_bound(offsets_.begin(), offsets_.end(), opposite);
    const auto twin =
        static_cast<std::size_t>(other - offsets_.begin()) + c - static_cast<std::size_t>(begin - offsets_.begin());
    if (twin >= classes() || offsets_[twin] != opposite || bandwidths_[twin] != bandwidths_[c]) return false;
    twins_[c] = static_cast<std::uint32_t>(twin);
  }
  return true;
}

}  // namespace hocket
