#include "workload/placed_graphs.h"

#include <algorithm>

namespace hocket {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

Result<void> take_ranks(const PlacedGraph& job, std::size_t number, std::vector<std::size_t>& owner) {
  if (job.ranks.size() != job.graph.ranks()) {
    return fail(Code::kMismatch, "workload {} '{}' has {} ranks, its group {}", number, job.graph.name,
                job.graph.ranks(), job.ranks.size());
  }
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const std::uint32_t rank = job.ranks[i];
    if (rank >= owner.size())
      return fail(Code::kMismatch, "workload {}: rank {}, there are {}", number, rank, owner.size());
    if (i > 0 && rank <= job.ranks[i - 1])
      return fail(Code::kMalformed, "workload {}: rank {} twice or out of order", number, rank);
    if (owner[rank] != 0)
      return fail(Code::kMismatch, "rank {} is in the groups of workloads {} and {}", rank, owner[rank], number);
    owner[rank] = number;
  }
  return {};
}

/// Its programs and divisions, in the numbers of the joined graph.
void add_job(TaskGraph& joined, const PlacedGraph& job, std::size_t number) {
  const auto first_division = static_cast<std::uint32_t>(joined.divisions.size());
  const auto first_program = static_cast<std::uint32_t>(joined.programs.size());
  for (const RankDivision& division : job.graph.divisions) {
    RankDivision placed{fmt::format("{}/{}", number, division.name), division.groups};
    for (std::vector<std::uint32_t>& group : placed.groups) {
      for (std::uint32_t& rank : group) rank = job.ranks[rank];
    }
    joined.divisions.push_back(std::move(placed));
  }
  for (const TaskProgram& program : job.graph.programs) {
    TaskProgram placed = program;
    placed.origin = fmt::format("{}/{}", number, program.origin);
    for (Task& task : placed.tasks) {
      if (task.collective) task.collective->division += first_division;
      if (task.message && task.message->peer < job.ranks.size()) task.message->peer = job.ranks[task.message->peer];
    }
    joined.programs.push_back(std::move(placed));
  }
  for (std::uint32_t rank = 0; rank < job.graph.ranks(); ++rank)
    joined.program_of[job.ranks[rank]] = first_program + job.graph.program_of[rank];
}

}  // namespace

Result<TaskGraph> join_graphs(std::span<const PlacedGraph> jobs, std::uint32_t ranks) {
  std::vector<std::size_t> owner(ranks, 0);
  TaskGraph joined{"", "", {}, {}, {}};
  joined.program_of.assign(ranks, kNobody);
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    HOCKET_TRY(take_ranks(jobs[k], k + 1, owner));
    add_job(joined, jobs[k], k + 1);
    joined.name += (k > 0 ? " beside " : "") + jobs[k].graph.name;
    joined.source += (k > 0 ? "; " : "") + jobs[k].graph.source;
  }
  if (std::count(owner.begin(), owner.end(), std::size_t{0}) == 0) return joined;
  Task nothing{.name = "nothing", .place = "node 0"};
  joined.programs.push_back({"nobody", {std::move(nothing)}});
  const auto idle = static_cast<std::uint32_t>(joined.programs.size() - 1);
  std::replace(joined.program_of.begin(), joined.program_of.end(), kNobody, idle);
  return joined;
}

}  // namespace hocket
