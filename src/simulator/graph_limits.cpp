#include "simulator/graph_limits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "simulator/step_plans.h"

namespace hocket {
namespace {

constexpr std::uint64_t kInstancesMax = std::uint64_t{1} << 26;
constexpr double kPiecesMax = double{1 << 26};

Result<void> check_rates(const TaskGraph& graph, const StepMachine& machine) {
  for (const TaskProgram& program : graph.programs) {
    for (const Task& task : program.tasks) {
      const WorkCompute& c = task.compute;
      if (task.collective || task.message || c.stated || c.flops <= 0) continue;
      if (machine.platform.endpoint.rates[static_cast<std::size_t>(c.type)]) continue;
      return fail(Code::kUnsupported, "{}: {} '{}' computes in {}, platform '{}' has no rate for it", program.origin,
                  task.place, task.name, name_of(c.type), machine.platform.name);
    }
  }
  return {};
}

/// Chunks of a collective, or segments of a message.
double pieces_of(const Task& task, const CommunicationEngine& engine) {
  if (!task.collective && !task.message) return 0;
  const Bytes bytes = task.collective ? task.collective->what.bytes : task.message->bytes;
  const Bytes piece = task.collective ? chunk_bytes(engine) : message_bytes(engine);
  return std::ceil(static_cast<double>(bytes.count) / static_cast<double>(piece.count));
}

}  // namespace

Result<void> check_step(const TaskGraph& graph, const StepMachine& machine, const StepOptions& options) {
  if (options.steps == 0) return fail(Code::kInvalidArgument, "0 steps: at least one is simulated");
  const auto tied = [](const Task& task) { return !task.after_previous.empty(); };
  const bool repeats = std::all_of(graph.programs.begin(), graph.programs.end(), [&](const TaskProgram& program) {
    return program.tasks.empty() || std::any_of(program.tasks.begin(), program.tasks.end(), tied);
  });
  if (options.steps > 1 && !repeats) {
    return fail(Code::kInvalidArgument,
                "{} steps of '{}': it does not say what the next step waits for, one is simulated", options.steps,
                graph.name);
  }
  return check_rates(graph, machine);
}

Result<void> check_size(const TaskGraph& graph, const StepMachine& machine, const StepOptions& options,
                        Counted counted) {
  std::vector<std::uint64_t> times(graph.programs.size(), 0);
  for (const std::uint32_t p : graph.program_of) {
    if (times[p] == 0 || counted == Counted::kEveryRank) times[p] += options.steps;
  }
  std::uint64_t instances = 0;
  double pieces = 0, most = 0;
  std::string largest;
  for (std::size_t p = 0; p < graph.programs.size(); ++p) {
    const TaskProgram& program = graph.programs[p];
    instances += program.tasks.size() * times[p];
    for (const Task& task : program.tasks) {
      const double own = times[p] == 0 ? 0 : pieces_of(task, machine.engine);
      pieces += own * static_cast<double>(times[p]);
      if (own <= most) continue;
      most = own;
      largest =
          fmt::format("{}: {} '{}': {} {} of {}", program.origin, task.place, task.name.substr(0, 60), own,
                      task.collective ? "chunks" : "segments",
                      format_bytes(task.collective ? chunk_bytes(machine.engine) : message_bytes(machine.engine)));
    }
  }
  if (pieces > kPiecesMax)
    return fail(Code::kResourceExhausted, "{}, {} in all: at most {} are simulated", largest, pieces, kPiecesMax);
  const std::uint64_t ranks = std::accumulate(times.begin(), times.end(), std::uint64_t{0}) / options.steps;
  if (instances <= kInstancesMax) return {};
  return fail(Code::kResourceExhausted, "{} tasks of {} ranks in {} steps: at most {} are simulated", instances, ranks,
              options.steps, kInstancesMax);
}

}  // namespace hocket
