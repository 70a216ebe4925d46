// Time of a training step's compute on MultiTree's accelerator: 16 output-stationary systolic arrays of 32 x 32 a node
// at 1 GHz, each with a sample of its own. A product of P x K by K x F takes ceil(P/32) ceil(F/32) folds of 2 * 32 + 32
// + K - 2 cycles (Samajdar et al., ISPASS 2020, equations 1 to 3). Memory is not modelled: as published, the arrays'
// buffers hide it. Ownership: values. Threading: pure functions. Refuses: nothing.
#pragma once

#include <span>

#include "base/units.h"
#include "workload/model.h"

namespace hocket {

inline constexpr int kSystolicArrays = 16;

/// Cycles of (rows x depth) times (depth x columns) on one array.
[[nodiscard]] double systolic_cycles(double rows, double columns, double depth);

/// Forward, gradient of the input (not of the first layer's) and of the weights, of one sample on each array.
[[nodiscard]] Picos systolic_step(std::span<const ModelLayer> layers);

}  // namespace hocket
