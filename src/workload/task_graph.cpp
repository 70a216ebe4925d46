#include "workload/task_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace hocket {
namespace {

constexpr double kTimeMax_s = 0x1p62 * 1e-12;

std::string short_place_of(const Task& task) { return fmt::format("{} '{}'", task.place, task.name.substr(0, 80)); }

std::string place_of(const TaskProgram& program, NodeId id) {
  return fmt::format("{}: {}", program.origin, short_place_of(program.tasks[id]));
}

Result<void> check_amounts(const TaskProgram& program, NodeId id) {
  const Task& task = program.tasks[id];
  const WorkCompute& c = task.compute;
  for (const double amount : {c.flops, c.memory_bytes, c.stated ? c.stated->value : 0}) {
    if (std::isfinite(amount) && amount >= 0) continue;
    return fail(Code::kMalformed, "{}: {} is no amount of work", place_of(program, id), amount);
  }
  if (c.stated && c.stated->value >= kTimeMax_s)
    return fail(Code::kMalformed, "{}: a time of {:.4g} s; simulated time ends at 2^62 ps ({:.4g} s)",
                place_of(program, id), c.stated->value, kTimeMax_s);
  if (task.on_host && !c.stated)
    return fail(Code::kMalformed, "{}: work of the host without a time", place_of(program, id));
  if (task.collective && task.message)
    return fail(Code::kMalformed, "{}: both a collective and a message", place_of(program, id));
  const std::int64_t bytes = task.collective ? task.collective->what.bytes.count : 0;
  const std::int64_t sent = task.message ? task.message->bytes.count : 0;
  if (bytes < 0 || sent < 0)
    return fail(Code::kMalformed, "{}: {} bytes", place_of(program, id), std::min(bytes, sent));
  return {};
}

Result<void> check_dependencies(const TaskProgram& program, NodeId id) {
  const Task& task = program.tasks[id];
  for (const std::vector<NodeId>* list : {&task.after, &task.after_previous}) {
    for (const NodeId on : *list) {
      if (on < program.tasks.size()) continue;
      return fail(Code::kMalformed, "{} waits for task {}, there are {}", place_of(program, id), on,
                  program.tasks.size());
    }
  }
  return {};
}

/// One circle among the tasks that are left waiting, from one of them back to it.
std::string circle(const TaskProgram& program, const std::vector<std::size_t>& waits) {
  constexpr std::size_t kNamedMax = 6;
  std::vector<std::uint32_t> seen(program.tasks.size(), 0);
  NodeId at = 0;
  while (waits[at] == 0) ++at;
  std::vector<NodeId> path;
  while (seen[at] == 0) {
    path.push_back(at);
    seen[at] = static_cast<std::uint32_t>(path.size());
    const std::vector<NodeId>& after = program.tasks[at].after;
    at = *std::find_if(after.begin(), after.end(), [&](NodeId on) { return waits[on] > 0; });
  }
  std::string text;
  std::size_t named = 0;
  for (std::size_t i = seen[at] - 1; i < path.size() && named < kNamedMax; ++i, ++named)
    text += short_place_of(program.tasks[path[i]]) + " -> ";
  return text + (named == kNamedMax ? "... -> " : "") + short_place_of(program.tasks[at]);
}

/// What is left to wait for when all that can run has run: per task, dependencies; none where nothing is left.
std::vector<std::size_t> waits_left(const TaskProgram& program) {
  const std::size_t count = program.tasks.size();
  std::vector<std::vector<NodeId>> later(count);
  std::vector<std::size_t> waits(count);
  std::vector<NodeId> ready;
  for (NodeId id = 0; id < count; ++id) {
    waits[id] = program.tasks[id].after.size();
    for (const NodeId on : program.tasks[id].after) later[on].push_back(id);
    if (waits[id] == 0) ready.push_back(id);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    for (const NodeId id : later[ready[next]]) {
      if (--waits[id] == 0) ready.push_back(id);
    }
  }
  return waits;
}

Result<void> check_cycles(const TaskProgram& program) {
  const std::vector<std::size_t> waits = waits_left(program);
  const auto left = std::count_if(waits.begin(), waits.end(), [](std::size_t w) { return w > 0; });
  if (left == 0) return {};
  return fail(Code::kMalformed, "{}: {} tasks wait for one another in a circle: {}", program.origin, left,
              circle(program, waits));
}

Result<void> check_divisions(const TaskGraph& graph) {
  for (const RankDivision& division : graph.divisions) {
    std::vector<bool> taken(graph.ranks(), false);
    for (const std::vector<std::uint32_t>& group : division.groups) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (group[i] >= graph.ranks()) {
          return fail(Code::kMismatch, "group '{}' of {}: rank {}, there are {}", division.name, graph.name, group[i],
                      graph.ranks());
        }
        if (taken[group[i]] || (i > 0 && group[i] <= group[i - 1]))
          return fail(Code::kMalformed, "group '{}' of {}: rank {} twice or out of order", division.name, graph.name,
                      group[i]);
        taken[group[i]] = true;
      }
    }
  }
  return {};
}

