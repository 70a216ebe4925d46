// DLRM (Naumov et al., 2019) in the shape of MLPerf's Criteo model: bottom and top perceptron data-parallel, 26 tables
// of vectors of 128 spread over the ranks. Every rank looks up its tables for the whole global batch; an all-to-all
// brings the vectors to where their samples are, another one brings the gradients back.
#include <iterator>

#include "workload/layers.h"

namespace hocket {
namespace {

constexpr double kTables = 26;
constexpr double kVector = 128;
constexpr double kBottom[] = {13, 512, 256, 128};
constexpr double kTop[] = {479, 1024, 1024, 512, 256, 1};

template <std::size_t N>
void add_perceptron(std::vector<ModelLayer>& layers, std::string_view name, const double (&widths)[N]) {
  for (std::size_t i = 0; i + 1 < N; ++i)
    layers.push_back(fully_connected(fmt::format("{} {}", name, i + 1), widths[i], widths[i + 1]));
}

/// As many vectors pass a rank as its own samples ask for, whoever holds the tables.
WorkNode lookup(const ModelRequest& request, StepPhase phase, std::string_view name) {
  const double bytes = request.batch * kTables * kVector * 4;
  const double passes = phase == StepPhase::kForward ? 2 : 3;  // read and write; gradients are added to what is there
  return {.name = std::string(name), .phase = phase, .compute = {0, DataType::kF32, passes * bytes, {}}};
}

WorkNode exchange(const ModelRequest& request, StepPhase phase) {
  const auto bytes = static_cast<std::int64_t>(request.batch * kTables * kVector) * 4;
  return {.name = fmt::format("embeddings {}", name_of(phase)),
          .phase = phase,
          .collective = WorkCollective{CollectiveKind::kAllToAll, {bytes}, DataType::kF32}};
}

std::vector<ModelLayer> layers(const ModelRequest& /*request*/) {
  std::vector<ModelLayer> all;
  add_perceptron(all, "bottom", kBottom);
  add_perceptron(all, "top", kTop);
  return all;
}

void add_tables(Workload& w, const ModelRequest& request) {
  const auto add = [&](WorkNode node) {
    w.nodes.push_back(std::move(node));
    return static_cast<NodeId>(w.nodes.size() - 1);
  };
  // Forward: look up, exchange; the first layer of the top needs what arrives.
  const NodeId read = add(lookup(request, StepPhase::kForward, "lookup"));
  const NodeId forward = add(exchange(request, StepPhase::kForward));
  w.nodes[forward].after = {read};
  w.nodes[0].after.push_back(read);
  w.nodes[std::size(kBottom) - 1].after.push_back(forward);
  // Backward: the gradient of the top's first layer goes back to the tables, which are then updated.
  NodeId top_gradient = 0;
  for (NodeId id = 0; id < w.nodes.size(); ++id) {
    if (w.nodes[id].name == "top 1 input_gradient") top_gradient = id;
  }
  const NodeId backward = add(exchange(request, StepPhase::kInputGradient));
  w.nodes[backward].after = {top_gradient};
  const NodeId update = add(lookup(request, StepPhase::kUpdate, "table update"));
  w.nodes[update].after = {backward};
  w.nodes[read].after_previous = {update};
  w.memory.reset();  // the tables are most of it, and how many rows they have is the user's
}

}  // namespace

extern const WorkloadModel workload_dlrm{
    .name = "dlrm",
    .description = "DLRM in MLPerf's Criteo shape: perceptrons data-parallel, tables spread over the ranks",
    .source = "Naumov et al., arXiv 1906.00091; MLPerf training",
    .batch = 512,
    .sequence = 0,
    .layers = layers,
    .optimizer = Optimizer::kSgd,
    .extend = add_tables,
};

}  // namespace hocket
