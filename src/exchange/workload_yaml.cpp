#include "exchange/workload_yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/spelling.h"
#include "exchange/text_place.h"
#include "exchange/yaml_text.h"

namespace hocket {
namespace {

constexpr std::size_t kTextMax = std::size_t{64} << 20;
constexpr std::uint64_t kRanksMax = std::uint64_t{1} << 22;
constexpr std::array kKinds{CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                            CollectiveKind::kBroadcast, CollectiveKind::kReduce,        CollectiveKind::kAllToAll};
constexpr std::array kPhases{StepPhase::kForward, StepPhase::kInputGradient, StepPhase::kWeightGradient,
                             StepPhase::kUpdate};

std::string scalar(const YAML::Node& node) { return node.IsScalar() ? node.Scalar() : std::string(); }

class WorkloadYaml {
 public:
  WorkloadYaml(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<TaskGraph> read() {
    if (text_.size() > kTextMax) return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name_, kTextMax);
    HOCKET_TRY_ASSIGN(const YAML::Node root, parse_yaml_map(text_, file_name_));
    HOCKET_TRY(check_keys(root, {"hocket", "name", "source", "ranks", "memory", "groups", "programs"}));
    if (scalar(root["hocket"]) != "workload") return error_at(root, "no 'hocket: workload'");
    graph_.name = root["name"] ? scalar(root["name"]) : std::string(file_name_);
    graph_.source = root["source"] ? scalar(root["source"]) : std::string("workload file");
    HOCKET_TRY_ASSIGN(const std::uint64_t ranks, number(root, "ranks", kRanksMax));
    if (ranks == 0) return error_at(root["ranks"], "ranks: 0");
    graph_.program_of.assign(ranks, kNoGroup);
    HOCKET_TRY(read_memory(root["memory"]));
    HOCKET_TRY(read_groups(root["groups"]));
    HOCKET_TRY(read_programs(root));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (graph_.program_of[rank] == kNoGroup) return error_at(root["programs"], "rank {} has no program", rank);
    }
    HOCKET_TRY(validate(graph_));
    return std::move(graph_);
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error_at(const YAML::Node& node, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Code::kMalformed, "{}: {}", yaml_place(node, file_name_),
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> check_keys(const YAML::Node& map, const std::vector<std::string_view>& known) const {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const std::string key = scalar(entry.first);
      if (std::find(known.begin(), known.end(), key) == known.end())
        return error_at(entry.first, "unknown key '{}'{}", key.substr(0, 80), spelling_hint(key, known));
      if (!seen.insert(key).second) return error_at(entry.first, "key '{}' stands twice", key);
    }
    return {};
  }

  Result<std::uint64_t> number_of(const YAML::Node& node, std::string_view key, std::uint64_t most) const {
    const std::string text = scalar(node);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > most)
      return error_at(node, "{}: '{}' is no whole number from 0 to {}", key, text.substr(0, 40), most);
    return value;
  }
  Result<std::uint64_t> number(const YAML::Node& map, const std::string& key, std::uint64_t most) const {
    if (!map[key]) return error_at(map, "key '{}' is missing", key);
    return number_of(map[key], key, most);
  }

  /// A plain number, as it stands in what is written.
  Result<double> amount(const YAML::Node& node, std::string_view key) const {
    const std::string text = scalar(node);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
      return error_at(node, "{}: '{}' is no number from 0", key, text.substr(0, 40));
    return value;
  }

  template <class T>
  Result<T> at(const YAML::Node& node, std::string_view key, Result<T> parsed) const {
    if (!parsed) return error_at(node, "{}: {}", key, parsed.error().text.substr(0, 200));
    return parsed;
  }

  Result<std::vector<std::uint32_t>> numbers(const YAML::Node& list, std::string_view key, std::uint64_t most) const {
    if (!list.IsSequence()) return error_at(list, "{}: not a list of numbers", key);
    std::vector<std::uint32_t> found;
    found.reserve(list.size());
    for (const YAML::Node& entry : list) {
      HOCKET_TRY_ASSIGN(const std::uint64_t value, number_of(entry, key, most));
      found.push_back(static_cast<std::uint32_t>(value));
    }
    return found;
  }

