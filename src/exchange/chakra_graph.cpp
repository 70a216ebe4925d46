#include "exchange/chakra_graph.h"

#include <algorithm>
#include <unordered_map>

#include "exchange/chakra_attributes.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 60;
constexpr std::uint64_t kTimeMax_us = std::uint64_t{1} << 42;  // 50 days

struct Counts {
  std::size_t nodes = 0, kernels = 0, host = 0, collectives = 0, messages = 0, memory = 0, passed = 0;
  std::size_t host_sides = 0, dangling = 0, gathers = 0, rooted = 0, barriers = 0, replayed = 0, nested = 0;
};

/// One rank's trace as a program.
class TraceReader {
 public:
  TraceReader(const RankTrace& trace, std::uint32_t rank, const ChakraReading& reading, Counts& counts,
              std::map<std::string, std::vector<std::uint32_t>>& callers)
      : trace_(trace), rank_(rank), reading_(reading), counts_(counts), callers_(callers) {}

  Result<TaskProgram> read() {
    auto program = read_nodes();
    if (!program) return fail(program.error().code, "{}: {}", trace_.file, program.error().text);
    return program;
  }
  /// The pg_name of every collective, by its task; "" for none, "dims 0 2" for some dimensions.
  [[nodiscard]] const std::map<NodeId, std::string>& groups() const { return groups_; }

 private:
  Result<TaskProgram> read_nodes() {
    TaskProgram program{trace_.file, {}};
    for (NodeId i = 0; i < trace_.trace.nodes.size(); ++i) {
      const ChakraNode& node = trace_.trace.nodes[i];
      if (!place_.emplace(node.id, i).second) return fail(Code::kMalformed, "node {} stands twice", node.id);
    }
    program.tasks.reserve(trace_.trace.nodes.size());
    for (const ChakraNode& node : trace_.trace.nodes) {
      ++counts_.nodes;
      Task task{.name = printable(node.name.substr(0, 120)), .place = fmt::format("node {}", node.id)};
      add_dependencies(node, task);
      HOCKET_TRY(fill(node, static_cast<NodeId>(program.tasks.size()), task));
      program.tasks.push_back(std::move(task));
    }
    if (has_circle(program)) drop_nesting(program);
    return program;
  }

  /// Tracers of programs write who called or launched whom as control dependencies of the caller, and what the caller
  /// prepared as data of the callee: taken together these wait for one another. Only control dependencies of the host
  /// are dropped.
  void drop_nesting(TaskProgram& program) {
    for (NodeId i = 0; i < program.tasks.size(); ++i) {
      const ChakraNode& node = trace_.trace.nodes[i];
      if (!program.tasks[i].on_host) continue;
      std::erase_if(program.tasks[i].after, [&](NodeId on) {
        const std::uint64_t id = trace_.trace.nodes[on].id;
        const auto has = [id](const std::vector<std::uint64_t>& list) {
          return std::find(list.begin(), list.end(), id) != list.end();
        };
        const bool nests = has(node.control_dependencies) && !has(node.data_dependencies);
        counts_.nested += nests ? 1 : 0;
        return nests;
      });
    }
  }

  void add_dependencies(const ChakraNode& node, Task& task) {
    for (const auto* list : {&node.data_dependencies, &node.control_dependencies}) {
      for (const std::uint64_t id : *list) {
        const auto found = place_.find(id);
        if (found == place_.end()) {
          ++counts_.dangling;
        } else if (std::find(task.after.begin(), task.after.end(), found->second) == task.after.end()) {
          task.after.push_back(found->second);
        }
      }
    }
  }

  Result<void> fill(const ChakraNode& node, NodeId id, Task& task) {
    switch (node.type) {
      case ChakraNodeType::kInvalid:
      case ChakraNodeType::kMetadata:
        ++counts_.passed;
        return {};
      case ChakraNodeType::kMemoryLoad:
      case ChakraNodeType::kMemoryStore:
        return fill_memory(node, task);
      case ChakraNodeType::kCompute:
        return fill_compute(node, task);
      case ChakraNodeType::kSend:
      case ChakraNodeType::kReceive:
        return fill_message(node, task);
      case ChakraNodeType::kCollective:
        return fill_collective(node, id, task);
    }
    return {};
  }

  Result<std::uint64_t> bytes(const ChakraNode& node, std::string_view name) const {
    HOCKET_TRY_ASSIGN(const auto size, chakra_number(node, name));
    if (!size) return fail(Code::kMalformed, "node {} '{}': no {}", node.id, printable(node.name.substr(0, 80)), name);
    if (*size > kBytesMax) return fail(Code::kMalformed, "node {}: {} {}, at most {}", node.id, name, *size, kBytesMax);
    return *size;
  }

