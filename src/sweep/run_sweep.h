// run_sweep(): every point of a sweep simulated, on all cores, and on several processes of a launcher that share a
// folder: rank r takes the points r, r + n, r + 2n ... that the results file does not have, and rank 0 waits until all
// are there. Every point is checked before the first is simulated. Rows come in the order of the grid, and the same
// question gives the same bytes, however many threads and ranks worked on it.
// Ownership: the outcome owns its rows. Threading: starts and joins its own threads.
// Refuses: what CaseBuilder and ResultsFile refuse; ranks that deliver nothing for `patience` (kTimeout, naming them).
// A point that the simulator refuses is a row with its error.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/progress.h"
#include "sweep/results_file.h"

namespace hocket {

struct SweepOptions {
  std::string results;   // file
  unsigned threads = 1;  // at least 1
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::chrono::milliseconds patience{600000};
  Progress* progress = nullptr;
};

struct SweepRow {
  std::vector<SweepSetting> at;  // what varies
  PointOutcome outcome;
};

struct SweepOutcome {
  std::vector<SweepRow> rows;  // of all points; empty on ranks other than 0
  std::uint64_t reused = 0;    // points that were there before
  std::uint64_t refused = 0;   // rows with an error, of this rank's points where rows are empty
};

[[nodiscard]] Result<SweepOutcome> run_sweep(const Sweep& sweep, const SweepOptions& options);

}  // namespace hocket
