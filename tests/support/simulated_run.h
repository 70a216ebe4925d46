// Runs real engines over a SimulatedWorld: the bridge that the world tests share, and cases drawn from a seed.
// A case is a plan per rank (usually one for all), inputs, options and faults; its outcome is what every rank got.
// Ownership: a case owns its plans. Threading: one owner. Refuses: nothing; broken cases fail the test that made them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/reference.h"
#include "transport/simulated.h"

namespace hocket::test {

enum class Scenario { kClean, kNoise, kStall, kDeath, kReset, kCut, kMismatch, kMixed };
inline constexpr int kScenarios = 8;
[[nodiscard]] std::string_view name_of(Scenario scenario);

struct SimulatedCase {
  std::uint64_t seed = 0;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Plan> foreign;  // what `stranger` runs instead
  std::uint32_t stranger = 0;
  std::vector<RankBytes> inputs;
  SimulatedOptions options;
  std::vector<Fault> faults;
  /// Planted bugs: something between a rank's engine and its endpoint.
  std::function<std::unique_ptr<Transport>(std::uint32_t rank, Transport& inner)> wrap;

  [[nodiscard]] std::uint32_t ranks() const { return plan->what().collective.ranks; }
  [[nodiscard]] const Plan& plan_of(std::uint32_t rank) const { return foreign && rank == stranger ? *foreign : *plan; }
};

struct SimulatedOutcome {
  std::vector<std::optional<Error>> errors;
  std::vector<bool> dead;
  std::vector<double> progress;  // of each rank: the share of its ops that have finished
  std::vector<RankBytes> outputs;
  Fingerprint hash;
  SimulatedCounts counts;
  [[nodiscard]] std::size_t successes() const;
};

/// Everything about a case follows from the scenario and the seed.
[[nodiscard]] SimulatedCase draw_case(Scenario scenario, std::uint64_t seed);
[[nodiscard]] SimulatedOutcome simulate(const SimulatedCase& c);

/// An empty string, or what is wrong with the outcome: wrong data, an error that does not name its cause, a needless
/// one.
[[nodiscard]] std::string judge(Scenario scenario, const SimulatedCase& c, const SimulatedOutcome& outcome);

}  // namespace hocket::test