  /// A plain number of bytes, or one with a unit.
  Result<double> byte_amount(const YAML::Node& node, std::string_view key) const {
    Result<double> plain = amount(node, key);
    if (plain) return plain;
    HOCKET_TRY_ASSIGN(const Bytes bytes, at(node, key, parse_bytes(scalar(node))));
    return static_cast<double>(bytes.count);
  }

  Result<void> read_memory(const YAML::Node& memory) {
    if (!memory) return {};
    if (!memory.IsMap()) return error_at(memory, "memory: not a map of parameters, gradients, optimizer, activations");
    HOCKET_TRY(check_keys(memory, {"parameters", "gradients", "optimizer", "activations"}));
    WorkMemory read;
    for (const auto& [key, part] : {std::pair("parameters", &WorkMemory::parameters),
                                    {"gradients", &WorkMemory::gradients},
                                    {"optimizer", &WorkMemory::optimizer},
                                    {"activations", &WorkMemory::activations}}) {
      if (!memory[key]) return error_at(memory, "key '{}' is missing", key);
      HOCKET_TRY_ASSIGN(read.*part, byte_amount(memory[key], key));
    }
    graph_.memory = read;
    return {};
  }

  Result<void> read_groups(const YAML::Node& groups) {
    RankDivision all{"all", {{}}};
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) all.groups[0].push_back(rank);
    graph_.divisions.push_back(std::move(all));
    if (!groups) return {};
    if (!groups.IsMap()) return error_at(groups, "groups: not a map of names and lists of ranks");
    for (const auto& entry : groups) {
      RankDivision division{scalar(entry.first), {}};
      const bool known = std::any_of(graph_.divisions.begin(), graph_.divisions.end(),
                                     [&](const RankDivision& d) { return d.name == division.name; });
      if (known || division.name.empty())
        return error_at(entry.first, "group '{}' stands twice, or is 'all'", division.name.substr(0, 80));
      if (!entry.second.IsSequence()) return error_at(entry.second, "group '{}': not a list of lists", division.name);
      for (const YAML::Node& list : entry.second) {
        HOCKET_TRY_ASSIGN(std::vector<std::uint32_t> ranks, numbers(list, division.name, graph_.ranks() - 1));
        if (ranks.empty()) return error_at(list, "group '{}' without ranks", division.name);
        division.groups.push_back(std::move(ranks));
      }
      graph_.divisions.push_back(std::move(division));
    }
    return {};
  }

  Result<void> read_programs(const YAML::Node& root) {
    const YAML::Node programs = root["programs"];
    if (!programs || !programs.IsSequence()) return error_at(root, "key 'programs' is no list");
    for (const YAML::Node& entry : programs) {
      if (!entry.IsMap()) return error_at(entry, "a program is no map of ranks and tasks");
      HOCKET_TRY(check_keys(entry, {"ranks", "tasks"}));
      const auto id = static_cast<std::uint32_t>(graph_.programs.size());
      HOCKET_TRY(assign(entry, id));
      const YAML::Node tasks = entry["tasks"];
      if (!tasks || !tasks.IsSequence()) return error_at(entry, "key 'tasks' is no list");
      TaskProgram program{std::string(file_name_), {}};
      program.tasks.reserve(tasks.size());
      for (const YAML::Node& task : tasks) {
        if (!task.IsMap()) return error_at(task, "a task is no map of keys and values");
        HOCKET_TRY_ASSIGN(Task read, read_task(task, tasks.size()));
        program.tasks.push_back(std::move(read));
      }
      graph_.programs.push_back(std::move(program));
    }
    return {};
  }

