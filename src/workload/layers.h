// Layers of well-known kinds from their shapes: convolutions and fully connected ones.
// Amounts are per sample, in elements and multiply-adds.
// Ownership: returns values. Threading: pure functions. Refuses: nothing.
#pragma once

#include <string>

#include "workload/model.h"

namespace hocket {

struct ConvolutionShape {
  double kernel = 1;
  double channels_in = 1;
  double channels_out = 1;
  double size_in = 1;  // pixels along an edge
  double stride = 1;
};

[[nodiscard]] inline ModelLayer convolution(std::string name, const ConvolutionShape& s) {
  const double out = s.size_in / s.stride;
  const double weights = s.kernel * s.kernel * s.channels_in * s.channels_out;
  return {std::move(name), weights * out * out, weights, s.channels_in * s.size_in * s.size_in,
          s.channels_out * out * out};
}

/// `rows`: vectors of a sample that pass through it (tokens).
[[nodiscard]] inline ModelLayer fully_connected(std::string name, double in, double out, double rows = 1) {
  return {std::move(name), in * out * rows, in * out, in * rows, out * rows};
}

}  // namespace hocket
