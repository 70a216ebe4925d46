// Folded simulation: where every rank does the same as every other, seen from itself, one stands for all. A message
// over a link of some class leaves rank r and reaches its neighbour exactly when the alike message of the neighbour on
// the other side reaches rank r, so sends and arrivals of one rank are the whole run. The model is the message model of
// simulator.h: segments in the order of SendQueue, a link busy for bytes over rate, then the latency.
// Threading: pure function. Refuses: ops that wait for each other in a circle, and times beyond the clock.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace hocket {

struct FoldedClass {
  BytesPerSecond bandwidth;
  Seconds latency;
};

/// A message that every rank sends to its neighbour over the link of a class.
struct FoldedOp {
  std::uint32_t cls = 0;
  std::vector<std::uint32_t> after;  // ops whose messages must have arrived, segment by segment; any number
  std::uint32_t shares = 1;          // its segments are so many times as long
};

struct FoldedProgram {
  std::vector<FoldedClass> classes;
  std::vector<FoldedOp> ops;                // in program order: of equal segments the first one leaves first
  std::vector<std::int64_t> segment_bytes;  // of every op of one share
};

struct FoldedResult {
  Picos time{};
  std::vector<std::int64_t> class_bytes;  // per link of a class
  std::uint64_t events = 0;
};

[[nodiscard]] Result<FoldedResult> simulate_folded(const FoldedProgram& program);

}  // namespace hocket
