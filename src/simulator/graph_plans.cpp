#include "simulator/graph_plans.h"

#include <algorithm>

namespace hocket {
namespace {

constexpr std::uint32_t kNoCall = UINT32_MAX;

bool equal(const WorkCollective& a, const WorkCollective& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.type == b.type;
}

bool equal(const Topology& a, const Topology& b) {
  return a.fingerprint() == b.fingerprint() && std::ranges::equal(a.extents(), b.extents());
}

Bytes largest_of(const std::vector<WorkCollective>& collectives, CollectiveKind kind) {
  Bytes largest;
  for (const WorkCollective& c : collectives) {
    if (c.kind == kind) largest = std::max(largest, c.bytes);
  }
  return largest;
}

}  // namespace

void GraphPlans::number_calls(const TaskGraph& graph) {
  for (const TaskProgram& program : graph.programs) {
    calls_.emplace_back(graph.divisions.size());
    call_of_.emplace_back(program.tasks.size(), kNoCall);
    for (NodeId id = 0; id < program.tasks.size(); ++id) {
      if (!program.tasks[id].collective) continue;
      std::vector<NodeId>& calls = calls_.back()[program.tasks[id].collective->division];
      call_of_.back()[id] = static_cast<std::uint32_t>(calls.size());
      calls.push_back(id);
    }
  }
}

void GraphPlans::number_groups(const TaskGraph& graph) {
  for (std::uint32_t d = 0; d < graph.divisions.size(); ++d) {
    std::vector<std::uint32_t>& group_of = group_of_.emplace_back(graph.ranks(), kNoGroup);
    std::vector<std::uint32_t>& member_of = member_of_.emplace_back(graph.ranks(), 0);
    for (const std::vector<std::uint32_t>& members : graph.divisions[d].groups) {
      for (std::uint32_t i = 0; i < members.size(); ++i) {
        group_of[members[i]] = static_cast<std::uint32_t>(groups_.size());
        member_of[members[i]] = i;
      }
      groups_.push_back({.division = d, .members = members, .network = nullptr, .calls = {}});
    }
  }
  kind_of_group_.assign(groups_.size(), nullptr);
}

bool GraphPlans::may_be_alike(const TaskGraph& graph, const Topology& topology) {
  if (graph.programs.size() != 1 || graph.has_messages()) return false;
  const bool star = is_star(topology);
  return std::all_of(graph.divisions.begin(), graph.divisions.end(), [&](const RankDivision& division) {
    if (division.groups.empty()) return false;
    const std::size_t size = division.groups.front().size();
    const bool alike = std::all_of(division.groups.begin(), division.groups.end(),
                                   [&](const auto& group) { return group.size() == size; });
    return alike && size * division.groups.size() == graph.ranks() && (star || size == graph.ranks());
  });
}

GraphPlans::NetworkKind& GraphPlans::kind_of(const Topology& network) {
  for (NetworkKind& kind : kinds_) {
    if (equal(*kind.topology, network)) return kind;
  }
  return kinds_.emplace_back(NetworkKind{&network, {}, std::nullopt});
}

Result<void> GraphPlans::add_networks(const Request& request) {
  const TaskGraph& graph = request.graph;
  Router router(request.machine.topology);
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    PlannedGroup& group = groups_[g];
    const std::uint32_t program = graph.program_of[group.members.front()];
    const bool others = folded_ && group.members.front() != 0;
    if (others || calls_[program][group.division].empty()) continue;
    HOCKET_TRY_ASSIGN(GroupNetwork network, group_network(request.machine.topology, group.members, router));
    group.network = &networks_.emplace_back(std::move(network));
    NetworkKind& kind = kind_of(group.network->topology);
    kind_of_group_[g] = &kind;
    for (const NodeId id : calls_[program][group.division]) {
      const WorkCollective& what = graph.programs[program].tasks[id].collective->what;
      const bool known = std::any_of(kind.collectives.begin(), kind.collectives.end(),
                                     [&](const WorkCollective& c) { return equal(c, what); });
      if (!known) kind.collectives.push_back(what);
    }
  }
  return {};
}

