// hocket's own workload YAML, for `hocket doctor`: what its ranks do, and whether it comes back the same when written.
#include "exchange/file_kind.h"
#include "exchange/workload_yaml.h"

namespace hocket {
namespace {

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const TaskGraph graph, read_workload_yaml(bytes, file_name));
  Examination result;
  std::size_t tasks = 0, collectives = 0, messages = 0;
  for (const TaskProgram& program : graph.programs) {
    tasks += program.tasks.size();
    for (const Task& task : program.tasks) {
      collectives += task.collective ? 1 : 0;
      messages += task.message ? 1 : 0;
    }
  }
  result.ranks = graph.ranks();
  result.contents = {fmt::format("{} ranks, {} programs, {} divisions into groups", graph.ranks(),
                                 graph.programs.size(), graph.divisions.size()),
                     fmt::format("{} tasks, {} collectives and {} messages among them", tasks, collectives, messages)};
  HOCKET_TRY_ASSIGN(const std::string written, write_workload_yaml(graph));
  HOCKET_TRY_ASSIGN(const TaskGraph again, read_workload_yaml(written, "the copy"));
  HOCKET_TRY_ASSIGN(const std::string twice, write_workload_yaml(again));
  result.round_trip = written == twice ? RoundTrip::kSame : RoundTrip::kDiffers;
  result.round_trip_text = "written and read again: every task";
  return result;
}

}  // namespace

extern const FileKind file_kind_hocket_workload{
    .name = "hocket-workload",
    .description = "a workload (tasks of every rank)",
    .not_a_topology = "; it says what the ranks compute and send, not what joins them",
    .recognise = looks_like_workload_yaml,
    .examine = examine,
};

}  // namespace hocket
