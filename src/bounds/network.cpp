#include "bounds/network.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace hocket {
namespace {

using LinkKey = std::tuple<VertexId, VertexId, double, double>;

std::vector<LinkKey> sorted_links(const Topology& topology, const std::vector<VertexId>& image) {
  std::vector<LinkKey> keys;
  for (const Link& l : topology.links())
    keys.emplace_back(image[l.from], image[l.to], l.bandwidth.value, l.latency.value);
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Proves (does not assume) that ranks numbered along the extents can be shifted along each of them.
bool can_be_shifted(const Topology& topology) {
  std::uint64_t product = 1;
  for (const std::uint32_t extent : topology.extents()) product *= extent;
  const std::size_t count = topology.vertices().size();
  if (topology.extents().empty() || product != count || topology.rank_count() != count) return false;
  std::vector<VertexId> image(count);
  for (VertexId v = 0; v < count; ++v) {
    if (topology.vertex_of(v) != v) return false;
    image[v] = v;
  }
  const std::vector<LinkKey> links = sorted_links(topology, image);
  std::uint64_t stride = 1;
  for (const std::uint32_t extent : topology.extents()) {
    for (std::uint64_t v = 0; v < count; ++v) {
      const std::uint64_t at = v / stride % extent;
      image[v] = static_cast<VertexId>(at + 1 == extent ? v - at * stride : v + stride);
    }
    if (sorted_links(topology, image) != links) return false;
    stride *= extent;
  }
  return true;
}

std::vector<FlowNetwork::Arc> merged_arcs(std::vector<FlowNetwork::Arc> arcs) {
  std::stable_sort(arcs.begin(), arcs.end(),
                   [](const auto& x, const auto& y) { return std::tie(x.from, x.to) < std::tie(y.from, y.to); });
  std::vector<FlowNetwork::Arc> merged;
  for (const FlowNetwork::Arc& arc : arcs) {
    if (!merged.empty() && merged.back().from == arc.from && merged.back().to == arc.to) {
      merged.back().capacity += arc.capacity;
      merged.back().links += arc.links;
    } else {
      merged.push_back(arc);
    }
  }
  return merged;
}

}  // namespace

FlowNetwork::FlowNetwork(const Topology& topology)
    : vertex_count(static_cast<std::uint32_t>(topology.vertices().size())),
      ranks(topology.ranks().begin(), topology.ranks().end()),
      symmetric(topology.symmetric()),
      direct(topology.rank_count() == topology.vertices().size()),
      transitive(can_be_shifted(topology)) {
  std::vector<Arc> both;
  for (const Vertex& v : topology.vertices()) kinds.push_back(v.kind);
  for (VertexId v = 0; v < vertex_count; ++v) rank_of.push_back(topology.rank_of(v));
  for (const Link& l : topology.links()) {
    arcs.push_back({l.from, l.to, l.bandwidth.value, 1});
    both.push_back({std::min(l.from, l.to), std::max(l.from, l.to), l.bandwidth.value, 1});
  }
  arcs = merged_arcs(std::move(arcs));
  for (const Arc& arc : merged_arcs(std::move(both))) pairs.push_back({arc.from, arc.to, arc.capacity, arc.links});
}

FlowNetwork FlowNetwork::reversed() const {
  FlowNetwork result = *this;
  for (Arc& arc : result.arcs) std::swap(arc.from, arc.to);
  result.arcs = merged_arcs(std::move(result.arcs));
  return result;
}

}  // namespace hocket
