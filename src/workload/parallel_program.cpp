#include "workload/parallel_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "workload/parallel_parts.h"

namespace hocket {
namespace {

class ProgramWriter {
 public:
  ProgramWriter(const LayeredModel& model, const ModelRequest& request, const ParallelPlan& plan, std::uint32_t rank)
      : model_(model),
        request_(request),
        plan_(plan),
        rank_(rank),
        stage_(rank / (plan.tensor * plan.data)),
        layers_(stages_of(model, plan.pipeline)[stage_]),
        samples_(static_cast<double>(request.batch) / plan.microbatches),
        updated_by_(model.layers.size()) {
    program_.origin = fmt::format("rank {}", rank);
  }

  TaskProgram write() {
    const std::uint32_t ahead = std::min(plan_.microbatches, plan_.pipeline - 1 - stage_);
    for (std::uint32_t m = 0; m < ahead; ++m) forward(m);
    for (std::uint32_t m = ahead; m < plan_.microbatches; ++m) {
      forward(m);
      backward(m - ahead);
    }
    for (std::uint32_t m = plan_.microbatches - ahead; m < plan_.microbatches; ++m) backward(m);
    reduce_words();
    for (const Use& use : first_uses_) program_.tasks[use.task].after_previous.push_back(*updated_by_[use.layer]);
    for (NodeId id = 0; id < program_.tasks.size(); ++id) program_.tasks[id].place = fmt::format("node {}", id);
    return std::move(program_);
  }

 private:
  /// A task whose weights must have been updated in the step before.
  struct Use {
    NodeId task;
    std::size_t layer;
  };
  /// Gradients that wait until they are reduced together.
  struct Bucket {
    std::vector<std::size_t> layers;
    std::int64_t bytes = 0;
    NodeId newest = 0;
  };

  [[nodiscard]] const ModelLayer& layer(std::size_t i) const { return model_.layers[i]; }
  [[nodiscard]] bool is_first() const { return stage_ == 0; }
  [[nodiscard]] bool is_last() const { return stage_ + 1 == plan_.pipeline; }
  [[nodiscard]] bool begins_experts(std::size_t i) const {
    return layer(i).experts > 0 && (i == layers_.begin || layer(i - 1).experts == 0);
  }
  [[nodiscard]] bool ends_experts(std::size_t i) const {
    return layer(i).experts > 0 && (i + 1 == layers_.end || layer(i + 1).experts == 0);
  }
  [[nodiscard]] bool is_cut_column(std::size_t i) const { return layer(i).split == TensorSplit::kColumn; }
  [[nodiscard]] bool is_cut_row(std::size_t i) const { return layer(i).split == TensorSplit::kRow; }
  [[nodiscard]] std::int64_t activation_bytes(double elements) const {
    return static_cast<std::int64_t>(std::ceil(elements * samples_)) * size_of(request_.compute);
  }
  [[nodiscard]] std::int64_t weight_bytes(std::size_t i, DataType type) const {
    return static_cast<std::int64_t>(std::ceil(part_of(layer(i), plan_).weights)) * size_of(type);
  }

  NodeId add(Task task) {
    program_.tasks.push_back(std::move(task));
    return static_cast<NodeId>(program_.tasks.size() - 1);
  }
  /// After all that the chain waits for, which from now on waits for this task.
  NodeId chain(Task task) {
    task.after.insert(task.after.end(), chain_.begin(), chain_.end());
    chain_ = {add(std::move(task))};
    return chain_.front();
  }

  [[nodiscard]] Task collective(std::string name, CollectiveKind kind, ParallelGroups groups, Bytes bytes) const {
    Task task{.name = std::move(name), .phase = phase_};
    task.collective = TaskCollective{{kind, bytes, request_.compute}, static_cast<std::uint32_t>(groups)};
    return task;
  }
  [[nodiscard]] Task compute(std::size_t i, StepPhase phase) const {
    const ModelLayer part = part_of(layer(i), plan_);
    const double bytes =
        (samples_ * (part.input + part.output) + part.weights) * static_cast<double>(size_of(request_.compute));
    return {.name = fmt::format("{} {}", part.name, name_of(phase)),
            .phase = phase,
            .compute = {2 * samples_ * part.macs, request_.compute, bytes, {}}};
  }
  [[nodiscard]] Task in_tensor_group(std::string_view what, std::size_t i, CollectiveKind kind, double elements) const {
    return collective(fmt::format("{} {}", layer(i).name, what), kind, ParallelGroups::kTensor,
                      {activation_bytes(elements)});
  }
  /// A sum over the parts of a tensor group; each has all of it, or its part of the sequence.
  void sum_parts(std::string_view what, std::size_t i, double elements) {
    if (plan_.tensor == 1) return;
    chain(in_tensor_group(what, i, plan_.splits_sequence ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
                          elements));
  }
  [[nodiscard]] bool gathers() const { return plan_.splits_sequence && plan_.tensor > 1; }
  void gather_parts(std::string_view what, std::size_t i, double elements) {
    if (gathers()) chain(in_tensor_group(what, i, CollectiveKind::kAllGather, elements));
  }
  /// Tokens to the ranks that have their experts, or back.
  void exchange_tokens(std::string_view what, std::size_t i, double elements) {
    if (plan_.expert == 1) return;
    chain(collective(fmt::format("{} {}", layer(i).name, what), CollectiveKind::kAllToAll, ParallelGroups::kExpert,
                     {activation_bytes(elements / sequence_parts(plan_))}));
  }

