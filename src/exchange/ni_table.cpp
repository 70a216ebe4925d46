// Derives the tables of a schedule: follows every piece through the ops in an order in which they can run, cuts the
// vector into flows where messages begin and end, and reads each flow's tree off its messages.
#include "exchange/ni_table.h"

#include <algorithm>
#include <map>

#include "exchange/ni_table_parts.h"
#include "schedule/order.h"

namespace hocket {
namespace {

/// A message of the schedule in terms of the vector's pieces.
struct Message {
  OpId send = kNoOp;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t piece = 0;
  std::uint32_t count = 0;
  std::uint32_t step = 0;
  bool sum = false;
};

class Tabulator {
 public:
  Tabulator(const Schedule& schedule, LossReport& losses) : schedule_(schedule), losses_(losses) {}

  Result<NiTables> run() {
    HOCKET_TRY(check_kind());
    HOCKET_TRY(follow_pieces());
    cut_flows();
    const std::uint64_t cells = std::uint64_t{flows_.size()} * schedule_.rank_count();
    if (cells > kNiTableMax) {
      return fail(Code::kResourceExhausted, "tables of {} flows for {} ranks are over the limit of {} entries a phase",
                  flows_.size(), schedule_.rank_count(), kNiTableMax);
    }
    set_steps();
    up_ = NiEdges(flows_.size(), schedule_.rank_count());
    down_ = up_;
    for (const Message& m : messages_) HOCKET_TRY(add_edges(m));
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) HOCKET_TRY(find_root(flow));
    return write_tables();
  }

 private:
  [[nodiscard]] Result<void> check_kind() const {
    if (schedule_.rank_count() == 1)
      return fail(Code::kUnsupported, "one rank has nothing to send, so no network-interface tables");
    const CollectiveKind kind = schedule_.collective().kind;
    if (kind != CollectiveKind::kAllToAll) return {};
    return fail(Code::kUnsupported, "'{}' is an {}: every pair of ranks has data of its own, which no tree carries",
                schedule_.algorithm(), name_of(kind));
  }

  [[nodiscard]] Error unfit(OpId id, std::string_view why) const {
    return {Code::kUnsupported, fmt::format("'{}' has no network-interface tables: {}: {}", schedule_.algorithm(),
                                            schedule_.describe(id), why)};
  }

  /// The vector's piece behind piece `i` of a range; kNoOp in scratch that holds nothing.
  [[nodiscard]] std::uint32_t content(std::uint32_t rank, const PieceRange& range, std::uint32_t i) const {
    if (range.buffer != Buffer::kScratch) return range.piece + i;
    return scratch_[std::size_t{rank} * schedule_.scratch_pieces() + range.piece + i];
  }

  Result<void> follow_pieces() {
    scratch_.assign(std::size_t{schedule_.rank_count()} * schedule_.scratch_pieces(), kNoOp);
    sent_.assign(schedule_.ops().size(), {});
    std::size_t copies = 0;
    for (const OpId id : execution_order(schedule_)) {
      const Op& op = schedule_.op(id);
      if (op.kind == OpKind::kReduce) return tl::unexpected<Error>(unfit(id, "only arriving data can be added"));
      if (!op.reads_source() && !op.writes_target()) {
        return tl::unexpected<Error>(unfit(id, "a table has no such entry"));
      }
      if (op.kind == OpKind::kCopy) ++copies;
      HOCKET_TRY(op.sends() ? record_send(id) : record_write(id));
    }
    if (copies > 0) losses_.ignored("", fmt::format("{} local copies", copies), "entries are messages only");
    return {};
  }

  Result<void> record_send(OpId id) {
    const Op& op = schedule_.op(id);
    const std::uint32_t rank = schedule_.rank_of(id);
    std::vector<std::uint32_t>& pieces = sent_[id];
    pieces.reserve(op.count);
    for (std::uint32_t i = 0; i < op.count; ++i) pieces.push_back(content(rank, op.source(), i));
    const bool sum = schedule_.op(schedule_.match(id)).kind == OpKind::kRecvReduce;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      if (i > 0 && pieces[i] == pieces[i - 1] + 1) {
        ++messages_.back().count;
      } else {
        messages_.push_back({id, rank, op.peer, pieces[i], 1, op.step, sum});
      }
    }
    return {};
  }

