#include "planner/plan_cache.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/version.h"
#include "exchange/file_text.h"
#include "exchange/json_text.h"
#include "exchange/schedule_format.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kKeyBytesMax = std::size_t{1} << 20, kEntriesMax = 100'000;

/// Sizes [2^k, 2^(k+1)) share a plan; 0 is a class of its own.
std::pair<std::int64_t, std::int64_t> class_of(std::int64_t bytes) {
  if (bytes <= 0) return {0, 0};
  const auto from = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
  return {from, from - 1 + from};
}

/// Changes when an algorithm comes, goes or is renamed.
std::string table_text() {
  Hasher hasher;
  for (const Algorithm* algorithm : algorithms()) hasher.add(algorithm->name).add(algorithm->description);
  return hasher.finish().text();
}

/// What a key's options say of a plan whose messages may be spread.
constexpr std::string_view kSpread = " spread=true ";

std::string options_text(const PlanningOptions& options) {
  const SimulateOptions& s = options.simulate;
  return fmt::format(
      "{} algo={}{}segment={} payload={} head={} overhead={:g} copy={:g} reduce={:g} stored={} scores={}",
      name_of(s.model), options.algorithm, options.spread ? kSpread : " spread=false ", options.segment.count,
      s.packet_payload.count, s.head_flit.count, s.per_message_overhead.value, s.copy_rate.value, s.reduce_rate.value,
      s.store_and_forward, options.scores == nullptr ? std::string("none") : options.scores->fingerprint().text());
}

Json key_of(const Topology& topology, const BoundCollective& what, const PlanningOptions& options) {
  const auto [from, to] = class_of(what.bytes().count);
  return {{"hocket_cached_plan", kFormat},
          {"version", std::string(build_stamp().version)},
          {"algorithms", table_text()},
          {"topology", topology.fingerprint().text()},
          {"collective", std::string(name_of(what.collective.kind))},
          {"ranks", what.collective.ranks},
          {"root", what.collective.root},
          {"dtype", std::string(name_of(what.type))},
          {"from_bytes", from},
          {"to_bytes", to},
          {"options", options_text(options)}};
}

/// Without the ending: "all_reduce-16-67108864-9f3c0a1b9f3c0a1b".
std::string stem_of(const Json& key) {
  Hasher hasher;
  hasher.add(key.dump());
  return fmt::format("{}-{}-{}-{:016x}", key["collective"].get<std::string>(), key["ranks"].get<std::uint32_t>(),
                     key["from_bytes"].get<std::int64_t>(), hasher.finish().high);
}

/// What the .json beside an entry says, with the form of its members checked.
struct Card {
  Json key;
  std::string algorithm, schedule;
  std::uint64_t segment = 0, candidates = 0;
};

Result<Card> read_card(const std::string& path) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kKeyBytesMax));
  HOCKET_TRY_ASSIGN(const Json root, parse_json(text.bytes, path));
  for (const char* name : {"key", "algorithm", "schedule", "segment_bytes", "candidates"}) {
    if (!root.is_object() || !root.contains(name)) return fail(Code::kMalformed, "{}: '{}' is missing", path, name);
  }
  const Json& key = root["key"];
  for (const char* name : {"version", "algorithms", "topology", "collective", "options"}) {
    if (!key.is_object() || !key.contains(name) || !key[name].is_string())
      return fail(Code::kMalformed, "{}: '{}' of the key is no text", path, name);
  }
  for (const char* name : {"ranks", "from_bytes", "to_bytes"}) {
    if (!key.contains(name) || !key[name].is_number_unsigned() ||
        key[name].get<std::uint64_t>() > (std::uint64_t{1} << 62))
      return fail(Code::kMalformed, "{}: '{}' of the key is no whole number", path, name);
  }
  const bool texts = root["algorithm"].is_string() && root["schedule"].is_string();
  if (!texts || !root["segment_bytes"].is_number_unsigned() || !root["candidates"].is_number_unsigned())
    return fail(Code::kMalformed, "{}: a member of the wrong kind", path);
  return Card{key, root["algorithm"].get<std::string>(), root["schedule"].get<std::string>(),
              root["segment_bytes"].get<std::uint64_t>(), root["candidates"].get<std::uint64_t>()};
}

Result<Schedule> read_entry(const std::string& path, const Card& card) {
  HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(path));
  if (schedule.fingerprint().text() != card.schedule)
    return fail(Code::kMismatch, "{}: the schedule is {}, its key says {}", path, schedule.fingerprint().text(),
                card.schedule);
  if (schedule.algorithm() != card.algorithm)
    return fail(Code::kMismatch, "{}: the schedule is by '{}', its key says '{}'", path, schedule.algorithm(),
                card.algorithm);
  return schedule;
}

/// The first member in which two keys differ.
std::string difference(const Json& wanted, const Json& found) {
  for (const auto& [name, value] : wanted.items()) {
    if (!found.contains(name) || found[name] != value)
      return fmt::format("'{}' is {}, wanted {}", name, found.contains(name) ? found[name].dump() : "missing",
                         value.dump());
  }
  return "it has other members";
}

