// The arithmetic of ASTRA-sim's analytical network: every delay is computed in floating point and cut to whole
// nanoseconds before it is added. Only the rules of AstraRules (simulator.h) use it.
// Threading: pure functions. Refuses: nothing; callers keep times on the clock.
#pragma once

#include <cmath>

#include "base/units.h"

namespace hocket {

[[nodiscard]] inline Picos whole_ns(double ns) { return {static_cast<std::int64_t>(std::floor(ns)) * 1000}; }
[[nodiscard]] inline double to_ns(Picos time) { return static_cast<double>(time.count) / 1000; }
/// Not yet cut.
[[nodiscard]] inline double ns_at(std::int64_t bytes, BytesPerSecond rate) {
  return static_cast<double>(bytes) / (rate.value / 1e9);
}

}  // namespace hocket
