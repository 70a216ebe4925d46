// Timeline of a simulation as Chrome JSON or, likewise, as a Perfetto trace (exchange/perfetto.h): one process "links",
// one thread row per link that carried something, one bar per segment. Opens in chrome://tracing and Perfetto. Times
// are microseconds with picosecond fractions. Ownership: returns text. Threading: pure function. Refuses: nothing; when
// bars were left out the metadata says how many.
#pragma once

#include <string>

#include "simulator/simulator.h"

namespace hocket {

[[nodiscard]] std::string chrome_timeline(const SimulationResult& result, const Plan& plan, const Topology& topology);
[[nodiscard]] std::string perfetto_timeline(const SimulationResult& result, const Plan& plan, const Topology& topology);

}  // namespace hocket