struct Call {
  std::uint32_t rank = 0;
  NodeId id = 0;
};

std::string call_text(const TaskGraph& graph, const Call& call) {
  const TaskProgram& program = graph.program(call.rank);
  const WorkCollective& what = program.tasks[call.id].collective->what;
  return fmt::format("rank {} calls {} of {} bytes ({})", call.rank, name_of(what.kind), what.bytes.count,
                     place_of(program, call.id));
}

/// The collectives of a program by division, in order.
std::vector<std::vector<NodeId>> calls_of(const TaskGraph& graph, const TaskProgram& program) {
  std::vector<std::vector<NodeId>> calls(graph.divisions.size());
  for (NodeId id = 0; id < program.tasks.size(); ++id) {
    if (program.tasks[id].collective) calls[program.tasks[id].collective->division].push_back(id);
  }
  return calls;
}

Result<void> compare_members(const TaskGraph& graph, const RankDivision& division,
                             const std::vector<std::uint32_t>& group,
                             const std::vector<const std::vector<NodeId>*>& calls) {
  const std::vector<NodeId>& first = *calls[group[0]];
  for (const std::uint32_t rank : group) {
    const std::vector<NodeId>& own = *calls[rank];
    if (graph.program_of[rank] == graph.program_of[group[0]]) continue;
    for (std::size_t k = 0; k < std::min(first.size(), own.size()); ++k) {
      const WorkCollective& a = graph.program(group[0]).tasks[first[k]].collective->what;
      const WorkCollective& b = graph.program(rank).tasks[own[k]].collective->what;
      if (a.kind == b.kind && a.bytes == b.bytes && a.type == b.type) continue;
      return fail(Code::kMismatch, "collective {} of group '{}': {}, {}", k + 1, division.name,
                  call_text(graph, {group[0], first[k]}), call_text(graph, {rank, own[k]}));
    }
    if (first.size() == own.size()) continue;
    const bool fewer = own.size() < first.size();
    const Call more = fewer ? Call{group[0], first[own.size()]} : Call{rank, own[first.size()]};
    return fail(Code::kMismatch,
                "group '{}': rank {} calls {} collectives ({}), rank {} calls {} ({}); {}, nobody meets it",
                division.name, group[0], first.size(), graph.program(group[0]).origin, rank, own.size(),
                graph.program(rank).origin, call_text(graph, more));
  }
  return {};
}

