#include "workload/buckets.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hocket {
namespace {

using BucketKey = std::pair<std::uint32_t, DataType>;

std::vector<bool> waited_for(const TaskProgram& program) {
  std::vector<bool> waited(program.tasks.size(), false);
  for (const Task& task : program.tasks) {
    for (const NodeId on : task.after) waited[on] = true;
  }
  return waited;
}

bool sends_gradients(const Task& task) {
  return task.collective && task.phase == StepPhase::kWeightGradient &&
         task.collective->what.kind == CollectiveKind::kAllReduce;
}

/// Per task the one that sends it: itself, or the last of its bucket.
std::vector<NodeId> choose_buckets(const TaskProgram& program, Bytes bucket) {
  const std::vector<bool> waited = waited_for(program);
  std::vector<NodeId> sender(program.tasks.size());
  struct Open {
    std::vector<NodeId> members;
    std::int64_t bytes = 0;
  };
  std::map<BucketKey, Open> open;
  const auto close = [&](Open& gathered) {
    for (const NodeId member : gathered.members) sender[member] = gathered.members.back();
    gathered = {};
  };
  for (NodeId id = 0; id < program.tasks.size(); ++id) {
    const Task& task = program.tasks[id];
    sender[id] = id;
    if (!sends_gradients(task) || waited[id]) continue;
    Open& gathered = open[{task.collective->division, task.collective->what.type}];
    gathered.members.push_back(id);
    gathered.bytes += task.collective->what.bytes.count;
    if (gathered.bytes >= bucket.count) close(gathered);
  }
  for (auto& entry : open) {
    if (!entry.second.members.empty()) close(entry.second);
  }
  return sender;
}

void renumber(std::vector<NodeId>& list, const std::vector<NodeId>& number) {
  for (NodeId& id : list) id = number[id];
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

void gather(TaskProgram& program, Bytes bucket) {
  const std::vector<NodeId> sender = choose_buckets(program, bucket);
  std::vector<NodeId> number(sender.size());
  std::vector<std::uint32_t> members(sender.size(), 0);
  NodeId next = 0;
  for (NodeId id = 0; id < sender.size(); ++id) {
    if (sender[id] == id) number[id] = next++;
    ++members[sender[id]];
  }
  for (NodeId id = 0; id < sender.size(); ++id) {
    if (sender[id] == id) continue;
    number[id] = number[sender[id]];
    Task& one = program.tasks[id];
    Task& all = program.tasks[sender[id]];
    all.collective->what.bytes.count += one.collective->what.bytes.count;
    all.after.insert(all.after.end(), one.after.begin(), one.after.end());
    all.after_previous.insert(all.after_previous.end(), one.after_previous.begin(), one.after_previous.end());
  }
  std::vector<Task> kept;
  kept.reserve(next);
  for (NodeId id = 0; id < sender.size(); ++id) {
    if (sender[id] != id) continue;
    Task& task = program.tasks[id];
    renumber(task.after, number);
    renumber(task.after_previous, number);
    if (members[id] > 1) task.name = fmt::format("gradients of {} tasks", members[id]);
    kept.push_back(std::move(task));
  }
  program.tasks = std::move(kept);
}

}  // namespace

TaskGraph with_buckets(TaskGraph graph, Bytes bucket) {
  for (TaskProgram& program : graph.programs) gather(program, bucket);
  return graph;
}

}  // namespace hocket