  Result<DataType> type(const ChakraNode& node, DataType otherwise) const {
    HOCKET_TRY_ASSIGN(const auto word, chakra_text(node, kChakraType));
    if (!word) return otherwise;
    return parse_data_type(*word);
  }

  /// The exact time where the trace has one, or its duration.
  Result<Seconds> time(const ChakraNode& node) const {
    HOCKET_TRY_ASSIGN(const auto exact, chakra_number(node, kChakraTime));
    if (exact && *exact < kTimeMax_us * 1'000'000) return Seconds{static_cast<double>(*exact) * 1e-12};
    if (exact || node.duration_us > kTimeMax_us)
      return fail(Code::kMalformed, "node {}: a duration of {} us, at most {}", node.id, node.duration_us, kTimeMax_us);
    return Seconds{static_cast<double>(node.duration_us) * 1e-6};
  }

  Result<void> fill_memory(const ChakraNode& node, Task& task) {
    HOCKET_TRY_ASSIGN(const std::uint64_t size, bytes(node, "tensor_size"));
    task.compute.memory_bytes = static_cast<double>(size);
    ++counts_.memory;
    return {};
  }

  Result<void> fill_compute(const ChakraNode& node, Task& task) {
    HOCKET_TRY_ASSIGN(const auto on_host, chakra_number(node, "is_cpu_op"));
    HOCKET_TRY_ASSIGN(const auto operations, chakra_number(node, "num_ops"));
    HOCKET_TRY_ASSIGN(const auto traffic, chakra_number(node, "tensor_size"));
    task.on_host = on_host.value_or(0) != 0;
    ++(task.on_host ? counts_.host : counts_.kernels);
    const bool has_work = operations.value_or(0) > 0 || traffic.value_or(0) > 0;
    if (task.on_host || !has_work) {
      HOCKET_TRY_ASSIGN(task.compute.stated, time(node));
      return {};
    }
    HOCKET_TRY_ASSIGN(task.compute.type, type(node, reading_.compute));
    task.compute.flops = static_cast<double>(operations.value_or(0));
    task.compute.memory_bytes = static_cast<double>(traffic.value_or(0));
    return {};
  }

  Result<void> fill_message(const ChakraNode& node, Task& task) {
    const bool sends = node.type == ChakraNodeType::kSend;
    HOCKET_TRY_ASSIGN(const auto from, chakra_number(node, "comm_src"));
    HOCKET_TRY_ASSIGN(const auto to, chakra_number(node, "comm_dst"));
    HOCKET_TRY_ASSIGN(const auto tag, chakra_number(node, "comm_tag"));
    HOCKET_TRY_ASSIGN(const std::uint64_t size, bytes(node, "comm_size"));
    const auto& peer = sends ? to : from;
    const auto& own = sends ? from : to;
    const std::string_view name = sends ? "comm_dst" : "comm_src";
    if (!peer) return fail(Code::kMalformed, "node {} '{}': no {}", node.id, task.name, name);
    if (own && *own != rank_) {
      return fail(Code::kMismatch, "node {} '{}': {} {} in the trace of rank {}", node.id, task.name,
                  sends ? "comm_src" : "comm_dst", *own, rank_);
    }
    if (*peer >= reading_.layout.ranks || *peer == rank_) {
      return fail(Code::kMismatch, "node {} '{}': {} {} in the trace of rank {} of {}", node.id, task.name, name, *peer,
                  rank_, reading_.layout.ranks);
    }
    task.message = TaskMessage{sends,
                               static_cast<std::uint32_t>(*peer),
                               static_cast<std::uint32_t>(tag.value_or(0)),
                               {static_cast<std::int64_t>(size)}};
    ++counts_.messages;
    return {};
  }

  Result<void> fill_collective(const ChakraNode& node, NodeId id, Task& task) {
    HOCKET_TRY_ASSIGN(const auto kind, chakra_number(node, "comm_type"));
    HOCKET_TRY_ASSIGN(const auto on_host, chakra_number(node, "is_cpu_op"));
    if (!kind && on_host.value_or(0) != 0) {
      ++counts_.host_sides;
      task.on_host = true;
      HOCKET_TRY_ASSIGN(task.compute.stated, time(node));
      return {};
    }
    if (!kind) return fail(Code::kMalformed, "node {} '{}': a collective without comm_type", node.id, task.name);
    HOCKET_TRY_ASSIGN(WorkCollective what, collective(node, *kind));
    HOCKET_TRY_ASSIGN(what.type, type(node, what.bytes.count % 2 == 0 ? DataType::kF16 : DataType::kU8));
    HOCKET_TRY_ASSIGN(const std::string group, group_name(node));
    std::vector<std::uint32_t>& callers = callers_[group];
    if (callers.empty() || callers.back() != rank_) callers.push_back(rank_);
    groups_[id] = group;
    task.collective = TaskCollective{what, 0};
    ++counts_.collectives;
    counts_.replayed += node.duration_us > 0 ? 1 : 0;
    return {};
  }

