// fastest_at_endpoints(): of the schedules that a plan search found fast on the network the one that is fastest where
// the endpoints count too: its chunks through the engine, alone on the machine. A ring that a network likes costs an
// engine one step after another; a direct exchange does not. Ownership: values. Threading: pure function. Refuses:
// nothing; candidates that the engine refuses are passed over, and where none is left the network's choice stands.
#pragma once

#include "planner/planner.h"
#include "simulator/step.h"

namespace hocket {

[[nodiscard]] VerifiedSchedule fastest_at_endpoints(const Planning& planning, const BoundCollective& largest,
                                                    const StepMachine& machine);

}  // namespace hocket
