// execution_order(): one order in which the ops of a schedule can run, whole op by whole op, queues unbounded.
// Ownership: returns a list. Threading: pure function.
// Refuses nothing: ops that can never run are missing from the list.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace hocket {

[[nodiscard]] std::vector<OpId> execution_order(const Schedule& schedule);

}  // namespace hocket
