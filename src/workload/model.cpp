#include "workload/model.h"

#include <algorithm>
#include <array>

#include "base/spelling.h"
#include "workload/memory.h"

namespace hocket {
namespace {

constexpr std::uint32_t kBatchMax = 1U << 20;
constexpr std::uint32_t kSequenceMax = 1U << 20;

/// Two operations a multiply-add; every operand is read and every result written once.
WorkNode compute_node(const ModelLayer& layer, StepPhase phase, const ModelRequest& request) {
  const double batch = request.batch;
  const double bytes =
      (batch * (layer.input + layer.output) + layer.weights) * static_cast<double>(size_of(request.compute));
  return {.name = fmt::format("{} {}", layer.name, name_of(phase)),
          .phase = phase,
          .compute = {2 * batch * layer.macs, request.compute, bytes, {}}};
}

class DataParallel {
 public:
  DataParallel(const LayeredModel& model, const ModelRequest& request)
      : workload_{model.name, model.source, {}, {}}, request_(request) {}

  Workload build(const std::vector<ModelLayer>& layers) {
    for (const ModelLayer& layer : layers) chain(compute_node(layer, StepPhase::kForward, request_));
    for (std::size_t i = layers.size(); i-- > 0;) {
      const NodeId weights = chain(compute_node(layers[i], StepPhase::kWeightGradient, request_));
      if (layers[i].weights > 0 && layers[i].owns_weights) fill_bucket(layers, i, weights);
      if (i > 0) chain(compute_node(layers[i], StepPhase::kInputGradient, request_));
    }
    workload_.memory = memory_of(layers, request_);
    return std::move(workload_);
  }

 private:
  /// Gradients wait until they fill a bucket, or nothing comes after them.
  void fill_bucket(const std::vector<ModelLayer>& layers, std::size_t layer, NodeId weights) {
    filled_.push_back(layer);
    bytes_ += static_cast<std::int64_t>(layers[layer].weights) * size_of(request_.gradients);
    const auto is_last = [&] {
      return std::none_of(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(layer),
                          [](const ModelLayer& l) { return l.weights > 0 && l.owns_weights; });
    };
    if (bytes_ < request_.bucket.count && !is_last()) return;
    const NodeId reduced = add(gradients(layers));
    workload_.nodes[reduced].after.push_back(weights);
    for (const std::size_t of : filled_) workload_.nodes[of].after_previous.push_back(reduced);
    filled_.clear();
    bytes_ = 0;
  }
  [[nodiscard]] WorkNode gradients(const std::vector<ModelLayer>& layers) const {
    const std::string& last = layers[filled_.back()].name;
    const std::string& first = layers[filled_.front()].name;
    return {.name = filled_.size() == 1 ? first + " gradients" : fmt::format("{} to {} gradients", first, last),
            .phase = StepPhase::kWeightGradient,
            .collective = WorkCollective{CollectiveKind::kAllReduce, {bytes_}, request_.gradients}};
  }
  NodeId add(WorkNode node) {
    workload_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(workload_.nodes.size() - 1);
  }
  /// Compute follows compute.
  NodeId chain(WorkNode node) {
    if (has_last_) node.after.push_back(last_);
    last_ = add(std::move(node));
    has_last_ = true;
    return last_;
  }

  Workload workload_;
  const ModelRequest& request_;
  std::vector<std::size_t> filled_;  // layers whose gradients wait in the bucket
  std::int64_t bytes_ = 0;
  NodeId last_ = 0;
  bool has_last_ = false;
};

constexpr std::array kOptimizers{Optimizer::kAdam, Optimizer::kSgd, Optimizer::kNone};

Result<const WorkloadModel*> find_model(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(workload_models().size());
  for (const WorkloadModel* model : workload_models()) {
    if (model->name == name) return model;
    names.push_back(model->name);
  }
  return fail(Code::kInvalidArgument, "no file and no workload '{}'{}; known: {}", name.substr(0, 200),
              spelling_hint(name, names), fmt::join(names, ", "));
}

/// What the request leaves open is as the model usually has it.
Result<void> fill_in(const WorkloadModel& model, ModelRequest& request) {
  if (request.batch == 0) request.batch = model.batch;
  if (request.sequence != 0 && model.sequence == 0)
    return fail(Code::kInvalidArgument, "workload '{}' has no sequences", model.name);
  if (request.sequence == 0) request.sequence = model.sequence;
  if (!request.optimizer) request.optimizer = model.optimizer;
  if (request.batch <= kBatchMax && request.sequence <= kSequenceMax) return {};
  return fail(Code::kInvalidArgument, "batch {} or sequence {}: at most {} and {}", request.batch, request.sequence,
              kBatchMax, kSequenceMax);
}

LayeredModel layers_of(const WorkloadModel& model, const ModelRequest& request) {
  return {std::string(model.name), std::string(model.source), model.layers(request)};
}

}  // namespace

std::string_view name_of(Optimizer optimizer) {
  constexpr std::array<std::string_view, 3> kNames{"adam", "sgd", "none"};
  return kNames[static_cast<std::size_t>(optimizer)];
}

Result<Optimizer> parse_optimizer(std::string_view word) {
  std::array<std::string_view, kOptimizers.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = name_of(kOptimizers[i]);
    if (word == names[i]) return kOptimizers[i];
  }
  return fail(Code::kInvalidArgument, "unknown optimizer '{}'{}; known: {}", word.substr(0, 80),
              spelling_hint(word, names), fmt::join(names, ", "));
}

Workload data_parallel(const LayeredModel& model, const ModelRequest& request) {
  return DataParallel(model, request).build(model.layers);
}

Result<LayeredModel> layered_model(std::string_view name, ModelRequest& request) {
  HOCKET_TRY_ASSIGN(const WorkloadModel* model, find_model(name));
  if (model->extend != nullptr)
    return fail(Code::kUnsupported, "workload '{}' is not made of layers alone: no tp, pp, ep, sp, fsdp, micro-batches",
                name);
  HOCKET_TRY(fill_in(*model, request));
  return layers_of(*model, request);
}

Result<Workload> workload_from_model(std::string_view name, ModelRequest request) {
  HOCKET_TRY_ASSIGN(const WorkloadModel* model, find_model(name));
  HOCKET_TRY(fill_in(*model, request));
  Workload workload = data_parallel(layers_of(*model, request), request);
  if (model->extend != nullptr) model->extend(workload, request);
  return workload;
}

}  // namespace hocket
