#include "workload/parallel_parts.h"

#include <algorithm>

namespace hocket {

std::uint32_t blocks_of(const LayeredModel& model) {
  std::uint32_t blocks = 0;
  for (const ModelLayer& layer : model.layers) blocks = std::max(blocks, layer.block);
  return blocks;
}

std::vector<Stage> stages_of(const LayeredModel& model, std::uint32_t stages) {
  const std::uint32_t blocks = std::max(1U, blocks_of(model));
  std::vector<Stage> found(stages);
  std::uint32_t stage = 0;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::uint32_t block = model.layers[i].block;
    if (block > 0) stage = static_cast<std::uint32_t>((std::uint64_t{block} - 1) * stages / blocks);
    if (found[stage].end == 0) found[stage].begin = i;
    found[stage].end = i + 1;
  }
  return found;
}

double sequence_parts(const ParallelPlan& plan) { return plan.splits_sequence ? plan.tensor : 1; }

ModelLayer part_of(const ModelLayer& layer, const ParallelPlan& plan) {
  ModelLayer part = layer;
  const double tensor = plan.tensor;
  const double sequence = sequence_parts(plan);
  if (layer.experts > 0) part.weights /= plan.expert;
  if (layer.split == TensorSplit::kNone) {
    for (double* amount : {&part.macs, &part.input, &part.output}) *amount /= sequence;
    return part;
  }
  part.macs /= tensor;
  part.weights /= tensor;
  if (layer.split != TensorSplit::kColumn) part.input /= tensor;
  if (layer.split != TensorSplit::kRow) part.output /= tensor;
  return part;
}

double kept_of(const ModelLayer& layer, const ParallelPlan& plan) {
  const double sequence = sequence_parts(plan);
  const bool cut_output = layer.split == TensorSplit::kColumn || layer.split == TensorSplit::kInside;
  const bool cut_input = layer.split == TensorSplit::kRow || layer.split == TensorSplit::kInside;
  return layer.input / (cut_input ? plan.tensor : sequence) + layer.kept / (cut_output ? plan.tensor : sequence) +
         layer.kept_whole / sequence;
}

}  // namespace hocket
