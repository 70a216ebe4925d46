// What a task graph may ask for before anything is planned or simulated: rates for its data types, steps that can
// follow one another, and no more tasks, chunks and segments than a run can take.
// Ownership: none. Threading: pure functions. Refuses: the rest, naming the task.
#pragma once

#include "simulator/graph_step.h"

namespace hocket {

[[nodiscard]] Result<void> check_step(const TaskGraph& graph, const StepMachine& machine, const StepOptions& options);

enum class Counted : std::uint8_t { kOneRankOfEachProgram, kEveryRank };
/// Tasks, and chunks of collectives and segments of messages, in all steps.
[[nodiscard]] Result<void> check_size(const TaskGraph& graph, const StepMachine& machine, const StepOptions& options,
                                      Counted counted);

}  // namespace hocket
