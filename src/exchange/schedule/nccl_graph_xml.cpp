// NCCL graph XML (NCCL_GRAPH_FILE) as a schedule, for the channels of one machine. Written: schedules whose channels
// are rings through all ranks, or chains that reduce to one end and spread from it (NCCL's trees inside a machine).
// Read: the first ring graph, or else tree graph, as an all_reduce; every channel carries an equal share. Described by
// exchange/kinds/nccl_graph_xml.cpp whether it is a schedule or not.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "algorithms/algorithm.h"
#include "algorithms/parts/rings.h"
#include "exchange/csv.h"
#include "exchange/nccl_graph.h"
#include "exchange/schedule_format.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

using Order = std::vector<std::uint32_t>;  // ranks along a ring, or down a chain from its root

constexpr std::string_view kRingPattern = "4", kTreePattern = "3";
constexpr std::size_t kOpsMax = std::size_t{1} << 22;

bool recognise(std::string_view bytes) { return root_element(bytes) == "graphs"; }

// ---- reading

std::string_view pattern_of(const NcclGraphs::Graph& graph) {
  for (const auto& [key, value] : graph.attributes) {
    if (key == "pattern") return value;
  }
  return "";
}

bool is_ring(const NcclGraphs::Graph& graph) { return pattern_of(graph) == kRingPattern; }

bool is_tree(const NcclGraphs::Graph& graph) {
  const std::string_view pattern = pattern_of(graph);
  return pattern == "1" || pattern == "2" || pattern == kTreePattern;
}

const NcclGraphs::Graph* graph_to_read(const NcclGraphs& graphs) {
  for (const auto wanted : {is_ring, is_tree}) {
    for (const NcclGraphs::Graph& graph : graphs.graphs) {
      if (wanted(graph) && !graph.channels.empty()) return &graph;
    }
  }
  return nullptr;
}

/// Ranks count up with the device numbers of the first channel; every channel must visit each of them once.
Result<std::vector<Order>> orders_of(const NcclGraphs::Graph& graph) {
  std::map<std::uint64_t, std::uint32_t> ranks;
  for (const NcclGraphs::Device& device : graph.channels.front()) {
    if (device.is_gpu) ranks.try_emplace(*whole_number(device.number), 0);
  }
  std::uint32_t next = 0;
  for (auto& [number, rank] : ranks) rank = next++;
  std::vector<Order> orders;
  orders.reserve(graph.channels.size());
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    Order order;
    std::set<std::uint32_t> seen;
    for (const NcclGraphs::Device& device : graph.channels[c]) {
      if (!device.is_gpu)
        return fail(Code::kUnsupported,
                    "channel {} leaves the machine through net {}: NCCL joins such channels when it "
                    "runs",
                    c, device.number);
      const auto rank = ranks.find(*whole_number(device.number));
      if (rank == ranks.end() || !seen.insert(rank->second).second)
        return fail(Code::kDisproved, "channel {} visits gpu {} {}", c, device.number,
                    rank == ranks.end() ? "which channel 0 does not" : "twice");
      order.push_back(rank->second);
    }
    if (order.size() != ranks.size())
      return fail(Code::kDisproved, "channel {} visits {} of {} gpus", c, order.size(), ranks.size());
    orders.push_back(std::move(order));
  }
  return orders;
}

