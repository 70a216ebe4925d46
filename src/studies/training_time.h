// Training time under MultiTree's evaluation: the networks that the paper names, one sample on each array of a node,
// and the all-reduce of all gradients after the backward pass, nothing overlapped.
// Ownership: values. Threading: one owner (the bench). Refuses: what the bench refuses.
#pragma once

#include "studies/multitree_setup.h"
#include "workload/networks.h"

namespace hocket {

struct TrainedNetwork {
  std::string_view name;
  std::vector<ModelLayer> layers;

  [[nodiscard]] Bytes gradients() const;  // f32
};
/// AlexNet, AlphaGo Zero, Faster R-CNN, GoogLeNet, NCF, ResNet-50, Transformer (one position a sample, as in the layer
/// lists of the accelerator's simulator).
[[nodiscard]] std::vector<TrainedNetwork> trained_networks();

/// Seconds of a step: compute, and the all-reduce under each scheme.
struct TrainingStep {
  Picos compute;
  Picos ring;
  Picos best_earlier;
  Picos multitree;

  /// Of the step's time, in %.
  [[nodiscard]] double saved_over(Picos other) const;
};

/// `earlier`: schemes beside ring. Packets grow with the vector, so that a message has at most 64 of them.
[[nodiscard]] Result<TrainingStep> training_step(MultitreeBench& bench, const TrainedNetwork& network,
                                                 const std::string& on, std::span<const std::string_view> earlier);

}  // namespace hocket