  Result<WorkCollective> collective(const ChakraNode& node, std::uint64_t kind) {
    const std::string_view word = chakra_collective(kind);
    if (word.empty()) return fail(Code::kUnsupported, "node {}: comm_type {} is unknown", node.id, kind);
    if (word == "gather" || word == "scatter")
      return fail(Code::kUnsupported, "node {}: collective '{}' is not simulated", node.id, word);
    if (word == "barrier") {
      ++counts_.barriers;
      return WorkCollective{CollectiveKind::kAllReduce, {0}, DataType::kU8};
    }
    HOCKET_TRY_ASSIGN(const std::uint64_t size, bytes(node, "comm_size"));
    HOCKET_TRY_ASSIGN(const CollectiveKind parsed,
                      parse_collective(word == "reduce_scatter_block" ? "reduce_scatter" : word));
    counts_.rooted += is_rooted(parsed) ? 1 : 0;
    counts_.gathers += parsed == CollectiveKind::kAllGather ? 1 : 0;
    return WorkCollective{parsed, {static_cast<std::int64_t>(size)}, DataType::kU8};
  }

  /// "" for all ranks.
  Result<std::string> group_name(const ChakraNode& node) const {
    HOCKET_TRY_ASSIGN(const auto name, chakra_text(node, "pg_name"));
    if (name && !name->empty()) return *name;
    HOCKET_TRY_ASSIGN(const auto flags, chakra_flags(node, "involved_dim"));
    const std::size_t dimensions = std::max<std::size_t>(1, reading_.layout.extents.size());
    std::string used;
    bool all = true;
    for (std::size_t d = 0; flags && d < dimensions; ++d) {
      const bool in = d < flags->size() && (*flags)[d];
      all = all && in;
      if (in) used += fmt::format(" {}", d);
    }
    return all ? std::string() : "dims" + used;
  }

  const RankTrace& trace_;
  std::uint32_t rank_;
  const ChakraReading& reading_;
  Counts& counts_;
  std::map<std::string, std::vector<std::uint32_t>>& callers_;
  std::unordered_map<std::uint64_t, NodeId> place_;  // by node id; looked up only
  std::map<NodeId, std::string> groups_;
};

/// Ranks that differ in the named dimensions only.
RankDivision along_dimensions(const std::string& name, const RankLayout& layout) {
  RankDivision division{name, {}};
  std::map<std::vector<std::uint32_t>, std::size_t> places;
  for (std::uint32_t rank = 0; rank < layout.ranks; ++rank) {
    std::vector<std::uint32_t> fixed;
    std::uint32_t left = rank;
    for (std::size_t d = 0; d < layout.extents.size(); ++d) {
      const bool used = (name + " ").find(fmt::format(" {} ", d)) != std::string::npos;
      if (!used) fixed.push_back(left % layout.extents[d]);
      left /= layout.extents[d];
    }
    const auto found = places.emplace(std::move(fixed), division.groups.size());
    if (found.second) division.groups.emplace_back();
    division.groups[found.first->second].push_back(rank);
  }
  return division;
}

void note_losses(const Counts& counts, ImportedGraph& imported) {
  imported.counts = {
      fmt::format("nodes: {} read, {} kept", counts.nodes, counts.nodes - counts.passed),
      fmt::format("{} kernels, {} of the host, {} collectives, {} messages, {} memory accesses", counts.kernels,
                  counts.host + counts.host_sides, counts.collectives, counts.messages, counts.memory)};
  LossReport& losses = imported.losses;
  const auto several = [](std::size_t n, std::string_view what) { return fmt::format("{} {}", n, what); };
  if (counts.passed > 0)
    losses.ignored("", several(counts.passed, "metadata node(s)"), "no work; their dependencies are kept");
  if (counts.dangling > 0)
    losses.repaired("dependencies", several(counts.dangling, "on nodes that are not in the file"), "dropped");
  if (counts.nested > 0) {
    losses.repaired("ctrl_deps", several(counts.nested, "of calls of the host"),
                    "dropped: with the data they wait for one another");
  }
  if (counts.host_sides > 0)
    losses.assumed("", several(counts.host_sides, "collective(s) without comm_type as work of the host"),
                   "the host's side of a collective; the device's side counts");
  if (counts.replayed > 0)
    losses.ignored("", fmt::format("durations of {} collective(s)", counts.replayed), "they are simulated");
  if (counts.gathers > 0)
    losses.assumed("comm_size", fmt::format("the size of {} all_gather as one rank's share", counts.gathers),
                   "what ASTRA-sim means by it");
  if (counts.rooted > 0)
    losses.assumed("", fmt::format("the first member as root of {} collective(s)", counts.rooted),
                   "the trace does not say");
  if (counts.barriers > 0)
    losses.assumed("", several(counts.barriers, "barrier(s) without bytes"), "members wait for one another");
  if (counts.memory > 0)
    losses.assumed("", several(counts.memory, "memory access(es) as local ones"), "no remote memory is modelled");
}

