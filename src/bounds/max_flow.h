// Maximum flow by Dinic's algorithm on doubles: build once, then run between many pairs and under changed capacities.
// Every augmentation empties its bottleneck exactly, so that runs end also with rounded numbers. Arcs are visited in
// order of addition: the same graph gives the same flow and the same cut. Ownership: a value. Threading: one owner.
// Refuses: nothing; capacities must be >= 0 and may be infinite.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace hocket {

class MaxFlow {
 public:
  explicit MaxFlow(std::uint32_t vertex_count) : vertex_count_(vertex_count) {}

  /// Returns the arc's number, for set_capacity().
  std::uint32_t add_arc(std::uint32_t from, std::uint32_t to, double capacity);
  /// Capacity `capacity` in both directions.
  std::uint32_t add_edge(std::uint32_t a, std::uint32_t b, double capacity);
  void set_capacity(std::uint32_t arc, double capacity) { capacity_[2 * arc] = capacity; }

  /// The largest flow from source to sink, or the first value found that is not below `enough`.
  double run(std::uint32_t source, std::uint32_t sink, double enough = std::numeric_limits<double>::infinity());

  /// After a run that was not cut short: vertices on the source side of the smallest minimum cut.
  [[nodiscard]] bool on_source_side(std::uint32_t v) const { return level_[v] >= 0; }

 private:
  void index();
  bool label(std::uint32_t source, std::uint32_t sink);
  double block(std::uint32_t source, std::uint32_t sink, double enough);

  std::uint32_t vertex_count_;
  bool indexed_ = false;
  std::vector<std::uint32_t> tail_, head_;  // arc i's twin is i ^ 1
  std::vector<double> capacity_, residual_;
  std::vector<std::uint32_t> begin_, arcs_, next_;
  std::vector<std::int32_t> level_;
  std::vector<std::uint32_t> queue_, path_;
  double tiny_ = 0;
};

}  // namespace hocket