Result<void> check_collectives(const TaskGraph& graph) {
  std::vector<std::vector<std::vector<NodeId>>> by_program;
  by_program.reserve(graph.programs.size());
  for (const TaskProgram& program : graph.programs) {
    for (NodeId id = 0; id < program.tasks.size(); ++id) {
      const auto& collective = program.tasks[id].collective;
      if (collective && collective->division >= graph.divisions.size())
        return fail(Code::kMalformed, "{}: division {} of the ranks, there are {}", place_of(program, id),
                    collective->division, graph.divisions.size());
    }
    by_program.push_back(calls_of(graph, program));
  }
  for (std::uint32_t d = 0; d < graph.divisions.size(); ++d) {
    const std::vector<std::uint32_t> group_of = groups_of_ranks(graph.divisions[d], graph.ranks());
    std::vector<const std::vector<NodeId>*> calls(graph.ranks());
    for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
      calls[rank] = &by_program[graph.program_of[rank]][d];
      if (group_of[rank] != kNoGroup || calls[rank]->empty()) continue;
      return fail(Code::kMismatch, "{}, which it is no member of: group '{}'",
                  call_text(graph, {rank, calls[rank]->front()}), graph.divisions[d].name);
    }
    for (const std::vector<std::uint32_t>& group : graph.divisions[d].groups)
      HOCKET_TRY(compare_members(graph, graph.divisions[d], group, calls));
  }
  return {};
}

using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // sender, receiver, tag
struct Ends {
  std::vector<NodeId> sends, receives;
};

std::map<Connection, Ends> ends_of(const TaskGraph& graph) {
  std::map<Connection, Ends> ends;
  for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
    const TaskProgram& program = graph.program(rank);
    for (NodeId id = 0; id < program.tasks.size(); ++id) {
      const auto& m = program.tasks[id].message;
      if (!m) continue;
      if (m->sends) {
        ends[{rank, m->peer, m->tag}].sends.push_back(id);
      } else {
        ends[{m->peer, rank, m->tag}].receives.push_back(id);
      }
    }
  }
  return ends;
}

Result<void> check_peers(const TaskGraph& graph) {
  for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
    const TaskProgram& program = graph.program(rank);
    for (NodeId id = 0; id < program.tasks.size(); ++id) {
      const auto& m = program.tasks[id].message;
      if (!m || (m->peer < graph.ranks() && m->peer != rank)) continue;
      return fail(Code::kMismatch, "{}: rank {} names peer {}, there are {} ranks", place_of(program, id), rank,
                  m->peer, graph.ranks());
    }
  }
  return {};
}

/// Tags that the other end uses, for a message that meets nobody.
std::string other_tags(const std::map<Connection, Ends>& ends, std::uint32_t sender, std::uint32_t receiver,
                       bool sends) {
  constexpr std::size_t kNamedMax = 4;
  std::vector<std::string> tags;
  for (auto at = ends.lower_bound({sender, receiver, 0}); at != ends.end(); ++at) {
    if (std::get<0>(at->first) != sender || std::get<1>(at->first) != receiver || tags.size() == kNamedMax) break;
    if (!(sends ? at->second.sends : at->second.receives).empty())
      tags.push_back(fmt::format("{}", std::get<2>(at->first)));
  }
  return tags.empty() ? "none at all" : fmt::format("tags {}", fmt::join(tags, ", "));
}

Result<void> check_messages(const TaskGraph& graph) {
  HOCKET_TRY(check_peers(graph));
  const std::map<Connection, Ends> ends = ends_of(graph);
  for (const auto& entry : ends) {
    const auto [sender, receiver, tag] = entry.first;
    const Ends& both = entry.second;
    const TaskProgram& from = graph.program(sender);
    const TaskProgram& to = graph.program(receiver);
    for (std::size_t k = 0; k < std::min(both.sends.size(), both.receives.size()); ++k) {
      const std::int64_t sent = from.tasks[both.sends[k]].message->bytes.count;
      const std::int64_t taken = to.tasks[both.receives[k]].message->bytes.count;
      if (sent == taken) continue;
      return fail(Code::kMismatch, "message {} of rank {} to rank {} with tag {}: {} bytes sent ({}), {} expected ({})",
                  k + 1, sender, receiver, tag, sent, place_of(from, both.sends[k]), taken,
                  place_of(to, both.receives[k]));
    }
    if (both.sends.size() == both.receives.size()) continue;
    const bool lost = both.sends.size() > both.receives.size();
    const std::string who =
        lost ? place_of(from, both.sends[both.receives.size()]) : place_of(to, both.receives[both.sends.size()]);
    return fail(Code::kMismatch,
                "rank {} sends {} messages with tag {} to rank {}, which receives {} ({}): {} meets none; {} with {}",
                sender, both.sends.size(), tag, receiver, both.receives.size(), to.origin, who,
                lost ? "the receiver waits" : "the sender sends", other_tags(ends, sender, receiver, !lost));
  }
  return {};
}

}  // namespace

