// step_timeline(): training steps as a Chrome JSON timeline, a process per endpoint, compute and communication as its
// threads. Times are exact, in microseconds with all picoseconds.
// Ownership: borrows the intervals. Threading: pure function.
// Refuses: nothing.
#pragma once

#include <span>
#include <string>

#include "simulator/step.h"

namespace hocket {

struct StepTrack {
  std::string name;
  std::span<const StepInterval> intervals;
};

[[nodiscard]] std::string step_timeline(std::span<const StepTrack> tracks);

}  // namespace hocket
