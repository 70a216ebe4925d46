// Scores: a user's say in the choice of algorithms, as data. A YAML file:
//   scores:
//     - collective: all_reduce        # left out: any
//       topology: 9f3c0a1b            # first letters of a fingerprint; left out or any: any
//       sizes: 1KiB:64KiB             # both ends included; left out: any
//       algorithm: swing              # take this one
//     - factors: {ring: 0.8, multitree: 1.25}   # predicted times are multiplied before they are compared
// The first rule that matches and names an algorithm decides; factors of all that match multiply. Ownership: owns its
// text. Threading: immutable once read. Refuses: unknown keys and words (with the nearest known), factors not above 0
// and up to 1000, rules that say nothing; with file, line and column.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/collective.h"
#include "topology/topology.h"

namespace hocket {

struct ScoreRule {
  std::optional<CollectiveKind> kind;
  std::string topology;  // letters of a fingerprint; empty: any
  std::int64_t from = 0;
  std::int64_t to = std::int64_t{1} << 62;
  std::string algorithm;  // empty: none wanted
  std::map<std::string, double> factors;
  std::string place;  // "scores.yaml:3:5"
};

class Scores {
 public:
  Scores() = default;
  [[nodiscard]] static Result<Scores> parse(std::string_view text, std::string_view file_name);
  [[nodiscard]] static Result<Scores> load(const std::string& path);

  [[nodiscard]] bool empty() const { return rules_.empty(); }
  [[nodiscard]] const std::vector<ScoreRule>& rules() const { return rules_; }
  /// The rule that names the algorithm to take, or null.
  [[nodiscard]] const ScoreRule* wish(const Topology& topology, CollectiveKind kind, std::int64_t bytes) const;
  /// What the predicted time of an algorithm is multiplied by.
  [[nodiscard]] double factor(std::string_view algorithm, const Topology& topology, CollectiveKind kind,
                              std::int64_t bytes) const;
  /// Sizes at which some rule begins or has ended, ascending.
  [[nodiscard]] std::vector<std::int64_t> borders() const;
  /// Of all rules, for keys of caches.
  [[nodiscard]] Fingerprint fingerprint() const;

 private:
  std::vector<ScoreRule> rules_;
};

}  // namespace hocket
