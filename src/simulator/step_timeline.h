// step_timeline(): training steps as a timeline, a process per endpoint, compute and communication as its threads: a
// Perfetto trace (exchange/perfetto.h) where the file's name asks for one, otherwise Chrome JSON. Times are exact, in
// microseconds with all picoseconds.
// Ownership: borrows the intervals. Threading: pure function.
// Refuses: nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simulator/step.h"

namespace hocket {

struct StepTrack {
  std::string name;
  std::span<const StepInterval> intervals;
};

/// For a file of that name.
[[nodiscard]] std::string step_timeline(std::span<const StepTrack> tracks, std::string_view file);

}  // namespace hocket