  Result<void> assign(const YAML::Node& program, std::uint32_t id) {
    const YAML::Node ranks = program["ranks"];
    if (!ranks) return error_at(program, "key 'ranks' is missing");
    std::vector<std::uint32_t> list;
    if (scalar(ranks) == "all") {
      for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) list.push_back(rank);
    } else {
      HOCKET_TRY_ASSIGN(list, numbers(ranks, "ranks", graph_.ranks() - 1));
    }
    for (const std::uint32_t rank : list) {
      if (graph_.program_of[rank] != kNoGroup) return error_at(ranks, "rank {} has two programs", rank);
      graph_.program_of[rank] = id;
    }
    return {};
  }

  Result<Task> read_task(const YAML::Node& map, std::size_t count) const {
    HOCKET_TRY(check_keys(
        map, {"name",       "phase",          "flops",      "type",      "memory", "time",       "host",
              "all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all", "group",
              "send",       "receive",        "to",         "from",      "tag",    "after",      "after_previous"}));
    Task task{.name = map["name"] ? scalar(map["name"]) : std::string("task"),
              .place = fmt::format("line {}", map.Mark().line + 1)};
    HOCKET_TRY(read_phase(map, task));
    HOCKET_TRY(read_compute(map, task));
    HOCKET_TRY(read_collective(map, task));
    HOCKET_TRY(read_message(map, task));
    if (map["after"]) {
      HOCKET_TRY_ASSIGN(task.after, numbers(map["after"], "after", count - 1));
    }
    if (map["after_previous"]) {
      HOCKET_TRY_ASSIGN(task.after_previous, numbers(map["after_previous"], "after_previous", count - 1));
    }
    return task;
  }

  Result<void> read_phase(const YAML::Node& map, Task& task) const {
    if (!map["phase"]) return {};
    for (const StepPhase phase : kPhases) {
      if (name_of(phase) != scalar(map["phase"])) continue;
      task.phase = phase;
      return {};
    }
    return error_at(map["phase"], "phase '{}' is unknown", scalar(map["phase"]).substr(0, 40));
  }

  Result<void> read_compute(const YAML::Node& map, Task& task) const {
    if (map["flops"]) {
      HOCKET_TRY_ASSIGN(task.compute.flops, amount(map["flops"], "flops"));
    }
    if (const YAML::Node memory = map["memory"]) {
      HOCKET_TRY_ASSIGN(task.compute.memory_bytes, byte_amount(memory, "memory"));
    }
    if (map["time"] && map["host"]) return error_at(map, "both 'time' and 'host'");
    task.on_host = static_cast<bool>(map["host"]);
    const std::string key = task.on_host ? "host" : "time";
    if (map[key]) {
      HOCKET_TRY_ASSIGN(task.compute.stated, at(map[key], key, parse_seconds(scalar(map[key]))));
    }
    for (const char* const other : {"flops", "memory"}) {
      if (task.compute.stated && map[other])
        return error_at(map[other], "'{}' beside '{}': a time stands in place of operations and traffic", other, key);
    }
    if (map["type"]) {
      HOCKET_TRY_ASSIGN(task.compute.type, at(map["type"], "type", parse_data_type(scalar(map["type"]))));
    }
    return {};
  }

  Result<void> read_collective(const YAML::Node& map, Task& task) const {
    for (const CollectiveKind kind : kKinds) {
      const YAML::Node size = map[std::string(name_of(kind))];
      if (!size) continue;
      if (task.collective) return error_at(size, "two collectives in one task");
      HOCKET_TRY_ASSIGN(const Bytes bytes, at(size, name_of(kind), parse_bytes(scalar(size))));
      const DataType type = map["type"] ? task.compute.type : DataType::kF32;
      task.collective = TaskCollective{{kind, bytes, type}, 0};
    }
    if (!map["group"]) return {};
    if (!task.collective) return error_at(map["group"], "a group without a collective");
    const std::string name = scalar(map["group"]);
    for (std::uint32_t d = 0; d < graph_.divisions.size(); ++d) {
      if (graph_.divisions[d].name != name) continue;
      task.collective->division = d;
      return {};
    }
    return error_at(map["group"], "group '{}' is unknown", name.substr(0, 80));
  }

  Result<void> read_message(const YAML::Node& map, Task& task) const {
    const bool sends = static_cast<bool>(map["send"]);
    if (sends && map["receive"]) return error_at(map, "both 'send' and 'receive'");
    const std::string key = sends ? "send" : "receive";
    if (!map[key]) {
      for (const char* const other : {"to", "from", "tag"}) {
        if (map[other]) return error_at(map[other], "'{}' without a message", other);
      }
      return {};
    }
    const std::string peer = sends ? "to" : "from";
    if (map[sends ? "from" : "to"]) return error_at(map, "'{}' of a {}", sends ? "from" : "to", key);
    task.message = TaskMessage{.sends = sends};
    HOCKET_TRY_ASSIGN(task.message->bytes, at(map[key], key, parse_bytes(scalar(map[key]))));
    HOCKET_TRY_ASSIGN(const std::uint64_t rank, number(map, peer, graph_.ranks() - 1));
    task.message->peer = static_cast<std::uint32_t>(rank);
    if (map["tag"]) {
      HOCKET_TRY_ASSIGN(const std::uint64_t tag, number(map, "tag", UINT32_MAX));
      task.message->tag = static_cast<std::uint32_t>(tag);
    }
    return {};
  }

  std::string_view text_, file_name_;
  TaskGraph graph_;
};