  /// What passes to the stage behind layer i, and its gradient back.
  [[nodiscard]] Task message(bool sends, std::uint32_t peer, std::uint32_t tag, std::size_t i) const {
    const double elements = (layer(i).output + layer(i).carried) / sequence_parts(plan_);
    Task task{.name = fmt::format("{} {} of micro-batch {}", sends ? "send" : "receive",
                                  tag % 2 == 0 ? "activations" : "gradients", tag / 2),
              .phase = phase_};
    task.message = TaskMessage{sends, peer, tag, {activation_bytes(elements)}};
    return task;
  }
  void send(std::uint32_t peer, std::uint32_t tag, std::size_t i) {
    Task task = message(true, peer, tag, i);
    task.after = chain_;
    add(std::move(task));  // nothing waits for it
  }
  [[nodiscard]] std::uint32_t stage_ranks() const { return plan_.tensor * plan_.data; }

  /// Gathers sharded weights while the layer before is at work; no more than two layers are whole at a time.
  [[nodiscard]] std::optional<NodeId> fetch(std::size_t i, bool for_new_step) {
    if (plan_.shards(layer(i)) == 1 || layer(i).weights <= 0) return std::nullopt;
    Task task = collective(fmt::format("{} weights {}", layer(i).name, name_of(phase_)), CollectiveKind::kAllGather,
                           data_groups(i), {weight_bytes(i, request_.compute)});
    if (recent_[0]) task.after.push_back(*recent_[0]);
    const NodeId id = add(std::move(task));
    if (for_new_step) first_uses_.push_back({id, table_of(i)});
    return id;
  }
  /// Compute on weights that were fetched, where they had to be.
  NodeId chain_on(std::optional<NodeId> weights, Task task) {
    if (weights) task.after.push_back(*weights);
    const NodeId id = chain(std::move(task));
    if (weights) recent_ = {recent_[1], id};
    return id;
  }
  [[nodiscard]] ParallelGroups data_groups(std::size_t i) const {
    return layer(i).experts > 0 ? ParallelGroups::kExpertData : ParallelGroups::kData;
  }
  /// The layer whose update a layer waits for: its own, or the first one's whose table it uses.
  [[nodiscard]] std::size_t table_of(std::size_t i) const { return updates(layer(i), plan_) ? i : 0; }

  void forward(std::uint32_t m) {
    phase_ = StepPhase::kForward;
    if (!is_first()) chain(message(false, rank_ - stage_ranks(), 2 * m, layers_.begin - 1));
    for (std::size_t i = layers_.begin; i < layers_.end; ++i) forward_layer(i, m == 0);
    if (!is_last()) send(rank_ + stage_ranks(), 2 * m, layers_.end - 1);
  }

  void forward_layer(std::size_t i, bool is_new_step) {
    if (begins_experts(i)) exchange_tokens("tokens", i, layer(i).input);
    if (is_cut_column(i)) gather_parts("input", i, layer(i).input);
    const std::optional<NodeId> weights = fetch(i, is_new_step);
    const NodeId done = chain_on(weights, compute(i, phase_));
    if (is_new_step && layer(i).weights > 0) first_uses_.push_back({done, table_of(i)});
    if (is_cut_row(i)) sum_parts("output", i, layer(i).output);
    if (ends_experts(i)) exchange_tokens("results", i, layer(i).output);
  }

  void backward(std::uint32_t m) {
    phase_ = StepPhase::kInputGradient;
    if (!is_last()) chain(message(false, rank_ + stage_ranks(), 2 * m + 1, layers_.end - 1));
    const bool is_last_time = m + 1 == plan_.microbatches;
    for (std::size_t i = layers_.end; i-- > layers_.begin;) {
      const NodeId gradient = backward_layer(i);
      if (!updates(layer(i), plan_)) continue;
      if (is_last_time) updated_by_[i] = gradient;
      if (is_last_time || plan_.shards_weights) fill_bucket(i, gradient);
    }
    for (Bucket& bucket : buckets_) reduce(bucket);
    if (!is_first()) send(rank_ - stage_ranks(), 2 * m + 1, layers_.begin - 1);
  }

