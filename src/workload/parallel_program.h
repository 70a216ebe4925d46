// parallel_program(): what one rank does in a step of a parallel plan, in the order in which its compute runs.
// Forward, per layer: tokens to their experts, gathering of a cut sequence, compute, sum over the parts, tokens back.
// Backward the same the other way round; sums of input gradients pass beside the gradient of the weights. A pipeline
// runs as many forward passes ahead as stages follow, then one forward, one backward (1F1B).
// Ownership: returns a value. Threading: pure function. Refuses: nothing; the plan is one of plan_parallel().
#pragma once

#include "workload/parallel.h"

namespace hocket {

/// Indices of the divisions that parallel_graph() makes.
enum class ParallelGroups : std::uint32_t { kTensor, kData, kExpert, kExpertData, kWords };

[[nodiscard]] TaskProgram parallel_program(const LayeredModel& model, const ModelRequest& request,
                                           const ParallelPlan& plan, std::uint32_t rank);

/// Whether first and last stage both have the table of words.
[[nodiscard]] bool shares_words(const LayeredModel& model, const ParallelPlan& plan);

}  // namespace hocket
