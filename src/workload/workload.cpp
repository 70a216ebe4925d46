#include "workload/workload.h"

#include <array>
#include <cmath>

namespace hocket {
namespace {

Result<void> check_amounts(const Workload& workload, const WorkNode& node) {
  const WorkCompute& c = node.compute;
  const double stated = c.stated ? c.stated->value : 0;
  for (const double amount : {c.flops, c.memory_bytes, stated}) {
    if (std::isfinite(amount) && amount >= 0) continue;
    return fail(Code::kMalformed, "workload '{}', node '{}': {} is no amount of work", workload.name, node.name,
                amount);
  }
  if (node.collective && node.collective->bytes.count < 0) {
    return fail(Code::kMalformed, "workload '{}', node '{}': {} bytes", workload.name, node.name,
                node.collective->bytes.count);
  }
  return {};
}

Result<void> check_dependencies(const Workload& workload, const WorkNode& node) {
  for (const std::vector<NodeId>* list : {&node.after, &node.after_previous}) {
    for (const NodeId on : *list) {
      if (on < workload.nodes.size()) continue;
      return fail(Code::kMalformed, "workload '{}', node '{}' waits for node {}, there are {}", workload.name,
                  node.name, on, workload.nodes.size());
    }
  }
  return {};
}

/// Takes away nodes that wait for nothing until none is left, or what is left waits in a circle.
Result<void> check_cycles(const Workload& workload) {
  const std::size_t count = workload.nodes.size();
  std::vector<std::vector<NodeId>> later(count);
  std::vector<std::size_t> waits(count);
  std::vector<NodeId> ready;
  for (NodeId id = 0; id < count; ++id) {
    waits[id] = workload.nodes[id].after.size();
    for (const NodeId on : workload.nodes[id].after) later[on].push_back(id);
    if (waits[id] == 0) ready.push_back(id);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    for (const NodeId id : later[ready[next]]) {
      if (--waits[id] == 0) ready.push_back(id);
    }
  }
  if (ready.size() == count) return {};
  for (NodeId id = 0; id < count; ++id) {
    if (waits[id] == 0) continue;
    return fail(Code::kMalformed, "workload '{}': {} nodes wait for one another in a circle, node '{}' among them",
                workload.name, count - ready.size(), workload.nodes[id].name);
  }
  return {};
}

}  // namespace

std::string_view name_of(StepPhase phase) {
  constexpr std::array<std::string_view, 4> kNames{"forward", "input_gradient", "weight_gradient", "update"};
  return kNames[static_cast<std::size_t>(phase)];
}

double Workload::collective_bytes() const {
  double bytes = 0;
  for (const WorkNode& node : nodes) bytes += node.collective ? static_cast<double>(node.collective->bytes.count) : 0;
  return bytes;
}

Result<void> validate(const Workload& workload) {
  if (workload.nodes.empty()) return fail(Code::kMalformed, "workload '{}' has no nodes", workload.name);
  for (const WorkNode& node : workload.nodes) {
    HOCKET_TRY(check_amounts(workload, node));
    HOCKET_TRY(check_dependencies(workload, node));
  }
  return check_cycles(workload);
}

}  // namespace hocket