  /// The task that ends the gradient of the layer's weights.
  NodeId backward_layer(std::size_t i) {
    if (ends_experts(i)) exchange_tokens("result gradients", i, layer(i).output);
    if (is_cut_row(i)) gather_parts("output gradient", i, layer(i).output);
    std::optional<NodeId> input;  // of a cut sequence, gathered once more for the gradient of the weights
    if (is_cut_column(i) && gathers()) {
      Task task = in_tensor_group("input again", i, CollectiveKind::kAllGather, layer(i).input);
      task.after = chain_;
      input = add(std::move(task));
    }
    std::optional<NodeId> weights = fetch(i, false);
    std::vector<NodeId> passed;  // what brings the input gradient on, beside the gradient of the weights
    if (i > 0) {
      chain_on(std::exchange(weights, {}), compute(i, StepPhase::kInputGradient));
      const std::vector<NodeId> computed = chain_;
      if (is_cut_column(i)) sum_parts("input gradient", i, layer(i).input);
      if (begins_experts(i)) exchange_tokens("token gradients", i, layer(i).input);
      if (chain_ != computed) passed = std::exchange(chain_, computed);
    }
    Task task = compute(i, StepPhase::kWeightGradient);
    if (input) task.after.push_back(*input);
    const NodeId gradient = chain_on(weights, std::move(task));
    chain_.insert(chain_.end(), passed.begin(), passed.end());
    return gradient;
  }

  /// Gradients are reduced over the copies of their weights when they fill a bucket.
  void fill_bucket(std::size_t i, NodeId gradient) {
    if (plan_.copies(layer(i)) == 1) return;
    Bucket& bucket = buckets_[layer(i).experts > 0 ? 1 : 0];
    bucket.layers.push_back(i);
    bucket.bytes += weight_bytes(i, request_.gradients);
    bucket.newest = gradient;
    if (bucket.bytes >= request_.bucket.count) reduce(bucket);
  }
  void reduce(Bucket& bucket) {
    if (bucket.layers.empty()) return;
    const std::string& first = layer(bucket.layers.front()).name;
    Task task = collective(bucket.layers.size() == 1
                               ? first + " gradients"
                               : fmt::format("{} to {} gradients", first, layer(bucket.layers.back()).name),
                           plan_.shards_weights ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
                           data_groups(bucket.layers.front()), {bucket.bytes});
    task.phase = StepPhase::kWeightGradient;
    task.collective->what.type = request_.gradients;
    task.after.push_back(bucket.newest);
    const NodeId id = add(std::move(task));
    for (const std::size_t i : bucket.layers) updated_by_[i] = id;
    bucket = {};
  }

  /// First and last stage add up what they have of the gradient of the table of words, when all else is done: a stage
  /// that stopped for it earlier would keep the other one waiting.
  void reduce_words() {
    if (!shares_words(model_, plan_) || (!is_first() && !is_last())) return;
    const std::size_t table = is_first() ? 0 : model_.layers.size() - 1;
    const std::int64_t bytes = weight_bytes(table, request_.gradients);
    const std::int64_t shards = plan_.shards(layer(table));
    Task task = collective("words of both ends", CollectiveKind::kAllReduce, ParallelGroups::kWords,
                           {(bytes + shards - 1) / shards});
    task.phase = StepPhase::kWeightGradient;
    task.collective->what.type = request_.gradients;
    task.after = chain_;
    task.after.push_back(*updated_by_[table]);
    updated_by_[table] = add(std::move(task));
  }

  const LayeredModel& model_;
  const ModelRequest& request_;
  const ParallelPlan& plan_;
  std::uint32_t rank_;
  std::uint32_t stage_;
  Stage layers_;
  double samples_;  // of a micro-batch
  TaskProgram program_;
  StepPhase phase_ = StepPhase::kForward;
  std::vector<NodeId> chain_;                    // what the next task of the chain waits for
  std::array<std::optional<NodeId>, 2> recent_;  // the last two tasks that worked on fetched weights
  std::vector<Use> first_uses_;
  std::vector<std::optional<NodeId>> updated_by_;  // per layer: what ends its gradient
  std::array<Bucket, 2> buckets_;                  // of all copies, and of those of the same experts
};

}  // namespace

bool shares_words(const LayeredModel& model, const ParallelPlan& plan) {
  return plan.pipeline > 1 && !model.layers.back().owns_weights;
}

TaskProgram parallel_program(const LayeredModel& model, const ModelRequest& request, const ParallelPlan& plan,
                             std::uint32_t rank) {
  return ProgramWriter(model, request, plan, rank).write();
}

}  // namespace hocket
