// The page about planned collectives: one self-contained HTML file, no network, light and dark, usable by keyboard.
// Per topology: a summary in plain words, the plans beside the bound, the network with the load of every link, the
// moves of a plan step by step, timelines of two plans side by side. Words, tables and drawings need no script. Parts:
// page/*.css and page/*.js (embedded by the build), page/*.cpp (summary, tables, embedded figures). Ownership: returns
// text; PageEntry borrows. Threading: pure function, the same bytes every time. Refuses: nothing; drawings, moves and
// timelines are cut at fixed sizes and say what was left out.
#pragma once

#include <string>
#include <vector>

#include "planner/planner.h"
#include "topology/topology.h"

namespace hocket {

/// A plan beside the others: made by the planner, or read from a file.
struct PagePlan {
  std::string name;
  std::string file;  // empty: the planner made it
  const Plan* plan = nullptr;
  const SimulationResult* result = nullptr;
};

struct PageEntry {
  const Topology& topology;
  BoundCollective what;
  Bound bound;
  std::vector<PagePlan> plans;  // at least one
  std::vector<Skipped> skipped;
  SimulateOptions simulate;  // what the results were simulated with

  /// Index of the plan with the least time; the first of equals.
  [[nodiscard]] std::size_t chosen() const;
  /// Index of the plan named `name`, or plans.size().
  [[nodiscard]] std::size_t find(std::string_view name) const;
};

/// "ring", or "ring (my.xml)" when it was read from a file.
[[nodiscard]] std::string plan_label(const PagePlan& plan);

/// The planner's candidates as plans of a page.
[[nodiscard]] std::vector<PagePlan> page_plans(const Planning& planning);

[[nodiscard]] Result<std::string> make_page(const std::vector<PageEntry>& entries);

}  // namespace hocket