  /// Receives and copies: a piece keeps its place in input and output, scratch holds any.
  Result<void> record_write(OpId id) {
    const Op& op = schedule_.op(id);
    const std::uint32_t rank = schedule_.rank_of(id);
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const std::uint32_t piece = op.receives() ? sent_[schedule_.match(id)][i] : content(rank, op.source(), i);
      if (op.kind == OpKind::kRecvReduce && content(rank, op.source(), i) != piece)
        return tl::unexpected<Error>(unfit(id, "it adds two different pieces"));
      if (op.target().buffer == Buffer::kScratch) {
        scratch_[std::size_t{rank} * schedule_.scratch_pieces() + op.target_piece + i] = piece;
      } else if (op.target_piece + i != piece) {
        return tl::unexpected<Error>(unfit(id, fmt::format("it moves piece {} to another place", piece)));
      }
    }
    return {};
  }

  void cut_flows() {
    const Division& division = schedule_.division();
    std::vector<bool> cut(division.pieces() + std::size_t{1}, false);
    for (std::uint32_t block = 0; block <= division.blocks; ++block) cut[block * division.pieces_per_block] = true;
    for (const Message& m : messages_) cut[m.piece] = cut[m.piece + m.count] = true;
    flow_of_.assign(division.pieces(), 0);
    for (std::uint32_t piece = 0; piece < division.pieces(); ++piece) {
      if (cut[piece]) flows_.push_back({0, piece, 0});
      ++flows_.back().pieces;
      flow_of_[piece] = static_cast<std::uint32_t>(flows_.size() - 1);
    }
    const auto several = std::count_if(messages_.begin(), messages_.end(), [&](const Message& m) {
      return flow_of_[m.piece] != flow_of_[m.piece + m.count - 1];
    });
    if (several > 0) {
      losses_.ignored("", fmt::format("{} messages of several flows", several),
                      "an entry carries one flow; each becomes as many entries as it has flows");
    }
  }

  /// The schedule's own steps when every message leaves in a later step than what it waits for; otherwise the earliest
  /// possible ones.
  void set_steps() {
    const std::size_t ranks = schedule_.rank_count();
    std::vector<std::uint32_t> stated(flows_.size() * ranks, 0);
    std::vector<std::uint32_t> earliest = stated;
    std::vector<std::uint32_t> derived;
    derived.reserve(messages_.size());
    bool usable = true;
    for (const Message& m : messages_) {
      std::uint32_t step = 0;
      for_flows(m, [&](std::size_t flow) {
        step = std::max(step, earliest[flow * ranks + m.from]);
        usable = usable && m.step >= stated[flow * ranks + m.from];
      });
      for_flows(m, [&](std::size_t flow) {
        std::uint32_t& next = stated[flow * ranks + m.to];
        next = std::max(next, m.step + 1);
        std::uint32_t& first = earliest[flow * ranks + m.to];
        first = std::max(first, step + 1);
      });
      derived.push_back(step);
    }
    if (usable) return;
    losses_.assumed("", "time steps",
                    "the schedule's own are not in the order of its data; each message has the earliest");
    for (std::size_t i = 0; i < messages_.size(); ++i) messages_[i].step = derived[i];
  }

  template <class Visit>
  void for_flows(const Message& m, Visit&& visit) const {
    for (std::size_t flow = flow_of_[m.piece]; flow <= flow_of_[m.piece + m.count - 1]; ++flow) visit(flow);
  }

  Result<void> add_edges(const Message& m) {
    const std::uint32_t last = flow_of_[m.piece + m.count - 1];
    for (std::uint32_t flow = flow_of_[m.piece]; flow <= last; ++flow) {
      NiEdge& edge = m.sum ? up_.at(flow, m.from) : down_.at(flow, m.to);
      if (edge.parent != kNoParent) {
        return tl::unexpected<Error>(unfit(
            m.send, fmt::format("pieces {}..{} take no tree: rank {} {} them a second time, after {}",
                                flows_[flow].piece, flows_[flow].piece + flows_[flow].pieces - 1, m.sum ? m.from : m.to,
                                m.sum ? "sends its sum of" : "receives", schedule_.describe(edge.source))));
      }
      edge = {m.sum ? m.to : m.from, m.step, m.send};
      steps_ = std::max(steps_, m.step + 1);
    }
    return {};
  }

  Result<void> find_root(std::uint32_t flow) {
    const CollectiveKind kind = schedule_.collective().kind;
    NiFlow& f = flows_[flow];
    f.root = goes_up(kind) ? up_.root(flow) : down_.root(flow);
    const bool same = !goes_up(kind) || !comes_down(kind) || down_.root(flow) == f.root;
    const std::uint32_t demanded = demanded_root(schedule_.collective(), schedule_.division(), f);
    if (f.root != kNoParent && same && (demanded == kNoParent || demanded == f.root)) return {};
    return fail(Code::kUnsupported, "'{}' has no network-interface tables: pieces {}..{} take no tree with one root",
                schedule_.algorithm(), f.piece, f.piece + f.pieces - 1);
  }

  [[nodiscard]] std::vector<std::vector<std::uint32_t>> route_of(const NiEdge& edge) const {
    const std::uint32_t route = schedule_.op(edge.source).route;
    if (route == kNoRoute) return {};
    return {std::vector<std::uint32_t>(schedule_.route(route).begin(), schedule_.route(route).end())};
  }

  void write_sums(NiTables& tables, std::uint32_t flow) const {
    std::map<std::uint32_t, NiEntry> entries;  // by rank
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      const NiEdge& edge = up_.at(flow, rank);
      NiEntry& own = entries[rank];
      own.opcode = NiOpcode::kReduce;
      own.flow = flow;
      own.parent = edge.parent;
      if (edge.parent == kNoParent) continue;
      own.step = edge.step;
      own.routes = route_of(edge);
      NiEntry& above = entries[edge.parent];
      above.children.push_back(rank);
      if (edge.parent == flows_[flow].root) above.step = std::max(above.step, edge.step + 1);
      add_arrival(tables.ranks[edge.parent].aggregation, flow, rank, edge.step);
    }
    for (auto& [rank, entry] : entries) tables.ranks[rank].entries.push_back(std::move(entry));
  }

  void write_copies(NiTables& tables, std::uint32_t flow) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, NiEntry> entries;  // by parent and step
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      const NiEdge& edge = down_.at(flow, rank);
      if (edge.parent == kNoParent) continue;
      NiEntry& entry = entries[{edge.parent, edge.step}];
      entry.opcode = NiOpcode::kGather;
      entry.flow = flow;
      entry.parent = down_.at(flow, edge.parent).parent;
      entry.step = edge.step;
      entry.children.push_back(rank);
      for (std::vector<std::uint32_t>& route : route_of(edge)) entry.routes.push_back(std::move(route));
    }
    for (auto& [key, entry] : entries) tables.ranks[key.first].entries.push_back(std::move(entry));
  }

  NiTables write_tables() {
    NiTables tables;
    tables.collective = schedule_.collective();
    tables.division = schedule_.division();
    tables.algorithm = schedule_.algorithm();
    tables.topology = schedule_.topology();
    tables.steps = steps_;
    tables.ranks.resize(schedule_.rank_count());
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      if (goes_up(tables.collective.kind)) write_sums(tables, flow);
      if (comes_down(tables.collective.kind)) write_copies(tables, flow);
    }
    tables.flows = std::move(flows_);
    for (NiTable& table : tables.ranks) complete_table(table, steps_);
    return tables;
  }

  const Schedule& schedule_;
  LossReport& losses_;
  std::vector<std::uint32_t> scratch_;            // per rank and scratch piece: the vector's piece in it
  std::vector<std::vector<std::uint32_t>> sent_;  // per send: the vector's pieces
  std::vector<Message> messages_;                 // in an order in which they can run
  std::vector<NiFlow> flows_;
  std::vector<std::uint32_t> flow_of_;  // per piece
  NiEdges up_{0, 0};
  NiEdges down_{0, 0};
  std::uint32_t steps_ = 0;
};

}  // namespace

