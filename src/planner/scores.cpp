#include "planner/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "algorithms/algorithm.h"
#include "base/spelling.h"
#include "exchange/file_text.h"
#include "exchange/yaml_text.h"
#include "planner/windows.h"

namespace hocket {
namespace {

constexpr std::size_t kRulesMax = 10'000, kFileBytesMax = std::size_t{4} << 20, kLettersLeast = 8, kLettersMost = 32;
constexpr double kFactorMax = 1000;
constexpr std::array<std::string_view, 5> kKeys{"collective", "topology", "sizes", "algorithm", "factors"};

bool matches(const ScoreRule& rule, const Topology& topology, CollectiveKind kind, std::int64_t bytes) {
  return rule.kind.value_or(kind) == kind && rule.from <= bytes && bytes <= rule.to &&
         (rule.topology.empty() || topology.fingerprint().text().starts_with(rule.topology));
}

class RuleReader {
 public:
  explicit RuleReader(std::string_view file) : file_(file) {}

  Result<ScoreRule> read(const YAML::Node& node) const {
    ScoreRule rule;
    rule.place = yaml_place(node, file_);
    if (!node.IsMap()) return fail(Code::kMalformed, "{}: a rule is a map of keys", rule.place);
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      HOCKET_TRY(once(seen, key, entry.first));
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
        return fail(Code::kMalformed, "{}: unknown key '{}'{}", yaml_place(entry.first, file_), key.substr(0, 40),
                    spelling_hint(key, kKeys));
      HOCKET_TRY(read_entry(rule, key, entry.second));
    }
    if (rule.algorithm.empty() && rule.factors.empty())
      return fail(Code::kMalformed, "{}: neither 'algorithm' nor 'factors'", rule.place);
    return rule;
  }

 private:
  Result<void> once(std::set<std::string>& seen, const std::string& key, const YAML::Node& node) const {
    if (seen.insert(key).second) return {};
    return fail(Code::kMalformed, "{}: key '{}' stands twice", yaml_place(node, file_), key.substr(0, 80));
  }
  template <class T>
  [[nodiscard]] Result<T> at(const YAML::Node& node, Result<T> result) const {
    if (result) return result;
    return fail(Code::kMalformed, "{}: {}", yaml_place(node, file_), result.error().text);
  }

  Result<void> read_entry(ScoreRule& rule, const std::string& key, const YAML::Node& value) const {
    if (key == "factors") return read_factors(rule, value);
    if (!value.IsScalar()) return fail(Code::kMalformed, "{}: '{}' is no text", yaml_place(value, file_), key);
    const auto text = value.as<std::string>();
    if (key == "collective" && text != "any") {
      HOCKET_TRY_ASSIGN(rule.kind, at(value, parse_collective(text)));
    }
    if (key == "algorithm") {
      HOCKET_TRY_ASSIGN(const Algorithm* const known, at(value, find_algorithm(text)));
      rule.algorithm = known->name;
    }
    if (key == "sizes" && text != "any") {
      HOCKET_TRY_ASSIGN(const auto range, at(value, parse_size_range(text)));
      rule.from = range.first.count;
      rule.to = range.second.count;
    }
    if (key == "topology" && text != "any") {
      const bool hexadecimal = text.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!hexadecimal || text.size() < kLettersLeast || text.size() > kLettersMost)
        return fail(Code::kMalformed, "{}: topology '{}' is neither any nor {} to {} letters of a fingerprint",
                    yaml_place(value, file_), text.substr(0, 40), kLettersLeast, kLettersMost);
      rule.topology = text;
    }
    return {};
  }

  Result<void> read_factors(ScoreRule& rule, const YAML::Node& value) const {
    if (!value.IsMap() || value.size() == 0)
      return fail(Code::kMalformed, "{}: 'factors' is a map of algorithms and numbers", yaml_place(value, file_));
    std::set<std::string> seen;
    for (const auto& entry : value) {
      HOCKET_TRY(once(seen, entry.first.as<std::string>(), entry.first));
      HOCKET_TRY_ASSIGN(const Algorithm* const known, at(entry.first, find_algorithm(entry.first.as<std::string>())));
      const auto factor = entry.second.as<double>();
      if (!(std::isfinite(factor) && factor > 0 && factor <= kFactorMax))
        return fail(Code::kMalformed, "{}: factor {} of '{}' is not above 0 and up to {}",
                    yaml_place(entry.second, file_), factor, known->name, kFactorMax);
      rule.factors[std::string(known->name)] = factor;
    }
    return {};
  }

  std::string_view file_;
};

}  // namespace

Result<Scores> Scores::parse(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const YAML::Node root, parse_yaml_map(text, file_name));
  return guard_yaml(file_name, [&]() -> Result<Scores> {
    for (const auto& entry : root) {
      if (const auto key = entry.first.as<std::string>(); key != "scores")
        return fail(Code::kMalformed, "{}: unknown key '{}', expected 'scores'", yaml_place(entry.first, file_name),
                    key.substr(0, 40));
    }
    const YAML::Node list = root["scores"];
    if (!list || !list.IsSequence()) return fail(Code::kMalformed, "{}: 'scores' is no list", file_name);
    if (list.size() > kRulesMax) return fail(Code::kResourceExhausted, "{}: over {} rules", file_name, kRulesMax);
    Scores scores;
    const RuleReader reader(file_name);
    for (const YAML::Node& node : list) {
      HOCKET_TRY_ASSIGN(ScoreRule rule, reader.read(node));
      scores.rules_.push_back(std::move(rule));
    }
    return scores;
  });
}

Result<Scores> Scores::load(const std::string& path) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kFileBytesMax));
  return parse(text.bytes, path);
}

const ScoreRule* Scores::wish(const Topology& topology, CollectiveKind kind, std::int64_t bytes) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const ScoreRule& rule) {
    return !rule.algorithm.empty() && matches(rule, topology, kind, bytes);
  });
  return found == rules_.end() ? nullptr : &*found;
}

double Scores::factor(std::string_view algorithm, const Topology& topology, CollectiveKind kind,
                      std::int64_t bytes) const {
  double product = 1;
  for (const ScoreRule& rule : rules_) {
    const auto factor = rule.factors.find(std::string(algorithm));
    if (factor != rule.factors.end() && matches(rule, topology, kind, bytes)) product *= factor->second;
  }
  return product;
}

std::vector<std::int64_t> Scores::borders() const {
  std::set<std::int64_t> sizes;
  for (const ScoreRule& rule : rules_) sizes.insert({rule.from, rule.to + 1});
  return {sizes.begin(), sizes.end()};
}

Fingerprint Scores::fingerprint() const {
  Hasher hasher;
  for (const ScoreRule& rule : rules_) {
    hasher.add(rule.kind ? name_of(*rule.kind) : "any").add(rule.topology).add(rule.algorithm);
    hasher.add(static_cast<std::uint64_t>(rule.from)).add(static_cast<std::uint64_t>(rule.to));
    for (const auto& [name, factor] : rule.factors) hasher.add(name).add(fmt::format("{}", factor));
  }
  return hasher.finish();
}

}  // namespace hocket
