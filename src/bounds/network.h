// FlowNetwork: a topology as bounds see it. Parallel links merged, directions kept, ranks marked, reversible.
// Ownership: a value that does not refer to the topology. Threading: plain value after construction.
// Refuses: nothing; a Topology is valid by construction.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace hocket {

struct FlowNetwork {
  struct Arc {
    VertexId from = 0;
    VertexId to = 0;
    double capacity = 0;  // bytes per second, all parallel links together
    std::uint32_t links = 0;
  };
  /// Both directions between two vertices.
  struct Pair {
    VertexId a = 0;
    VertexId b = 0;
    double capacity = 0;  // sum of both directions
    std::uint32_t links = 0;
  };

  explicit FlowNetwork(const Topology& topology);
  [[nodiscard]] FlowNetwork reversed() const;

  std::uint32_t vertex_count = 0;
  std::vector<VertexKind> kinds;
  std::vector<VertexId> ranks;
  std::vector<std::int32_t> rank_of;
  std::vector<Arc> arcs;    // ascending by (from, to)
  std::vector<Pair> pairs;  // ascending by (a, b), a < b
  bool symmetric = false;   // equal capacity both ways everywhere
  bool direct = false;      // every vertex is a rank
  bool transitive = false;  // shifting along each extent maps the network onto itself: all ranks look alike
};

}  // namespace hocket