std::string_view name_of(NiOpcode opcode) {
  switch (opcode) {
    case NiOpcode::kReduce:
      return "reduce";
    case NiOpcode::kGather:
      return "gather";
    case NiOpcode::kNop:
      return "nop";
  }
  return "?";
}

void add_arrival(std::vector<NiArrival>& aggregation, std::uint32_t flow, std::uint32_t child, std::uint32_t step) {
  for (auto at = aggregation.rbegin(); at != aggregation.rend() && at->flow == flow; ++at) {
    if (at->step == step) return at->children.push_back(child);
  }
  aggregation.push_back({step, flow, {child}});
}

void complete_table(NiTable& table, std::uint32_t steps) {
  std::vector<bool> sends(steps, false);
  for (const NiEntry& entry : table.entries) {
    if (entry.messages() > 0) sends[entry.step] = true;
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    if (sends[step]) continue;
    table.entries.emplace_back();
    table.entries.back().step = step;
  }
  std::stable_sort(table.entries.begin(), table.entries.end(), [](const NiEntry& a, const NiEntry& b) {
    return std::tuple(a.step, a.opcode, a.flow) < std::tuple(b.step, b.opcode, b.flow);
  });
  std::stable_sort(table.aggregation.begin(), table.aggregation.end(), [](const NiArrival& a, const NiArrival& b) {
    return std::pair(a.step, a.flow) < std::pair(b.step, b.flow);
  });
}

NiRange elements_of(const NiTables& tables, std::uint32_t flow, std::int64_t count) {
  const NiFlow& f = tables.flows[flow];
  const std::int64_t start = tables.division.offset(f.piece, count);
  return {start, tables.division.offset(f.piece + f.pieces, count) - start};
}

Result<NiTables> tabulate(const Schedule& schedule, LossReport& losses) { return Tabulator(schedule, losses).run(); }

}  // namespace hocket
