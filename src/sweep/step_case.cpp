#include "sweep/step_case.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>

#include "algorithms/algorithm.h"
#include "base/hash.h"
#include "base/spelling.h"
#include "base/version.h"
#include "exchange/platform_yaml.h"
#include "planner/group_choice.h"
#include "planner/step_choice.h"
#include "platform/set_field.h"
#include "simulator/graph_step.h"
#include "workload/model.h"

namespace hocket {
namespace {

using namespace std::string_view_literals;

constexpr std::array kModelKeys{"batch"sv, "sequence"sv, "precision"sv, "bucket"sv, "optimizer"sv};
constexpr std::array kSpreadKeys{"tp"sv, "pp"sv, "ep"sv, "microbatches"sv, "fsdp"sv, "sp"sv};
constexpr std::array kOtherKeys{"platform"sv, "endpoint"sv,  "workload"sv, "collective"sv,
                                "size"sv,     "algorithm"sv, "steps"sv};
constexpr std::string_view kOfEngine = "engine.";

std::vector<std::string_view> case_keys() {
  std::vector<std::string_view> keys(kOtherKeys.begin(), kOtherKeys.end());
  keys.insert(keys.end(), kModelKeys.begin(), kModelKeys.end());
  keys.insert(keys.end(), kSpreadKeys.begin(), kSpreadKeys.end());
  return keys;
}

bool is_case_key(std::string_view key) {
  const std::vector<std::string_view> keys = case_keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// An error of the library with the setting in front.
template <class T>
Result<T> placed(const SweepSetting& setting, Result<T> result) {
  if (!result) {
    Error& error = result.error();
    error.text = fmt::format("{}: {}: {}", setting.place, setting.key, error.text);
  }
  return result;
}

Result<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number > 0) return number;
  return fail(Code::kInvalidArgument, "'{}' is not a whole number above 0", text.substr(0, 80));
}

Workload collective_alone(CollectiveKind kind, Bytes size) {
  Workload one{std::string(name_of(kind)), "a collective by itself", {}, {}};
  one.nodes.push_back({.name = std::string(name_of(kind)),
                       .phase = StepPhase::kWeightGradient,
                       .collective = WorkCollective{kind, size, DataType::kF32}});
  return one;
}

/// All settings of a point, with what is asked of them.
class Settings {
 public:
  Settings(const Sweep& sweep, std::uint64_t point) : sweep_(sweep), all_(sweep.fixed) {
    const std::vector<SweepSetting> at = sweep.at(point);
    all_.insert(all_.end(), at.begin(), at.end());
  }

  [[nodiscard]] const std::vector<SweepSetting>& all() const { return all_; }
  [[nodiscard]] const SweepSetting* find(std::string_view key) const {
    for (const SweepSetting& setting : all_) {
      if (setting.key == key) return &setting;
    }
    return nullptr;
  }
  [[nodiscard]] Result<const SweepSetting*> need(std::string_view key) const {
    if (const SweepSetting* setting = find(key)) return setting;
    return fail(Code::kMalformed, "{}: neither 'set' nor 'vary' has '{}'", sweep_.file_name, key);
  }
  [[nodiscard]] Result<bool> truth(std::string_view key) const {
    const SweepSetting* setting = find(key);
    if (setting == nullptr || setting->value == "false") return false;
    if (setting->value == "true") return true;
    return placed<bool>(*setting,
                        fail(Code::kMalformed, "'{}' is neither true nor false", setting->value.substr(0, 80)));
  }
  [[nodiscard]] Result<std::uint32_t> number(std::string_view key, std::uint32_t otherwise) const {
    const SweepSetting* setting = find(key);
    return setting == nullptr ? otherwise : placed(*setting, parse_number(setting->value));
  }
  /// Two keys that exclude each other.
  [[nodiscard]] Result<void> not_both(const SweepSetting* a, const SweepSetting* b) const {
    if (a == nullptr || b == nullptr) return {};
    return fail(Code::kMalformed, "{}: {} '{}' beside {} '{}' at {}: only one of them", b->place, b->key, b->value,
                a->key, a->value, a->place);
  }

