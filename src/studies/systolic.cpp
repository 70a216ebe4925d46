#include "studies/systolic.h"

#include <cmath>

namespace hocket {
namespace {

constexpr double kEdge = 32;
constexpr double kPicosPerCycle = 1000;

}  // namespace

double systolic_cycles(double rows, double columns, double depth) {
  return std::ceil(rows / kEdge) * std::ceil(columns / kEdge) * (3 * kEdge + depth - 2);
}

Picos systolic_step(std::span<const ModelLayer> layers) {
  double cycles = 0;
  bool first = true;
  for (const ModelLayer& layer : layers) {
    if (layer.macs <= 0 || layer.weights <= 0) continue;  // tables are read; scores of one position are nothing
    const double pixels = layer.macs / layer.weights;
    const double filters = layer.output / pixels;
    const double depth = layer.weights / filters;
    cycles += systolic_cycles(pixels, filters, depth) + systolic_cycles(depth, filters, pixels);
    if (!first) cycles += systolic_cycles(pixels, depth, filters);
    first = false;
  }
  return {std::llround(cycles * kPicosPerCycle)};
}

}  // namespace hocket