Result<std::string> task_text(const TaskGraph& graph, const Task& task) {
  HOCKET_TRY_ASSIGN(const std::string name, yaml_quoted(task.name));
  std::string out = fmt::format("{{name: {}", name);
  if (task.phase != StepPhase::kForward) out += fmt::format(", phase: {}", name_of(task.phase));
  const WorkCompute& c = task.compute;
  if (c.flops > 0 && !c.stated) out += fmt::format(", flops: {}", c.flops);
  if (c.memory_bytes > 0 && !c.stated) out += fmt::format(", memory: {}", c.memory_bytes);
  if (c.stated) out += fmt::format(", {}: {}", task.on_host ? "host" : "time", exact_seconds(*c.stated));
  if (task.collective) {
    const WorkCollective& what = task.collective->what;
    HOCKET_TRY_ASSIGN(const std::string group, yaml_quoted(graph.divisions[task.collective->division].name));
    out += fmt::format(", {}: {}, type: {}, group: {}", name_of(what.kind), format_bytes(what.bytes),
                       name_of(what.type), group);
  } else if (c.flops > 0 && !c.stated) {
    out += fmt::format(", type: {}", name_of(c.type));
  }
  if (task.message) {
    out += fmt::format(", {}: {}, {}: {}, tag: {}", task.message->sends ? "send" : "receive",
                       format_bytes(task.message->bytes), task.message->sends ? "to" : "from", task.message->peer,
                       task.message->tag);
  }
  if (!task.after.empty()) out += fmt::format(", after: [{}]", fmt::join(task.after, ", "));
  if (!task.after_previous.empty()) out += fmt::format(", after_previous: [{}]", fmt::join(task.after_previous, ", "));
  return out + "}";
}

}  // namespace

bool looks_like_workload_yaml(std::string_view text) {
  return has_yaml_key(text, "hocket") && has_yaml_key(text, "programs");
}

Result<TaskGraph> read_workload_yaml(std::string_view text, std::string_view file_name) {
  return guard_yaml(file_name, [&] { return WorkloadYaml(text, file_name).read(); });
}

Result<std::string> write_workload_yaml(const TaskGraph& graph) {
  HOCKET_TRY_ASSIGN(const std::string name, yaml_quoted(graph.name));
  HOCKET_TRY_ASSIGN(const std::string source, yaml_quoted(graph.source));
  std::string out = fmt::format("hocket: workload\nname: {}\nsource: {}\nranks: {}\n", name, source, graph.ranks());
  if (graph.memory) {
    out += fmt::format("memory: {{parameters: {}, gradients: {}, optimizer: {}, activations: {}}}\n",
                       graph.memory->parameters, graph.memory->gradients, graph.memory->optimizer,
                       graph.memory->activations);
  }
  out += "groups:";
  std::string groups;
  for (const RankDivision& division : graph.divisions) {
    if (division.name == "all") continue;
    HOCKET_TRY_ASSIGN(const std::string quoted, yaml_quoted(division.name));
    groups += fmt::format("\n  {}:", quoted);
    for (const auto& group : division.groups) groups += fmt::format("\n    - [{}]", fmt::join(group, ", "));
  }
  out += groups.empty() ? " {}" : groups;
  out += "\nprograms:\n";
  for (std::uint32_t p = 0; p < graph.programs.size(); ++p) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
      if (graph.program_of[rank] == p) ranks.push_back(rank);
    }
    const std::string list =
        ranks.size() == graph.ranks() ? std::string("all") : fmt::format("[{}]", fmt::join(ranks, ", "));
    out += fmt::format("  - ranks: {}\n    tasks:{}\n", list, graph.programs[p].tasks.empty() ? " []" : "");
    for (const Task& task : graph.programs[p].tasks) {
      HOCKET_TRY_ASSIGN(const std::string text, task_text(graph, task));
      out += fmt::format("      - {}\n", text);
    }
  }
  return out;
}

}  // namespace hocket