double TaskGraph::collective_bytes() const {
  double bytes = 0;
  for (const Task& task : program(0).tasks)
    bytes += task.collective ? static_cast<double>(task.collective->what.bytes.count) : 0;
  return bytes;
}

bool TaskGraph::has_messages() const {
  return std::any_of(programs.begin(), programs.end(), [](const TaskProgram& program) {
    return std::any_of(program.tasks.begin(), program.tasks.end(), [](const Task& t) { return t.message.has_value(); });
  });
}

bool has_circle(const TaskProgram& program) {
  const std::vector<std::size_t> waits = waits_left(program);
  return std::any_of(waits.begin(), waits.end(), [](std::size_t w) { return w > 0; });
}

std::vector<std::uint32_t> groups_of_ranks(const RankDivision& division, std::uint32_t ranks) {
  std::vector<std::uint32_t> group_of(ranks, kNoGroup);
  for (std::uint32_t g = 0; g < division.groups.size(); ++g) {
    for (const std::uint32_t rank : division.groups[g]) group_of[rank] = g;
  }
  return group_of;
}

std::vector<TaskMeeting> meetings(const TaskGraph& graph) {
  std::vector<TaskMeeting> found;
  for (const auto& [connection, ends] : ends_of(graph)) {
    for (std::size_t k = 0; k < ends.sends.size(); ++k)
      found.push_back({std::get<0>(connection), std::get<1>(connection), ends.sends[k], ends.receives[k]});
  }
  return found;
}

Result<void> validate(const TaskGraph& graph) {
  if (graph.program_of.empty()) return fail(Code::kMalformed, "'{}' has no ranks", graph.name);
  for (const std::uint32_t p : graph.program_of) {
    if (p >= graph.programs.size())
      return fail(Code::kMalformed, "'{}': program {}, there are {}", graph.name, p, graph.programs.size());
  }
  const auto is_idle = [&](std::uint32_t p) { return graph.programs[p].tasks.empty(); };
  if (std::all_of(graph.program_of.begin(), graph.program_of.end(), is_idle))
    return fail(Code::kMalformed, "{}: no rank of '{}' has anything to do", graph.program(0).origin, graph.name);
  for (const TaskProgram& program : graph.programs) {
    for (NodeId id = 0; id < program.tasks.size(); ++id) {
      HOCKET_TRY(check_amounts(program, id));
      HOCKET_TRY(check_dependencies(program, id));
    }
    HOCKET_TRY(check_cycles(program));
  }
  HOCKET_TRY(check_divisions(graph));
  HOCKET_TRY(check_collectives(graph));
  return check_messages(graph);
}

TaskGraph graph_of(const Workload& workload, std::uint32_t ranks) {
  TaskGraph graph{workload.name, workload.source, {{"all", {{}}}}, {{workload.name, {}}}, {}};
  graph.program_of.assign(ranks, 0);
  graph.memory = workload.memory;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) graph.divisions[0].groups[0].push_back(rank);
  for (const WorkNode& node : workload.nodes) {
    Task task{.name = node.name, .place = fmt::format("node {}", graph.programs[0].tasks.size()), .phase = node.phase};
    task.compute = node.compute;
    if (node.collective) task.collective = TaskCollective{*node.collective, 0};
    task.after = node.after;
    task.after_previous = node.after_previous;
    graph.programs[0].tasks.push_back(std::move(task));
  }
  return graph;
}

}  // namespace hocket
