#include "studies/training_time.h"

#include <algorithm>

#include "studies/systolic.h"

namespace hocket {
namespace {

constexpr std::int64_t kPacketsMax = 64;  // of a message

Result<Picos> all_reduce_time(MultitreeBench& bench, const std::string& on, std::string_view name, Bytes size) {
  HOCKET_TRY_ASSIGN(const Topology* const topology, bench.network(on));
  const MultitreeScheme& scheme = multitree_scheme(name);
  SimulateOptions options = MultitreeBench::options(scheme);
  const std::int64_t share = size.count / topology->rank_count();
  const std::int64_t grown = std::max<std::int64_t>(1, share / (kPacketsMax * options.packet_payload.count));
  options.packet_payload.count *= grown;
  options.head_flit.count *= grown;
  HOCKET_TRY_ASSIGN(const SimulationResult result, bench.simulated(on, scheme, size, options));
  return result.time;
}

}  // namespace

Bytes TrainedNetwork::gradients() const {
  double weights = 0;
  for (const ModelLayer& layer : layers) weights += layer.owns_weights ? layer.weights : 0;
  return {static_cast<std::int64_t>(weights) * size_of(DataType::kF32)};
}

std::vector<TrainedNetwork> trained_networks() {
  return {{"alexnet", alexnet_layers()},
          {"alphago_zero", alphago_zero_layers()},
          {"faster_rcnn", faster_rcnn_layers()},
          {"googlenet", googlenet_layers()},
          {"ncf", ncf_layers()},
          {"resnet50", resnet50_layers()},
          {"transformer_base", transformer_base_layers(1)}};
}

double TrainingStep::saved_over(Picos other) const {
  const auto all = static_cast<double>((compute + other).count);
  return 100 * static_cast<double>((other - multitree).count) / all;
}

Result<TrainingStep> training_step(MultitreeBench& bench, const TrainedNetwork& network, const std::string& on,
                                   std::span<const std::string_view> earlier) {
  TrainingStep step;
  step.compute = systolic_step(network.layers);
  const Bytes size = network.gradients();
  HOCKET_TRY_ASSIGN(step.ring, all_reduce_time(bench, on, "ring", size));
  HOCKET_TRY_ASSIGN(step.multitree, all_reduce_time(bench, on, "multitree-message", size));
  step.best_earlier = step.ring;
  for (const std::string_view scheme : earlier) {
    HOCKET_TRY_ASSIGN(const Picos time, all_reduce_time(bench, on, scheme, size));
    step.best_earlier = std::min(step.best_earlier, time);
  }
  return step;
}

}  // namespace hocket