 private:
  const Sweep& sweep_;
  std::vector<SweepSetting> all_;
};

Result<ModelRequest> request_of(const Settings& settings, const Platform& platform) {
  ModelRequest request;
  HOCKET_TRY_ASSIGN(request.batch, settings.number("batch", 0));
  HOCKET_TRY_ASSIGN(request.sequence, settings.number("sequence", 0));
  const SweepSetting* precision = settings.find("precision");
  HOCKET_TRY_ASSIGN(request.compute, precision == nullptr ? platform.usual_type()
                                                          : placed(*precision, parse_data_type(precision->value)));
  if (const SweepSetting* bucket = settings.find("bucket")) {
    HOCKET_TRY_ASSIGN(request.bucket, placed(*bucket, parse_bytes(bucket->value)));
    if (request.bucket.count <= 0)
      return placed<ModelRequest>(*bucket, fail(Code::kInvalidArgument,
                                                "'{}': a bucket holds at least a byte; without "
                                                "the key layers are alone",
                                                bucket->value.substr(0, 80)));
  }
  if (const SweepSetting* optimizer = settings.find("optimizer")) {
    HOCKET_TRY_ASSIGN(request.optimizer, placed(*optimizer, parse_optimizer(optimizer->value)));
  }
  return request;
}

Result<Workload> workload_of(const Settings& settings, const Platform& platform) {
  const SweepSetting* model = settings.find("workload");
  const SweepSetting* collective = settings.find("collective");
  HOCKET_TRY(settings.not_both(model, collective));
  if (collective != nullptr) {
    for (const std::string_view key : kModelKeys) HOCKET_TRY(settings.not_both(collective, settings.find(key)));
    for (const std::string_view key : kSpreadKeys) HOCKET_TRY(settings.not_both(collective, settings.find(key)));
    HOCKET_TRY_ASSIGN(const CollectiveKind kind, placed(*collective, parse_collective(collective->value)));
    HOCKET_TRY_ASSIGN(const SweepSetting* size, settings.need("size"));
    HOCKET_TRY_ASSIGN(const Bytes bytes, placed(*size, parse_bytes(size->value)));
    return collective_alone(kind, bytes);
  }
  HOCKET_TRY_ASSIGN(model, settings.need("workload"));
  HOCKET_TRY(settings.not_both(model, settings.find("size")));
  HOCKET_TRY_ASSIGN(const ModelRequest request, request_of(settings, platform));
  return placed(*model, workload_from_model(model->value, request));
}

/// Nothing where no key asks for more than copies of the model.
Result<std::optional<SpreadModel>> spread_of(const Settings& settings, const Platform& platform) {
  const SweepSetting* first = nullptr;
  for (const std::string_view key : kSpreadKeys) first = first == nullptr ? settings.find(key) : first;
  if (first == nullptr) return std::nullopt;
  SpreadModel spread;
  HOCKET_TRY_ASSIGN(spread.request, request_of(settings, platform));
  HOCKET_TRY_ASSIGN(const SweepSetting* model, settings.need("workload"));
  HOCKET_TRY_ASSIGN(spread.model, placed(*first, layered_model(model->value, spread.request)));
  ParallelPlan asked;
  HOCKET_TRY_ASSIGN(asked.tensor, settings.number("tp", 1));
  HOCKET_TRY_ASSIGN(asked.pipeline, settings.number("pp", 1));
  HOCKET_TRY_ASSIGN(asked.expert, settings.number("ep", 1));
  HOCKET_TRY_ASSIGN(asked.microbatches, settings.number("microbatches", 0));
  HOCKET_TRY_ASSIGN(asked.shards_weights, settings.truth("fsdp"));
  HOCKET_TRY_ASSIGN(asked.splits_sequence, settings.truth("sp"));
  HOCKET_TRY_ASSIGN(const Topology topology, platform.build_topology());
  HOCKET_TRY_ASSIGN(spread.plan,
                    placed(*first, plan_parallel(spread.model, spread.request, asked, topology.rank_count())));
  return spread;
}

/// Fields of the platform, then the engine in use with its own.
Result<CommunicationEngine> set_fields(const Settings& settings, Platform& platform) {
  const auto set = [&](const SweepSetting& setting, const std::string& name) -> Result<void> {
    const Result<void> outcome = set_field(platform, name, setting.value);
    if (outcome || outcome.error().code != Code::kUnsupported) return placed(setting, outcome);
    std::vector<std::string> known = field_names(platform);
    const std::string in_use = fmt::format("engines.{}.", platform.engines.front().name);
    for (const std::string& field : field_names(platform)) {
      if (field.starts_with(in_use)) known.push_back(fmt::format("{}{}", kOfEngine, field.substr(in_use.size())));
    }
    for (const std::string_view key : case_keys()) known.emplace_back(key);
    return fail(Code::kMalformed, "{}: unknown key '{}' (value '{}'){}", setting.place, setting.key.substr(0, 80),
                setting.value.substr(0, 80), spelling_hint(setting.key, known));
  };
  for (const SweepSetting& setting : settings.all()) {
    if (!is_case_key(setting.key) && !setting.key.starts_with(kOfEngine)) HOCKET_TRY(set(setting, setting.key));
  }
  std::string name = platform.engines.front().name;
  if (const SweepSetting* endpoint = settings.find("endpoint")) {
    HOCKET_TRY(placed(*endpoint, platform.engine(endpoint->value)));
    name = endpoint->value;
  }
  for (const SweepSetting& setting : settings.all()) {
    if (setting.key.starts_with(kOfEngine))
      HOCKET_TRY(set(setting, fmt::format("engines.{}.{}", name, setting.key.substr(kOfEngine.size()))));
  }
  HOCKET_TRY_ASSIGN(const CommunicationEngine* engine, platform.engine(name));
  return *engine;
}

/// Where the settings of a point are, for errors about how they fit together.
std::string words_of(const Sweep& sweep, std::uint64_t point) {
  std::string words;
  for (const SweepSetting& setting : sweep.at(point))
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", setting.key, setting.value);
  return words;
}

void add(Hasher& hash, double value) { hash.add(std::bit_cast<std::uint64_t>(value)); }

void add(Hasher& hash, const WorkNode& node) {
  hash.add(node.name).add(static_cast<std::uint64_t>(node.phase)).add(static_cast<std::uint64_t>(node.compute.type));
  add(hash, node.compute.flops);
  add(hash, node.compute.memory_bytes);
  add(hash, node.compute.stated ? node.compute.stated->value : -1);
  if (node.collective) {
    hash.add(static_cast<std::uint64_t>(node.collective->kind))
        .add(static_cast<std::uint64_t>(node.collective->bytes.count))
        .add(static_cast<std::uint64_t>(node.collective->type));
  }
  for (const std::vector<NodeId>* list : {&node.after, &node.after_previous}) {
    hash.add(list->size());
    for (const NodeId id : *list) hash.add(id);
  }
}

}  // namespace

