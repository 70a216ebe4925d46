// Layers of networks that have a batch but no sequence, and of the first Transformer, each from its paper's table. One
// list serves `hocket sim NAME` and the study of MultiTree, whose evaluation trains these networks.
// Ownership: returns values. Threading: pure functions. Refuses: nothing.
#pragma once

#include "workload/layers.h"

namespace hocket {

[[nodiscard]] std::vector<ModelLayer> alexnet_layers();
[[nodiscard]] std::vector<ModelLayer> alphago_zero_layers();
[[nodiscard]] std::vector<ModelLayer> faster_rcnn_layers();
[[nodiscard]] std::vector<ModelLayer> googlenet_layers();
[[nodiscard]] std::vector<ModelLayer> ncf_layers();
[[nodiscard]] std::vector<ModelLayer> resnet50_layers();
/// `tokens`: of a sentence, as many on the side of the source as on that of the target.
[[nodiscard]] std::vector<ModelLayer> transformer_base_layers(double tokens);

}  // namespace hocket
