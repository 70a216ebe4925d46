// How the layers of a model lie on the stages of a pipeline, and what one part of a tensor group has of a layer.
// Ownership: values. Threading: pure functions. Refuses: nothing; plan_parallel() has checked the plan. Blocks are
// dealt out in order, as evenly as they go; what stands before the first block belongs to the first stage, what stands
// behind the last one to the last.
#pragma once

#include <vector>

#include "workload/parallel.h"

namespace hocket {

/// Layers [begin, end) of the model.
struct Stage {
  std::size_t begin = 0;
  std::size_t end = 0;
};

[[nodiscard]] std::uint32_t blocks_of(const LayeredModel& model);
[[nodiscard]] std::vector<Stage> stages_of(const LayeredModel& model, std::uint32_t stages);

/// Ranks that divide what no matrix cuts: those of a tensor group where the sequence is cut, else nobody.
[[nodiscard]] double sequence_parts(const ParallelPlan& plan);

/// The layer as one rank works on it; amounts per sample. A column's input is there whole while it is at work.
[[nodiscard]] ModelLayer part_of(const ModelLayer& layer, const ParallelPlan& plan);

/// Elements per sample that a rank keeps of the layer for backward.
[[nodiscard]] double kept_of(const ModelLayer& layer, const ParallelPlan& plan);

/// Whether a stage updates the weights of a layer: its own, or its copy of a table that another stage has too.
[[nodiscard]] inline bool updates(const ModelLayer& layer, const ParallelPlan& plan) {
  return layer.weights > 0 && (layer.owns_weights || plan.pipeline > 1);
}

}  // namespace hocket
