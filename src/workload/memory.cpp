#include "workload/memory.h"

namespace hocket {

double optimizer_bytes(Optimizer optimizer, DataType compute) {
  constexpr double kWord = 4;
  if (optimizer == Optimizer::kNone) return 0;
  const double moments = optimizer == Optimizer::kAdam ? 2 : 1;
  return kWord * (moments + (size_of(compute) < kWord ? 1 : 0));
}

WorkMemory memory_of(const std::vector<ModelLayer>& layers, const ModelRequest& request) {
  const auto compute = static_cast<double>(size_of(request.compute));
  double weights = 0;
  double kept = 0;
  for (const ModelLayer& layer : layers) {
    weights += layer.owns_weights ? layer.weights : 0;
    kept += layer.input + layer.kept + layer.kept_whole;
  }
  return {.parameters = weights * compute,
          .gradients = weights * static_cast<double>(size_of(request.gradients)),
          .optimizer = weights * optimizer_bytes(request.optimizer.value_or(Optimizer::kAdam), request.compute),
          .activations = request.batch * kept * compute};
}

}  // namespace hocket
