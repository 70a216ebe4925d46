// Real engines and the real stream protocol over byte pipes in memory: who moves, how many bytes at once, how much a
// pipe holds and who dies when is drawn from a seed. Several calls follow each other, and ranks may run ahead.
// Ownership: a run owns everything. Threading: one owner.
// Refuses: nothing; a run in which nobody can move and somebody is undecided is a hang, which the judge reports.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/simulated_run.h"
#include "support/stream_bug.h"

namespace hocket::test {

/// kOtherPlan: in one call the stranger runs the same collective by another algorithm.
enum class StreamScenario { kClean, kDeath, kMismatch, kSkip, kOtherPlan };
inline constexpr int kStreamScenarios = 5;
[[nodiscard]] std::string_view name_of(StreamScenario scenario);

struct StreamOutcome {
  std::vector<std::optional<Error>> errors;
  std::vector<std::uint32_t> calls;             // finished with success, per rank
  std::vector<std::vector<RankBytes>> outputs;  // per rank and finished call
  std::optional<std::uint32_t> dead;
  std::set<std::uint32_t> vanished;  // had failed, and ended before all that they had to say had left
  bool hung = false;
  // Probes.
  std::uint64_t partial_writes = 0;
  std::uint64_t split_headers = 0;
  std::uint64_t full_pipes = 0;
  std::uint64_t fetched = 0;         // lent segments
  std::uint64_t bounced = 0;         // segments
  std::uint64_t bounces_shared = 0;  // read by one more peer
  std::uint64_t bounces_sent = 0;    // for lack of a slot
  std::uint64_t bounces_waited = 0;  // ops, for room
  std::uint64_t one_shots = 0;       // calls of ranks that ended by what all had shown
  std::uint64_t held = 0;            // times a rank was a call ahead of a peer
  std::uint64_t told = 0;
  std::uint64_t by_further = 0;  // of calls under way, that took a stream beyond the first
};

inline constexpr std::uint32_t kStreamCalls = 3;

[[nodiscard]] StreamOutcome run_streams(StreamScenario scenario, const SimulatedCase& c, const PlantedBug& plant = {});
[[nodiscard]] SimulatedCase draw_stream_case(StreamScenario scenario, std::uint64_t seed);
[[nodiscard]] std::string judge(StreamScenario scenario, const SimulatedCase& c, const StreamOutcome& outcome);

}  // namespace hocket::test
