// TaskGraph: what each rank does, as imported files say it: a graph of tasks per rank (compute, work of the host,
// collectives inside groups of ranks, messages to a peer). Ranks that do the same share a program. A collective names a
// division of the ranks into groups and runs in the group its rank is in; the k-th collective of a division on a rank
// meets the k-th of every other member. A message meets the next one of the same sender, receiver and tag.
// Ownership: owns its text and tasks. Threading: immutable once made. Refuses (validate): cycles, dependencies that do
// not exist, amounts that are none, collectives whose members disagree, messages that never meet: with file and node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace hocket {

/// Groups of ranks that do not overlap, each with its ranks ascending. A rank may be in none.
struct RankDivision {
  std::string name;
  std::vector<std::vector<std::uint32_t>> groups;
};

struct TaskCollective {
  WorkCollective what;
  std::uint32_t division = 0;
};

struct TaskMessage {
  bool sends = true;
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  Bytes bytes;
};

/// A task is compute, or a collective or a message when one of these is there.
struct Task {
  std::string name;
  std::string place;  // in its file: "node 12", "line 7"
  StepPhase phase = StepPhase::kForward;
  WorkCompute compute;
  bool on_host = false;  // compute beside the endpoint, of a stated time
  std::optional<TaskCollective> collective;
  std::optional<TaskMessage> message;
  std::vector<NodeId> after;           // of the same step
  std::vector<NodeId> after_previous;  // of the step before
};

struct TaskProgram {
  std::string origin;       // the file it comes from
  std::vector<Task> tasks;  // compute that is ready runs in this order
};

struct TaskGraph {
  std::string name;
  std::string source;
  std::vector<RankDivision> divisions;
  std::vector<TaskProgram> programs;
  std::vector<std::uint32_t> program_of;            // per rank
  std::optional<WorkMemory> memory = std::nullopt;  // of the rank that needs most, where it is known

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(program_of.size()); }
  [[nodiscard]] const TaskProgram& program(std::uint32_t rank) const { return programs[program_of[rank]]; }
  /// Bytes of all collectives that rank 0 takes part in, in one step.
  [[nodiscard]] double collective_bytes() const;
  [[nodiscard]] bool has_messages() const;
};

/// Per rank: the index of its group in the division, or kNoGroup.
inline constexpr std::uint32_t kNoGroup = UINT32_MAX;
[[nodiscard]] std::vector<std::uint32_t> groups_of_ranks(const RankDivision& division, std::uint32_t ranks);

/// Two messages that meet; ranks and the index of the task in the rank's program.
struct TaskMeeting {
  std::uint32_t sender = 0, receiver = 0;
  NodeId send = 0, receive = 0;
};
/// Requires that validate() found nothing.
[[nodiscard]] std::vector<TaskMeeting> meetings(const TaskGraph& graph);

[[nodiscard]] Result<void> validate(const TaskGraph& graph);

/// Whether some tasks wait for one another; dependencies must exist.
[[nodiscard]] bool has_circle(const TaskProgram& program);

/// The same work on every one of `ranks` ranks, its collectives over all of them.
[[nodiscard]] TaskGraph graph_of(const Workload& workload, std::uint32_t ranks);

}  // namespace hocket