Result<Planning> planning_of(const std::string& stem, const Json& key, const Topology& topology,
                             const BoundCollective& what, const PlanningOptions& options) {
  HOCKET_TRY_ASSIGN(const Card card, read_card(stem + ".json"));
  if (card.key != key) return fail(Code::kMismatch, "{}.json: {}", stem, difference(key, card.key));
  HOCKET_TRY_ASSIGN(Schedule schedule, read_entry(stem + ".hkt", card));
  if (schedule.collective() != what.collective)
    return fail(Code::kMismatch, "{}.hkt: not the collective that its key states", stem);
  HOCKET_TRY_ASSIGN(const VerifiedSchedule verified, prove(std::move(schedule)));
  Planning planning;
  planning.bound = lower_bound(topology, what);
  PlanningOptions bounded = options;
  bounded.simulate.bound = &planning.bound;
  bounded.segment = {static_cast<std::int64_t>(card.segment)};
  HOCKET_TRY_ASSIGN(Candidate candidate, simulate_best(verified, topology, what, bounded));
  candidate.algorithm = card.algorithm;
  planning.candidates.push_back(std::move(candidate));
  planning.reason = fmt::format("{} from the cache, where it was chosen among {} candidate{}", card.algorithm,
                                card.candidates, card.candidates == 1 ? "" : "s");
  return planning;
}

CacheEntry entry_of(const std::string& stem) {
  CacheEntry entry;
  entry.path = stem + ".hkt";
  entry.collective = entry.topology = entry.algorithm = "?";
  const Result<Card> card = read_card(stem + ".json");
  if (!card) {
    entry.damage = card.error().text;
    return entry;
  }
  entry.collective = card->key["collective"].get<std::string>();
  entry.topology = card->key["topology"].get<std::string>();
  entry.algorithm = card->algorithm;
  entry.ranks = static_cast<std::uint32_t>(card->key["ranks"].get<std::uint64_t>());
  entry.from = card->key["from_bytes"].get<std::int64_t>();
  entry.to = card->key["to_bytes"].get<std::int64_t>();
  entry.spread = card->key["options"].get<std::string>().find(kSpread) != std::string::npos;
  const Result<Schedule> schedule = read_entry(entry.path, *card);
  if (!schedule) {
    entry.damage = schedule.error().text;
  } else if (card->key["version"] != std::string(build_stamp().version) || card->key["algorithms"] != table_text()) {
    entry.damage = fmt::format("of version {} or of other algorithms: not used by this one",
                               card->key["version"].get<std::string>().substr(0, 40));
  }
  return entry;
}

}  // namespace

Result<PlanCache> PlanCache::open(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error))
    return fail(Code::kIo, "--cache {}: {}", folder, error ? error.message() : "not a folder");
  return PlanCache(folder);
}

Result<std::optional<Planning>> PlanCache::find(const Topology& topology, const BoundCollective& what,
                                                const PlanningOptions& options, std::string& damage) const {
  const Json key = key_of(topology, what, options);
  const std::string stem = (std::filesystem::path(folder_) / stem_of(key)).string();
  damage.clear();
  std::error_code error;
  const bool has_key = std::filesystem::exists(stem + ".json", error);
  const bool has_schedule = std::filesystem::exists(stem + ".hkt", error);
  if (!has_key && !has_schedule) return std::optional<Planning>{};
  Result<Planning> planning = planning_of(stem, key, topology, what, options);
  if (planning) return std::optional<Planning>(std::move(*planning));
  if (planning.error().code == Code::kInternal) return tl::unexpected<Error>(planning.error());
  damage = planning.error().text;
  return std::optional<Planning>{};
}

Result<std::string> PlanCache::store(const Topology& topology, const BoundCollective& what,
                                     const PlanningOptions& options, const Planning& planning) const {
  const Json key = key_of(topology, what, options);
  const std::string stem = (std::filesystem::path(folder_) / stem_of(key)).string();
  const Candidate& chosen = planning.candidates[planning.chosen];
  const Json card{{"key", key},
                  {"algorithm", chosen.algorithm},
                  {"schedule", chosen.plan.schedule().fingerprint().text()},
                  {"segment_bytes", chosen.plan.segment().count},
                  {"candidates", planning.candidates.size()}};
  HOCKET_TRY(save_schedule(chosen.plan.schedule(), stem + ".hkt"));
  HOCKET_TRY(write_file(stem + ".json", card.dump(1) + "\n"));
  return stem + ".hkt";
}

Result<std::vector<CacheEntry>> list_cache(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return fail(Code::kIo, "{}: not a folder", folder);
  std::vector<std::string> stems;
  for (auto file = std::filesystem::directory_iterator(folder, error);
       !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    const std::filesystem::path path = file->path();
    if (path.extension() != ".hkt" && path.extension() != ".json") continue;
    stems.push_back((path.parent_path() / path.stem()).string());
    if (stems.size() > 2 * kEntriesMax) return fail(Code::kResourceExhausted, "{}: over {} files", folder, kEntriesMax);
  }
  if (error) return fail(Code::kIo, "{}: {}", folder, error.message());
  std::sort(stems.begin(), stems.end());
  stems.erase(std::unique(stems.begin(), stems.end()), stems.end());
  std::vector<CacheEntry> entries;
  entries.reserve(stems.size());
  for (const std::string& stem : stems) entries.push_back(entry_of(stem));
  return entries;
}

}  // namespace hocket
