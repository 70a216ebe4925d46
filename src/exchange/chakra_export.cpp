// A task graph as Chakra traces.
#include <algorithm>

#include "exchange/chakra_attributes.h"
#include "exchange/chakra_graph.h"

namespace hocket {
namespace {

std::uint64_t collective_number(CollectiveKind kind) {
  for (std::uint64_t number = 0; !chakra_collective(number).empty(); ++number) {
    if (chakra_collective(number) == name_of(kind)) return number;
  }
  return 0;
}

class Exporter {
 public:
  explicit Exporter(const TaskGraph& graph) : graph_(graph) {
    for (const RankDivision& division : graph.divisions) {
      first_group_.push_back(group_count_);
      group_count_ += division.groups.size();
      group_of_.push_back(groups_of_ranks(division, graph.ranks()));
    }
  }

  ChakraExport run() {
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) out_.traces.push_back(trace(rank));
    out_.groups = groups_text();
    if (uneven_ > 0)
      out_.losses.repaired("", fmt::format("{} all_gather(s)", uneven_), "size rounded up to equal shares");
    if (ties_ > 0)
      out_.losses.ignored("", fmt::format("{} tie(s) to the step before", ties_), "a trace holds one step");
    return std::move(out_);
  }

 private:
  ChakraTrace trace(std::uint32_t rank) {
    ChakraTrace trace{.version = "0.0.4", .metadata_others = {}, .nodes = {}};
    const std::vector<Task>& tasks = graph_.program(rank).tasks;
    trace.nodes.reserve(tasks.size());
    for (NodeId id = 0; id < tasks.size(); ++id) {
      ChakraNode& node = trace.nodes.emplace_back();
      node.id = id;
      node.name = tasks[id].name;
      node.data_dependencies.assign(tasks[id].after.begin(), tasks[id].after.end());
      ties_ += rank == 0 ? tasks[id].after_previous.size() : 0;
      fill(rank, tasks[id], node);
    }
    return trace;
  }

  void fill(std::uint32_t rank, const Task& task, ChakraNode& node) {
    node.attributes.push_back(chakra_bool("is_cpu_op", task.on_host));
    if (task.collective) return fill_collective(rank, *task.collective, node);
    if (task.message) return fill_message(rank, *task.message, node);
    const WorkCompute& c = task.compute;
    const bool empty = !c.stated && c.flops <= 0 && c.memory_bytes <= 0;
    node.type = empty ? ChakraNodeType::kMetadata : ChakraNodeType::kCompute;
    if (empty) return;
    if (c.stated) {
      const Picos time = to_picos(*c.stated);
      node.duration_us = static_cast<std::uint64_t>((time.count + 500'000) / 1'000'000);
      node.attributes.push_back(chakra_uint64(std::string(kChakraTime), static_cast<std::uint64_t>(time.count)));
      return;
    }
    node.attributes.push_back(chakra_uint64("num_ops", static_cast<std::uint64_t>(c.flops)));
    node.attributes.push_back(chakra_uint64("tensor_size", static_cast<std::uint64_t>(c.memory_bytes)));
    node.attributes.push_back(chakra_string(std::string(kChakraType), std::string(name_of(c.type))));
  }

  void fill_collective(std::uint32_t rank, const TaskCollective& collective, ChakraNode& node) {
    const std::uint32_t group = group_of_[collective.division][rank];
    const auto members = static_cast<std::int64_t>(graph_.divisions[collective.division].groups[group].size());
    std::int64_t bytes = collective.what.bytes.count;
    if (collective.what.kind == CollectiveKind::kAllGather) {
      uneven_ += rank == 0 && bytes % members != 0 ? 1 : 0;
      bytes = (bytes + members - 1) / members;
    }
    node.type = ChakraNodeType::kCollective;
    node.attributes.push_back(chakra_int64("comm_type", collective_number(collective.what.kind)));
    node.attributes.push_back(chakra_int64("comm_size", static_cast<std::uint64_t>(bytes)));
    node.attributes.push_back(chakra_string("pg_name", fmt::format("{}", first_group_[collective.division] + group)));
    node.attributes.push_back(chakra_string(std::string(kChakraType), std::string(name_of(collective.what.type))));
  }

  static void fill_message(std::uint32_t rank, const TaskMessage& message, ChakraNode& node) {
    node.type = message.sends ? ChakraNodeType::kSend : ChakraNodeType::kReceive;
    node.attributes.push_back(chakra_int32("comm_src", message.sends ? rank : message.peer));
    node.attributes.push_back(chakra_int32("comm_dst", message.sends ? message.peer : rank));
    node.attributes.push_back(chakra_int32("comm_tag", message.tag));
    node.attributes.push_back(chakra_int64("comm_size", static_cast<std::uint64_t>(message.bytes.count)));
  }

  [[nodiscard]] std::string groups_text() const {
    std::string text = "{";
    std::size_t number = 0;
    for (const RankDivision& division : graph_.divisions) {
      for (const std::vector<std::uint32_t>& group : division.groups) {
        text += fmt::format("{}\n  \"{}\": [{}]", number > 0 ? "," : "", number, fmt::join(group, ", "));
        ++number;
      }
    }
    return text + "\n}\n";
  }

  const TaskGraph& graph_;
  std::vector<std::size_t> first_group_;  // per division
  std::size_t group_count_ = 0;
  std::vector<std::vector<std::uint32_t>> group_of_;
  ChakraExport out_;
  std::size_t uneven_ = 0, ties_ = 0;
};

}  // namespace

Result<ChakraExport> export_chakra(const TaskGraph& graph) {
  HOCKET_TRY(validate(graph));
  return Exporter(graph).run();
}

}  // namespace hocket
