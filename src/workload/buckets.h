// Gradient buckets of a task graph: all-reduces of weight gradients are gathered, in the order of the tasks, until they
// have so many bytes or none is left, and sent as one. The one call stands where the last of them stood, waits for all
// that they waited for, and the next step waits for it where it waited for them. Gathered are calls of one division and
// data type for which nothing of their own step waits.
// Ownership: returns a graph. Threading: pure function. Refuses: nothing.
#pragma once

#include "workload/task_graph.h"

namespace hocket {

[[nodiscard]] TaskGraph with_buckets(TaskGraph graph, Bytes bucket);

}  // namespace hocket