/// Numbers the groups of all collectives and gives them their members.
Result<std::map<std::string, std::uint32_t>> add_divisions(
    const ChakraReading& reading, const std::map<std::string, std::vector<std::uint32_t>>& callers,
    ImportedGraph& imported) {
  std::map<std::string, std::uint32_t> numbers;
  std::size_t unlisted = 0;
  for (const auto& entry : callers) {
    const std::string& name = entry.first;
    numbers.emplace(name, static_cast<std::uint32_t>(imported.graph.divisions.size()));
    const auto listed = reading.groups.find(name);
    if (name.starts_with("dims") && listed == reading.groups.end()) {
      imported.graph.divisions.push_back(along_dimensions(name, reading.layout));
      continue;
    }
    std::vector<std::uint32_t> members = listed != reading.groups.end() ? listed->second : entry.second;
    if (members.back() >= reading.layout.ranks) {
      return fail(Code::kMismatch, "group '{}' has rank {}, the platform has {} ranks", printable(name), members.back(),
                  reading.layout.ranks);
    }
    if (name.empty()) {
      members.resize(reading.layout.ranks);
      for (std::uint32_t rank = 0; rank < reading.layout.ranks; ++rank) members[rank] = rank;
    } else if (listed == reading.groups.end()) {
      ++unlisted;
    }
    imported.graph.divisions.push_back({name.empty() ? "all" : printable(name), {std::move(members)}});
  }
  if (unlisted > 0) {
    imported.losses.assumed("pg_name", fmt::format("the callers as members of {} group(s)", unlisted),
                            "no groups file lists them");
  }
  return numbers;
}

}  // namespace

Result<ImportedGraph> graph_of(std::span<const RankTrace> traces, const ChakraReading& reading) {
  if (traces.size() != reading.layout.ranks)
    return fail(Code::kMismatch, "{} traces, the platform has {} ranks", traces.size(), reading.layout.ranks);
  ImportedGraph imported;
  TaskGraph& graph = imported.graph;
  graph.name = traces.front().file;
  graph.source = fmt::format("Chakra traces of {} ranks, schema '{}'", traces.size(),
                             printable(traces.front().trace.version.substr(0, 40)));
  Counts counts;
  std::map<std::string, std::vector<std::uint32_t>> callers;
  std::vector<std::map<NodeId, std::string>> groups;
  groups.reserve(traces.size());
  for (std::uint32_t rank = 0; rank < traces.size(); ++rank) {
    TraceReader reader(traces[rank], rank, reading, counts, callers);
    HOCKET_TRY_ASSIGN(TaskProgram program, reader.read());
    graph.programs.push_back(std::move(program));
    graph.program_of.push_back(rank);
    groups.push_back(reader.groups());
  }
  note_losses(counts, imported);
  HOCKET_TRY_ASSIGN(const auto numbers, add_divisions(reading, callers, imported));
  std::vector<std::vector<std::uint32_t>> group_of;
  group_of.reserve(graph.divisions.size());
  for (const RankDivision& division : graph.divisions) group_of.push_back(groups_of_ranks(division, graph.ranks()));
  for (std::uint32_t rank = 0; rank < traces.size(); ++rank) {
    for (const auto& entry : groups[rank]) {
      TaskCollective& collective = *graph.programs[rank].tasks[entry.first].collective;
      collective.division = numbers.at(entry.second);
      if (collective.what.kind != CollectiveKind::kAllGather) continue;
      const std::uint32_t group = group_of[collective.division][rank];
      if (group == kNoGroup) continue;  // validate() says so
      const auto members = static_cast<std::int64_t>(graph.divisions[collective.division].groups[group].size());
      if (collective.what.bytes.count > INT64_MAX / members) {
        return fail(Code::kMalformed, "{}: an all_gather of {} bytes from each of {} ranks", traces[rank].file,
                    collective.what.bytes.count, members);
      }
      collective.what.bytes.count *= members;
    }
  }
  return imported;
}

}  // namespace hocket
