// Memory of a rank in a training step from the layers of its model: weights, gradients, state of the optimizer, and
// what the forward pass keeps for the backward pass.
//   parameters   W s_c                        W weights of s_c bytes (compute), s_g bytes (gradients)
//   gradients    W s_g
//   optimizer    W (4 m + 4 if s_c < 4)       m moments: 2 for Adam, 1 for SGD; a copy of the weights in f32
//   activations  batch s_c sum(input + kept)  inputs of all layers, and what a layer keeps besides (model.h)
// With s_c = s_g = 2 and Adam that is 16 B per weight (Rajbhandari et al., SC 2020, section 3.1).
// Ownership: values. Threading: pure function. Refuses: nothing. Not counted: buffers of communication, workspaces of
// kernels, fragmentation.
#pragma once

#include <vector>

#include "workload/model.h"

namespace hocket {

[[nodiscard]] WorkMemory memory_of(const std::vector<ModelLayer>& layers, const ModelRequest& request);

/// Bytes of optimizer state per weight.
[[nodiscard]] double optimizer_bytes(Optimizer optimizer, DataType compute);

}  // namespace hocket