Result<Schedule> schedule_of(const NcclGraphs& graphs) {
  const NcclGraphs::Graph* const graph = graph_to_read(graphs);
  if (graph == nullptr) return fail(Code::kUnsupported, "no graph with channels of a ring or tree pattern");
  HOCKET_TRY_ASSIGN(const std::vector<Order> orders, orders_of(*graph));
  const Collective collective{CollectiveKind::kAllReduce, static_cast<std::uint32_t>(orders.front().size()), 0};
  if (collective.ranks == 0) return fail(Code::kDisproved, "channel 0 visits no gpu");
  if (collective.ranks == 1) return plan_single_rank(collective);
  const std::size_t per_channel = is_ring(*graph) ? collective.ranks : kPipelinePieces;
  if (per_channel * collective.ranks * orders.size() > kOpsMax)
    return fail(Code::kResourceExhausted, "{} channels of {} gpus need over {} ops", orders.size(), collective.ranks,
                kOpsMax);
  const auto channels = static_cast<std::uint32_t>(orders.size());
  if (is_ring(*graph)) {
    const RingTrees rings = ring_trees(collective, orders);
    return schedule_trees(collective, {.up = rings.up, .down = rings.down, .channels = channels}, "nccl-rings");
  }
  Trees trees;
  for (std::uint32_t c = 0; c < channels; ++c) {
    for (std::uint32_t i = 0; i + 1 < collective.ranks; ++i) trees.add(c, orders[c][i], orders[c][i + 1], i);
  }
  return schedule_trees(
      collective, {.up = trees, .down = trees, .pieces_per_tree = kPipelinePieces, .channels = channels}, "nccl-trees");
}

Result<Schedule> read(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const NcclGraphs graphs, read_nccl_graphs(bytes, file_name));
  Result<Schedule> schedule = schedule_of(graphs);
  if (!schedule) return fail(schedule.error().code, "{}: {}", file_name, schedule.error().text);
  return schedule;
}

LossReport read_losses(std::string_view bytes) {
  LossReport losses;
  losses.assumed("", "all_reduce, an equal share for every channel", "a graph has no collective");
  losses.assumed("", "ranks in the order of the device numbers", "NCCL numbers them when it runs");
  losses.ignored("", "speeds and kinds of links", "a schedule has none: --topo");
  const Result<NcclGraphs> graphs = read_nccl_graphs(bytes, "");
  if (graphs && graphs->graphs.size() > 1)
    losses.ignored("", fmt::format("{} further graphs", graphs->graphs.size() - 1),
                   "NCCL chooses by size, one is read");
  return losses;
}

// ---- writing

/// What one channel of a schedule does: who passes to whom, and how many pieces in all.
struct ChannelMoves {
  std::set<std::pair<std::uint32_t, std::uint32_t>> reducing, spreading;  // from, to
  std::uint64_t pieces = 0;
};

std::map<std::uint16_t, ChannelMoves> moves_of(const Schedule& schedule) {
  std::map<std::uint16_t, ChannelMoves> channels;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    const Op& op = schedule.op(id);
    if (!op.receives()) continue;
    ChannelMoves& moves = channels[op.channel];
    (op.kind == OpKind::kRecvReduce ? moves.reducing : moves.spreading).emplace(op.peer, schedule.rank_of(id));
    moves.pieces += op.count;
  }
  return channels;
}

/// The one path or cycle through all ranks that the edges make; nothing when they make anything else.
std::optional<Order> order_along(const std::set<std::pair<std::uint32_t, std::uint32_t>>& edges, std::uint32_t ranks) {
  std::map<std::uint32_t, std::uint32_t> after, before;
  for (const auto& [from, to] : edges) {
    if (!after.emplace(from, to).second || !before.emplace(to, from).second) return std::nullopt;
  }
  std::uint32_t at = 0;
  while (at + 1 < ranks && before.contains(at)) ++at;
  if (before.contains(at)) at = 0;
  Order order{at};
  for (auto next = after.find(at); next != after.end() && order.size() < ranks; next = after.find(next->second))
    order.push_back(next->second);
  const std::set<std::uint32_t> distinct(order.begin(), order.end());
  if (distinct.size() != ranks) return std::nullopt;
  return order;
}

std::set<std::pair<std::uint32_t, std::uint32_t>> turned(
    const std::set<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const auto& [from, to] : edges) out.emplace(to, from);
  return out;
}

struct Found {
  bool ring = true;
  Order order;
};

