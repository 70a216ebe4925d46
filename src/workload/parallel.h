// ParallelPlan: how a training step of a layered model is spread over ranks, beyond copies of the model that reduce
// gradients: tensor parallelism (Shoeybi et al., arXiv 1909.08053; with the sequence cut as well: Korthikanti et al.,
// arXiv 2205.05198), pipeline parallelism (1F1B: Narayanan et al., SC 2021), data parallelism with sharded weights
// (ZeRO-3: Rajbhandari et al., SC 2020; FSDP: Zhao et al., VLDB 2023), expert parallelism (Lepikhin et al., arXiv
// 2006.16668; Fedus et al., JMLR 2022) and their products. rank = (stage x data + copy) x tensor + part: parts of a
// matrix are neighbours, stages are far apart; ranks that hold different experts are neighbours among the copies.
// Collectives run in the groups "tp", "dp", "ep", "edp" (copies of the same experts) and "words" (first and last stage
// share the table of words); what passes between stages are messages. Ownership: returns values.
// Threading: pure functions. Refuses (plan_parallel): what does not divide, what the model does not have: both values.
#pragma once

#include <string>

#include "workload/model.h"
#include "workload/task_graph.h"

namespace hocket {

struct ParallelPlan {
  std::uint32_t tensor = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t expert = 1;        // divides `data`
  std::uint32_t microbatches = 0;  // of a copy's batch; 0: as many as there are stages
  bool shards_weights = false;     // over the copies
  bool splits_sequence = false;    // over the parts of a tensor group
  std::uint32_t data = 1;          // copies of the model: what the others leave of the ranks

  /// Ranks that hold copies of the same weights.
  [[nodiscard]] std::uint32_t copies(const ModelLayer& layer) const { return layer.experts > 0 ? data / expert : data; }
  /// Ranks among which weights and what belongs to them are divided.
  [[nodiscard]] std::uint32_t shards(const ModelLayer& layer) const { return shards_weights ? copies(layer) : 1; }
  /// "tp 2 with the sequence, pp 2 with 4 micro-batches, dp 2".
  [[nodiscard]] std::string text() const;
};

/// `asked` with `data` and `microbatches` filled in, checked against the model.
[[nodiscard]] Result<ParallelPlan> plan_parallel(const LayeredModel& model, const ModelRequest& request,
                                                 const ParallelPlan& asked, std::uint32_t ranks);

/// Requires a plan of plan_parallel() for that model and request. The graph's memory is that of the fullest stage.
[[nodiscard]] TaskGraph parallel_graph(const LayeredModel& model, const ModelRequest& request,
                                       const ParallelPlan& plan);

/// Of the stage that needs most. Where weights are sharded the two largest layers at work are there whole.
[[nodiscard]] WorkMemory parallel_memory(const LayeredModel& model, const ModelRequest& request,
                                         const ParallelPlan& plan);

}  // namespace hocket
