// Where the vertices of a network lie in a drawing, in pixels. Grids of one line, two and three dimensions lie on their
// coordinates (the third one slanted), more dimensions as grids of grids; every other network has its npus on a rim and
// switches, hosts and nics on circles inside, each beside what it serves.
// Ownership: a value. Threading: pure function. Refuses: nothing; every topology has a place for every vertex.
#pragma once

#include <vector>

#include "topology/topology.h"

namespace hocket {

struct Point {
  double x = 0;
  double y = 0;
};

struct Layout {
  std::vector<Point> at;  // per vertex
  double width = 0;
  double height = 0;
  double cell = 0;  // distance of neighbours on a grid; 0 for other networks
};

[[nodiscard]] Layout lay_out(const Topology& topology);

}  // namespace hocket