Result<Found> channel_of(std::uint16_t number, const ChannelMoves& moves, std::uint32_t ranks) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> all = moves.reducing;
  all.insert(moves.spreading.begin(), moves.spreading.end());
  if (const auto ring = order_along(all, ranks)) return Found{true, *ring};
  const auto& down = moves.spreading.empty() ? turned(moves.reducing) : moves.spreading;
  const bool one_way = moves.spreading.empty() || moves.reducing.empty() || turned(moves.reducing) == moves.spreading;
  if (const auto chain = order_along(down, ranks); chain && one_way) return Found{false, *chain};
  std::map<std::uint32_t, std::uint32_t> children;
  for (const auto& [from, to] : down) {
    if (++children[from] == 2)
      return fail(Code::kUnsupported,
                  "NCCL's channels inside a machine are rings and chains: rank {} passes channel {} "
                  "on to several ranks",
                  from, number);
  }
  return fail(Code::kUnsupported,
              "NCCL's channels inside a machine are rings and chains through all ranks: channel {} "
              "is neither",
              number);
}

Result<NcclGraphs::Graph> graph_of(const Schedule& schedule) {
  if (!schedule.division().weights.empty())
    return fail(Code::kUnsupported, "NCCL cuts data equally among its channels, this schedule has weights");
  const std::map<std::uint16_t, ChannelMoves> channels = moves_of(schedule);
  if (channels.empty()) return fail(Code::kUnsupported, "no channel: nothing is sent");
  NcclGraphs::Graph graph;
  std::optional<bool> ring;
  for (const auto& [number, moves] : channels) {
    if (moves.pieces != channels.begin()->second.pieces)
      return fail(Code::kUnsupported,
                  "NCCL cuts data equally among its channels: channel {} moves {} pieces, channel {} "
                  "{}",
                  channels.begin()->first, channels.begin()->second.pieces, number, moves.pieces);
    HOCKET_TRY_ASSIGN(const Found found, channel_of(number, moves, schedule.rank_count()));
    if (ring.value_or(found.ring) != found.ring)
      return fail(Code::kUnsupported, "an NCCL graph is rings or chains: channel {} is not what those before are",
                  number);
    ring = found.ring;
    std::vector<NcclGraphs::Device> devices;
    devices.reserve(found.order.size());
    for (const std::uint32_t rank : found.order) devices.push_back({true, fmt::format("{}", rank)});
    graph.channels.push_back(std::move(devices));
  }
  graph.attributes = {{"id", *ring ? "0" : "1"}, {"pattern", std::string(*ring ? kRingPattern : kTreePattern)},
                      {"crossnic", "0"},         {"nchannels", fmt::format("{}", graph.channels.size())},
                      {"speedintra", "1"},       {"speedinter", "1"},
                      {"latencyinter", "0"},     {"typeintra", "NVL"},
                      {"typeinter", "PIX"},      {"samechannels", "0"}};
  return graph;
}

Result<std::string> write(const Schedule& schedule) {
  HOCKET_TRY_ASSIGN(NcclGraphs::Graph graph, graph_of(schedule));
  NcclGraphs graphs;
  graphs.graphs.push_back(std::move(graph));
  return write_nccl_graphs(graphs);
}

LossReport write_losses(const Schedule& schedule) {
  LossReport losses;
  losses.ignored("", "buffers, pieces, steps, dependencies, routes", "NCCL has its own program for a ring or a chain");
  if (schedule.collective().kind != CollectiveKind::kAllReduce)
    losses.ignored("", std::string(name_of(schedule.collective().kind)), "NCCL uses a graph for every collective");
  losses.assumed("", "1 GB/s for each channel, NVLink", "a schedule has no rates; NCCL's choice of protocol uses them");
  losses.assumed("", "rank i is device i of one machine", "a schedule has ranks only");
  return losses;
}

}  // namespace

extern const ScheduleFormat schedule_format_nccl_graph_xml{
    .name = "nccl-graph-xml",
    .extension = ".graph.xml",
    .description = "NCCL graph XML: rings and chains of one machine; nothing but their order",
    .recognise = recognise,
    .read = read,
    .write = write,
    .write_losses = write_losses,
    .read_losses = read_losses,
    .keeps_ops = false,
};

}  // namespace hocket