Result<std::string> StepCase::key() const {
  HOCKET_TRY_ASSIGN(const std::string platform_text, write_platform(platform));
  Hasher hash;
  hash.add(build_stamp().version).add(platform_text).add(engine.name).add(workload.name).add(steps);
  hash.add(algorithms.size());
  for (const std::string& algorithm : algorithms) hash.add(algorithm);
  for (const WorkNode& node : workload.nodes) add(hash, node);
  const WorkMemory memory = workload.memory.value_or(WorkMemory{});
  if (spread) {
    const ParallelPlan& plan = spread->plan;
    for (const std::uint32_t number : {plan.tensor, plan.pipeline, plan.expert, plan.microbatches}) hash.add(number);
    hash.add(plan.shards_weights ? 1 : 0).add(plan.splits_sequence ? 1 : 0);
  }
  for (const double part : {memory.parameters, memory.gradients, memory.optimizer, memory.activations}) add(hash, part);
  return hash.finish().text();
}

Result<StepResult> StepCase::simulate() const {
  HOCKET_TRY_ASSIGN(const Topology topology, platform.build_topology());
  if (spread) {
    HOCKET_TRY_ASSIGN(const GroupChooser choose, choose_for_groups(algorithms, platform, engine));
    const TaskGraph graph = parallel_graph(spread->model, spread->request, spread->plan);
    HOCKET_TRY_ASSIGN(GraphResult result,
                      simulate_graph(graph, {platform, topology, engine}, choose, {.steps = steps}));
    return std::move(result.step);
  }
  const StepMachine machine{platform, topology, engine};
  HOCKET_TRY_ASSIGN(const ScheduleChooser choose, choose_schedules(machine, workload, algorithms));
  return simulate_step(workload, machine, choose, {.steps = steps});
}

Result<Platform> CaseBuilder::platform(const SweepSetting& setting) {
  const auto known = platforms_.find(setting.value);
  if (known != platforms_.end()) return known->second;
  const std::filesystem::path beside = std::filesystem::path(sweep_.file_name).parent_path() / setting.value;
  std::error_code error;
  const bool is_beside = std::filesystem::is_regular_file(beside, error);
  HOCKET_TRY_ASSIGN(Platform loaded, placed(setting, load_platform(is_beside ? beside.string() : setting.value)));
  HOCKET_TRY(placed(setting, loaded.build_topology()));
  return platforms_.emplace(setting.value, std::move(loaded)).first->second;
}

Result<StepCase> CaseBuilder::make(std::uint64_t point) {
  const Settings settings(sweep_, point);
  StepCase made;
  HOCKET_TRY_ASSIGN(const SweepSetting* words, settings.need("platform"));
  HOCKET_TRY_ASSIGN(made.platform, platform(*words));
  HOCKET_TRY_ASSIGN(made.engine, set_fields(settings, made.platform));
  const auto at_point = [&](auto result) {
    if (!result) {
      result.error().text =
          fmt::format("{}: with {}: {}", sweep_.file_name, words_of(sweep_, point), result.error().text);
    }
    return result;
  };
  HOCKET_TRY(at_point(validate(made.platform)));
  HOCKET_TRY(at_point(made.platform.build_topology()));
  HOCKET_TRY_ASSIGN(made.workload, workload_of(settings, made.platform));
  HOCKET_TRY_ASSIGN(made.spread, spread_of(settings, made.platform));
  HOCKET_TRY_ASSIGN(made.steps, settings.number("steps", 1));
  if (const SweepSetting* algorithm = settings.find("algorithm")) {
    HOCKET_TRY(placed(*algorithm, find_algorithm(algorithm->value)));
    made.algorithms.push_back(algorithm->value);
  }
  return made;
}

}  // namespace hocket