Result<void> GraphPlans::plan_kinds(const Request& request) {
  for (NetworkKind& kind : kinds_) {
    Workload workload{request.graph.name, request.graph.source, {}};
    workload.nodes.reserve(kind.collectives.size());
    for (const WorkCollective& what : kind.collectives)
      workload.nodes.push_back({.name = std::string(name_of(what.kind)), .collective = what});
    const StepMachine machine{request.machine.platform, *kind.topology, request.machine.engine};
    const ScheduleChooser choose = [&](const Collective& collective) {
      return request.choose(collective, *kind.topology, largest_of(kind.collectives, collective.kind));
    };
    HOCKET_TRY_ASSIGN(StepPlans plans, StepPlans::make(workload, machine, choose));
    kind.plans.emplace(std::move(plans));
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    if (kind_of_group_[g] == nullptr) continue;
    const NetworkKind& kind = *kind_of_group_[g];
    const std::uint32_t program = request.graph.program_of[groups_[g].members.front()];
    for (const NodeId id : calls_[program][groups_[g].division]) {
      const WorkCollective& what = request.graph.programs[program].tasks[id].collective->what;
      NodeId at = 0;
      while (!equal(kind.collectives[at], what)) ++at;
      groups_[g].calls.push_back(&kind.plans->of(at));
    }
  }
  return {};
}

/// Alike only where every shape is.
void GraphPlans::find_symmetries(const StepMachine& machine) {
  const bool star = is_star(machine.topology);
  for (const NetworkKind& kind : kinds_) {
    for (NodeId node = 0; node < kind.collectives.size(); ++node) {
      const ChunkedCollective& cut = kind.plans->of(node);
      for (const ChunkShape* shape : {cut.shape, cut.rest}) {
        if (shape == nullptr || shape->symmetry || star_symmetries_.contains(shape)) continue;
        auto found =
            star ? RankSymmetry::find_on_star(shape->plan.schedule(), *kind.topology, shape->routes, shape->costs)
                 : std::nullopt;
        if (found) {
          star_symmetries_.emplace(shape, std::move(*found));
        } else {
          alike_ = false;
        }
      }
    }
  }
}

Result<GraphPlans> GraphPlans::make(const Request& request) {
  const std::uint32_t ranks = request.machine.topology.rank_count();
  if (request.graph.ranks() != ranks) {
    return fail(Code::kMismatch, "'{}' is for {} ranks, platform '{}' has {}", request.graph.name,
                request.graph.ranks(), request.machine.platform.name, ranks);
  }
  GraphPlans plans;
  plans.number_calls(request.graph);
  plans.number_groups(request.graph);
  plans.alike_ = request.machine.platform.exceptions.empty() && may_be_alike(request.graph, request.machine.topology);
  plans.folded_ = plans.alike_ && request.fold;
  HOCKET_TRY(plans.add_networks(request));
  HOCKET_TRY(plans.plan_kinds(request));
  plans.number_algorithms();
  if (plans.alike_) plans.find_symmetries(request.machine);
  if (plans.alike_ || !plans.folded_) return plans;
  return make({request.graph, request.machine, request.choose, false});
}

std::map<std::string, std::string> GraphPlans::algorithms(const TaskGraph& graph) const {
  std::map<std::string, std::string> found;
  for (const PlannedGroup& group : groups_) {
    for (const ChunkedCollective* cut : group.calls) {
      const ChunkShape* const shape = cut->shape != nullptr ? cut->shape : cut->rest;
      if (shape == nullptr) continue;
      const Schedule& schedule = shape->plan.schedule();
      found.emplace(
          fmt::format("{} in '{}'", name_of(schedule.collective().kind), graph.divisions[group.division].name),
          schedule.algorithm());
    }
  }
  return found;
}

const RankSymmetry* GraphPlans::symmetry(const ChunkShape& shape) const {
  if (shape.symmetry) return &*shape.symmetry;
  const auto found = star_symmetries_.find(&shape);
  return found != star_symmetries_.end() ? &found->second : nullptr;
}

void GraphPlans::number_algorithms() {
  for (const NetworkKind& kind : kinds_) {
    for (const ChunkShape& shape : kind.plans->shapes()) {
      const auto same = std::find_if(running_.begin(), running_.end(), [&](const ChunkShape* known) {
        return &known->plan.schedule() == &shape.plan.schedule();
      });
      algorithm_of_.emplace(&shape, static_cast<std::uint32_t>(same - running_.begin()));
      if (same == running_.end()) {
        running_.push_back(&shape);
      } else if (shape.held[0] > (*same)->held[0]) {
        *same = &shape;
      }
    }
  }
}

}  // namespace hocket
