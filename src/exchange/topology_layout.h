// Where to draw the vertices of a topology. Deterministic: the same topology gives the same places.
// Grid coordinates are used when every npu has them (one: a circle; two: a grid; more: grids beside and above each
// other); other vertices go to the middle of their neighbours. Without coordinates and with switches or hosts: npus in
// a row at the bottom, the others above by their distance from the nearest npu. Otherwise all on a circle. Threading:
// pure function. Refuses nothing.
#pragma once

#include <string>
#include <vector>

#include "topology/topology.h"

namespace hocket {

struct DrawnPlace {
  double x = 0;
  double y = 0;  // downwards
};

/// One place per vertex; neighbours on a grid are about 1 apart.
[[nodiscard]] std::vector<DrawnPlace> layout_of(const Topology& topology);

/// Parallel links between two vertices, drawn as one line.
struct DrawnCable {
  VertexId a = 0, b = 0;
  std::size_t forward = 0, backward = 0;       // links a -> b, b -> a
  BytesPerSecond rate_forward, rate_backward;  // summed
};

/// Ascending by (a, b), a < b.
[[nodiscard]] std::vector<DrawnCable> cables_of(const Topology& topology);

/// "16 GB/s", "2 x 16 GB/s", "16 GB/s one way".
[[nodiscard]] std::string label_of(const DrawnCable& cable);

}  // namespace hocket
