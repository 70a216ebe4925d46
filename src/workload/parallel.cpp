#include "workload/parallel.h"

#include <algorithm>

#include "workload/memory.h"
#include "workload/parallel_parts.h"
#include "workload/parallel_program.h"

namespace hocket {
namespace {

/// "bert, llama2_7b": the built-in models that `has` says yes to.
template <class Has>
std::string models_with(const Has& has) {
  std::vector<std::string_view> names;
  names.reserve(workload_models().size());
  for (const WorkloadModel* model : workload_models()) {
    const std::vector<ModelLayer> layers = model->layers({.batch = 1, .sequence = model->sequence});
    if (std::any_of(layers.begin(), layers.end(), has)) names.push_back(model->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What the model must have for what is asked.
Result<void> check_model(const LayeredModel& model, const ParallelPlan& plan) {
  if (blocks_of(model) == 0) {
    const std::string asked = plan.tensor > 1        ? fmt::format("tp {}", plan.tensor)
                              : plan.pipeline > 1    ? fmt::format("pp {}", plan.pipeline)
                              : plan.splits_sequence ? "sp"
                                                     : "";
    if (!asked.empty()) {
      return fail(Code::kUnsupported, "{}: '{}' has no blocks of matrices to cut; models that have: {}", asked,
                  model.name, models_with([](const ModelLayer& l) { return l.block > 0; }));
    }
  }
  const auto has_experts = [](const ModelLayer& l) { return l.experts > 0; };
  if (plan.expert == 1 || std::any_of(model.layers.begin(), model.layers.end(), has_experts)) return {};
  return fail(Code::kUnsupported, "ep {}: '{}' has no experts; models that have: {}", plan.expert, model.name,
              models_with(has_experts));
}

Result<void> check_layers(const LayeredModel& model, const ParallelPlan& plan) {
  for (const ModelLayer& layer : model.layers) {
    if (layer.cut_width % plan.tensor != 0) {
      return fail(Code::kMismatch, "tp {} does not divide the {} heads or columns of '{}' in {}", plan.tensor,
                  layer.cut_width, layer.name, model.name);
    }
    if (layer.experts % plan.expert != 0)
      return fail(Code::kMismatch, "ep {} does not divide the {} experts of {}", plan.expert, layer.experts,
                  model.name);
  }
  return {};
}

Result<void> check_amounts(const LayeredModel& model, const ModelRequest& request, const ParallelPlan& plan) {
  if (plan.data % plan.expert != 0)
    return fail(Code::kMismatch, "ep {} does not divide the {} copies of dp", plan.expert, plan.data);
  if (plan.splits_sequence && request.sequence % plan.tensor != 0)
    return fail(Code::kMismatch, "sp: tp {} does not divide the {} tokens of a sample", plan.tensor, request.sequence);
  const std::uint32_t blocks = blocks_of(model);
  if (plan.pipeline > 1 && plan.pipeline > blocks)
    return fail(Code::kMismatch, "pp {}: '{}' has {} blocks", plan.pipeline, model.name, blocks);
  if (request.batch % plan.microbatches == 0) return {};
  return fail(Code::kMismatch, "{} micro-batches{} do not divide a batch of {}", plan.microbatches,
              plan.microbatches == plan.pipeline ? " (as many as stages, unless told otherwise)" : "", request.batch);
}

std::uint32_t rank_of(const ParallelPlan& plan, std::uint32_t stage, std::uint32_t copy, std::uint32_t part) {
  return (stage * plan.data + copy) * plan.tensor + part;
}

std::vector<RankDivision> divisions_of(const LayeredModel& model, const ParallelPlan& plan) {
  const std::uint32_t groups_of_copies = plan.data / plan.expert;
  const std::uint32_t rows = plan.pipeline * plan.data;
  RankDivision tensor{"tp", std::vector<std::vector<std::uint32_t>>(rows)};
  RankDivision data{"dp", std::vector<std::vector<std::uint32_t>>(plan.pipeline * plan.tensor)};
  RankDivision expert{"ep", std::vector<std::vector<std::uint32_t>>(plan.pipeline * plan.tensor * groups_of_copies)};
  RankDivision expert_data{"edp", std::vector<std::vector<std::uint32_t>>(plan.pipeline * plan.tensor * plan.expert)};
  RankDivision words{"words", {}};
  for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
    for (std::uint32_t copy = 0; copy < plan.data; ++copy) {
      for (std::uint32_t part = 0; part < plan.tensor; ++part) {
        const std::uint32_t rank = rank_of(plan, stage, copy, part);
        const std::uint32_t column = stage * plan.tensor + part;
        tensor.groups[stage * plan.data + copy].push_back(rank);
        data.groups[column].push_back(rank);
        expert.groups[column * groups_of_copies + copy / plan.expert].push_back(rank);
        expert_data.groups[column * plan.expert + copy % plan.expert].push_back(rank);
        if (stage == 0 && shares_words(model, plan))
          words.groups.push_back({rank, rank_of(plan, plan.pipeline - 1, copy, part)});
      }
    }
  }
  return {std::move(tensor), std::move(data), std::move(expert), std::move(expert_data), std::move(words)};
}

/// Divisions in which nothing is called are left out, and the others numbered anew.
void drop_unused(TaskGraph& graph) {
  std::vector<bool> used(graph.divisions.size(), false);
  for (const TaskProgram& program : graph.programs) {
    for (const Task& task : program.tasks) {
      if (task.collective) used[task.collective->division] = true;
    }
  }
  std::vector<std::uint32_t> number(used.size(), 0);
  std::vector<RankDivision> kept;
  kept.reserve(used.size());
  for (std::size_t d = 0; d < used.size(); ++d) {
    number[d] = static_cast<std::uint32_t>(kept.size());
    if (used[d]) kept.push_back(std::move(graph.divisions[d]));
  }
  graph.divisions = std::move(kept);
  for (TaskProgram& program : graph.programs) {
    for (Task& task : program.tasks) {
      if (task.collective) task.collective->division = number[task.collective->division];
    }
  }
}

WorkMemory stage_memory(const LayeredModel& model, const ModelRequest& request, const ParallelPlan& plan,
                        std::uint32_t stage) {
  const Stage layers = stages_of(model, plan.pipeline)[stage];
  double weights = 0, kept = 0, whole = 0;
  for (std::size_t i = layers.begin; i < layers.end; ++i) {
    const ModelLayer& layer = model.layers[i];
    const double part = part_of(layer, plan).weights;
    if (updates(layer, plan)) weights += part / plan.shards(layer);
    if (plan.shards(layer) > 1) whole = std::max(whole, part);
    kept += kept_of(layer, plan);
  }
  const auto compute = static_cast<double>(size_of(request.compute));
  const auto gradient = static_cast<double>(size_of(request.gradients));
  const double held = std::min(plan.microbatches, plan.pipeline - stage);
  return {.parameters = (weights + 2 * whole) * compute,
          .gradients = (weights + whole) * gradient,
          .optimizer = weights * optimizer_bytes(request.optimizer.value_or(Optimizer::kAdam), request.compute),
          .activations = held * request.batch / plan.microbatches * kept * compute};
}

}  // namespace

std::string ParallelPlan::text() const {
  std::vector<std::string> words;
  if (tensor > 1) words.push_back(fmt::format("tp {}{}", tensor, splits_sequence ? " with the sequence" : ""));
  if (pipeline > 1) words.push_back(fmt::format("pp {}", pipeline));
  words.push_back(fmt::format("dp {}{}", data, shards_weights ? " with sharded weights" : ""));
  if (expert > 1) words.push_back(fmt::format("ep {}", expert));
  if (microbatches > 1) words.push_back(fmt::format("{} micro-batches", microbatches));
  return fmt::format("{}", fmt::join(words, ", "));
}

Result<ParallelPlan> plan_parallel(const LayeredModel& model, const ModelRequest& request, const ParallelPlan& asked,
                                   std::uint32_t ranks) {
  ParallelPlan plan = asked;
  if (plan.tensor == 0 || plan.pipeline == 0 || plan.expert == 0) {
    return fail(Code::kInvalidArgument, "tp {}, pp {}, ep {}: each is 1 or more", plan.tensor, plan.pipeline,
                plan.expert);
  }
  const std::uint64_t of_a_copy = std::uint64_t{plan.tensor} * plan.pipeline;
  if (ranks % of_a_copy != 0) {
    return fail(Code::kMismatch, "tp {} x pp {} = {} ranks of a copy do not divide the {} ranks of the platform",
                plan.tensor, plan.pipeline, of_a_copy, ranks);
  }
  plan.data = static_cast<std::uint32_t>(ranks / of_a_copy);
  if (plan.microbatches == 0) plan.microbatches = plan.pipeline;
  HOCKET_TRY(check_model(model, plan));
  HOCKET_TRY(check_layers(model, plan));
  HOCKET_TRY(check_amounts(model, request, plan));
  return plan;
}

TaskGraph parallel_graph(const LayeredModel& model, const ModelRequest& request, const ParallelPlan& plan) {
  TaskGraph graph{model.name, model.source, divisions_of(model, plan), {}, {}};
  const std::uint32_t ranks = plan.tensor * plan.pipeline * plan.data;
  // Without stages nobody names a peer, and one program is everybody's.
  const std::uint32_t programs = plan.pipeline == 1 ? 1 : ranks;
  graph.programs.reserve(programs);
  for (std::uint32_t rank = 0; rank < programs; ++rank)
    graph.programs.push_back(parallel_program(model, request, plan, rank));
  graph.program_of.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) graph.program_of.push_back(programs == 1 ? 0 : rank);
  drop_unused(graph);
  graph.memory = parallel_memory(model, request, plan);
  return graph;
}

WorkMemory parallel_memory(const LayeredModel& model, const ModelRequest& request, const ParallelPlan& plan) {
  WorkMemory most;
  for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
    const WorkMemory memory = stage_memory(model, request, plan, stage);
    if (memory.total() > most.total()) most = memory;
  }
  return most;
}

}  // namespace hocket
