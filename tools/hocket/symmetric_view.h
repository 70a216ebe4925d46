// What `hocket plan --symmetric` shows: a plan for one vertex in place of all, its proof and its time beside the bound.
// Prints to stdout, a table or a document.
// Threading: one owner. Refuses: what plan_symmetric() refuses.
#pragma once

#include <string>

#include "bounds/bounds.h"
#include "planner/symmetric_plan.h"

namespace hocket {

struct SymmetricAsk {
  std::string algorithm;
  Bytes segment;  // 0: the best of several
};

[[nodiscard]] Result<int> show_symmetric(const Topology& topology, const BoundCollective& what, const SymmetricAsk& ask,
                                         bool json);

}  // namespace hocket
