// Checks that tables fit together, entry by entry and then tree by tree, and turns them into a schedule. After the
// checks every message carries what its sender holds, so that a schedule can be written; whether it does what the
// collective asks is for verify() to say.
#include <algorithm>

#include "algorithms/parts/transfers.h"
#include "exchange/ni_table.h"
#include "exchange/ni_table_parts.h"

namespace hocket {
namespace {

constexpr std::uint32_t kChannels = 65536;
constexpr std::uint64_t kPlacesMax = std::uint64_t{1} << 28;  // pieces x ranks

class TableChecker {
 public:
  explicit TableChecker(const NiTables& tables) : tables_(tables), up_(0, 0), down_(0, 0) {}

  Result<void> run() {
    HOCKET_TRY(check_flows());
    up_ = NiEdges(tables_.flows.size(), tables_.collective.ranks);
    down_ = up_;
    into_.resize(tables_.flows.size() * tables_.collective.ranks);
    for (rank_ = 0; rank_ < tables_.ranks.size(); ++rank_) {
      const NiTable& table = tables_.ranks[rank_];
      for (entry_ = 0; entry_ < table.entries.size(); ++entry_) HOCKET_TRY(check_entry(table.entries[entry_]));
    }
    for (std::uint32_t flow = 0; flow < tables_.flows.size(); ++flow) HOCKET_TRY(check_tree(flow));
    for (rank_ = 0; rank_ < tables_.ranks.size(); ++rank_) {
      const NiTable& table = tables_.ranks[rank_];
      sums_of_rank_ = 0;
      for (entry_ = 0; entry_ < table.entries.size(); ++entry_) HOCKET_TRY(check_relations(table.entries[entry_]));
      HOCKET_TRY(check_aggregation(table));
      HOCKET_TRY(check_nops(table));
    }
    return {};
  }

 private:
  /// "rank 3 entry 5 (gather of flow 2 in step 4): ..."
  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> wrong(fmt::format_string<Args...> format, Args&&... args) const {
    const NiEntry& e = tables_.ranks[rank_].entries[entry_];
    const std::string what = e.opcode == NiOpcode::kNop
                                 ? fmt::format("nop in step {}", e.step)
                                 : fmt::format("{} of flow {} in step {}", name_of(e.opcode), e.flow, e.step);
    return fail(Code::kDisproved, "rank {} entry {} ({}): {}", rank_, entry_, what,
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> check_flows() const {
    const std::uint64_t cells = std::uint64_t{tables_.flows.size()} * tables_.collective.ranks;
    if (cells > kNiTableMax) {
      return fail(Code::kResourceExhausted, "{} flows for {} ranks: over the limit of {}", tables_.flows.size(),
                  tables_.collective.ranks, kNiTableMax);
    }
    const std::uint64_t places = std::uint64_t{tables_.division.pieces()} * tables_.collective.ranks;
    if (places > kPlacesMax) {
      return fail(Code::kResourceExhausted, "{} pieces on {} ranks: over the limit of {}", tables_.division.pieces(),
                  tables_.collective.ranks, kPlacesMax);
    }
    std::uint64_t next = 0;
    for (std::size_t flow = 0; flow < tables_.flows.size(); ++flow) {
      const NiFlow& f = tables_.flows[flow];
      if (f.pieces == 0 || f.piece != next)
        return fail(Code::kMalformed, "flow {} has pieces {} and {} on, expected them from {} on", flow, f.piece,
                    f.pieces, next);
      next += f.pieces;
      const std::uint32_t demanded = demanded_root(tables_.collective, tables_.division, f);
      if (f.root >= tables_.collective.ranks || (demanded != kNoParent && f.root != demanded))
        return fail(Code::kDisproved, "flow {} has root {}; {} of {} ranks needs {}", flow, f.root,
                    name_of(tables_.collective.kind), tables_.collective.ranks,
                    demanded == kNoParent ? "a rank" : fmt::format("{}", demanded));
      if (is_blocked(tables_.collective.kind) &&
          (next - 1) / tables_.division.pieces_per_block != f.piece / tables_.division.pieces_per_block)
        return fail(Code::kMalformed, "flow {} crosses the end of a block", flow);
    }
    if (next != tables_.division.pieces())
      return fail(Code::kMismatch, "the flows cover {} pieces of {}", next, tables_.division.pieces());
    return {};
  }

  [[nodiscard]] Result<void> check_peer(std::uint32_t peer, std::string_view what) const {
    if (peer >= tables_.collective.ranks) return wrong("{} {} is no rank of {}", what, peer, tables_.collective.ranks);
    if (peer == rank_) return wrong("{} {} is the rank itself", what, peer);
    return {};
  }

  /// An entry for itself; its edges are noted.
  Result<void> check_entry(const NiEntry& e) {
    const std::vector<NiEntry>& entries = tables_.ranks[rank_].entries;
    if (e.step >= tables_.steps && !(e.step == tables_.steps && e.messages() == 0))
      return wrong("there are {} steps", tables_.steps);
    if (entry_ > 0 && entries[entry_ - 1].step > e.step)
      return wrong("it stands after an entry of step {}", entries[entry_ - 1].step);
    if (e.opcode == NiOpcode::kNop) return {};
    if (e.flow >= tables_.flows.size()) return wrong("there are {} flows", tables_.flows.size());
    if (e.opcode == NiOpcode::kReduce ? !goes_up(tables_.collective.kind) : !comes_down(tables_.collective.kind))
      return wrong("{} has none", name_of(tables_.collective.kind));
    if (e.parent != kNoParent) HOCKET_TRY(check_peer(e.parent, "parent"));
    for (const std::uint32_t child : e.children) HOCKET_TRY(check_peer(child, "child"));
    if (!e.routes.empty() && e.routes.size() != e.messages())
      return wrong("{} routes for {} messages", e.routes.size(), e.messages());
    return e.opcode == NiOpcode::kReduce ? note_sum(e) : note_copies(e);
  }

  Result<void> note_sum(const NiEntry& e) {
    const bool is_root = tables_.flows[e.flow].root == rank_;
    if (is_root != (e.parent == kNoParent))
      return wrong("{}, and the flow's root is rank {}",
                   e.parent == kNoParent ? "no parent" : fmt::format("parent {}", e.parent),
                   tables_.flows[e.flow].root);
    if (is_root) return {};
    NiEdge& edge = up_.at(e.flow, rank_);
    if (edge.parent != kNoParent) return wrong("entry {} sends the same sum", edge.source);
    edge = {e.parent, e.step, entry_};
    Sums& sums = sums_into(e.flow, e.parent);
    ++sums.count;
    sums.latest = std::max(sums.latest, e.step);
    return {};
  }

  Result<void> note_copies(const NiEntry& e) {
    if (e.children.empty()) return wrong("it has no children");
    for (const std::uint32_t child : e.children) {
      NiEdge& edge = down_.at(e.flow, child);
      if (edge.parent != kNoParent) return wrong("rank {} gets the flow from rank {} already", child, edge.parent);
      edge = {rank_, e.step, entry_};
    }
    return {};
  }

  /// A whole tree: every rank but the root has its edge, and steps follow one another along it.
  Result<void> check_tree(std::uint32_t flow) const {
    const CollectiveKind kind = tables_.collective.kind;
    const std::uint32_t root = tables_.flows[flow].root;
    for (std::uint32_t rank = 0; rank < tables_.collective.ranks; ++rank) {
      if (goes_up(kind) && rank != root && up_.at(flow, rank).parent == kNoParent)
        return fail(Code::kDisproved, "rank {} has no reduce entry for flow {}: its data never reach rank {}", rank,
                    flow, root);
      if (comes_down(kind) && (down_.at(flow, rank).parent == kNoParent) != (rank == root))
        return fail(Code::kDisproved, "rank {} {} flow {}, whose root is rank {}", rank,
                    rank == root ? "gets a copy of" : "never gets", flow, root);
    }
    return {};
  }

  /// An entry beside those of its parent and children.
  Result<void> check_relations(const NiEntry& e) {
    if (e.opcode == NiOpcode::kReduce) return check_children(e);
    if (e.opcode == NiOpcode::kNop) return {};
    const NiEdge& own = down_.at(e.flow, rank_);
    if (e.parent != own.parent)
      return wrong("parent {}, but the copy comes from {}", name_of(e.parent), name_of(own.parent));
    if (own.parent != kNoParent && own.step >= e.step)
      return wrong("the copy of rank {} leaves in step {} only", own.parent, own.step);
    if (e.parent != kNoParent || !goes_up(tables_.collective.kind)) return {};
    const Sums& sums = sums_into(e.flow, rank_);
    if (sums.count > 0 && sums.latest >= e.step) return wrong("a sum of the flow comes in step {} only", sums.latest);
    return {};
  }

  /// A reduce entry awaits exactly those that send to it, all of them before it.
  Result<void> check_children(const NiEntry& e) {
    for (std::size_t i = 0; i < e.children.size(); ++i) {
      const NiEdge& sum = up_.at(e.flow, e.children[i]);
      if (sum.parent != rank_) return wrong("child {} sends its sum to {}", e.children[i], name_of(sum.parent));
      if (sum.step >= e.step) return wrong("the sum of child {} leaves in step {} only", e.children[i], sum.step);
      if (i > 0 && e.children[i - 1] >= e.children[i]) return wrong("children are not in order");
    }
    const Sums& sums = sums_into(e.flow, rank_);
    if (e.children.size() != sums.count)
      return wrong("{} children, {} ranks send to it", e.children.size(), sums.count);
    sums_of_rank_ += sums.count;
    return {};
  }

  [[nodiscard]] static std::string name_of(std::uint32_t parent) {
    return parent == kNoParent ? "no rank" : fmt::format("rank {}", parent);
  }
  [[nodiscard]] static std::string_view name_of(NiOpcode opcode) { return hocket::name_of(opcode); }
  [[nodiscard]] static std::string_view name_of(CollectiveKind kind) { return hocket::name_of(kind); }

  /// The sums that come in, as the children's entries say.
  Result<void> check_aggregation(const NiTable& table) const {
    std::size_t announced = 0;
    for (std::size_t i = 0; i < table.aggregation.size(); ++i) {
      const NiArrival& a = table.aggregation[i];
      for (const std::uint32_t child : a.children) {
        if (a.flow >= tables_.flows.size() || child >= tables_.collective.ranks)
          return fail(Code::kDisproved, "rank {} aggregation {}: no flow {} or no rank {}", rank_, i, a.flow, child);
        const NiEdge& sum = up_.at(a.flow, child);
        if (sum.parent != rank_ || sum.step != a.step)
          return fail(
              Code::kDisproved,
              "rank {} aggregation {}: a sum of flow {} from rank {} in step {}, which sends it to {} in step {}",
              rank_, i, a.flow, child, a.step, name_of(sum.parent), sum.step);
        ++announced;
      }
      for (std::size_t k = 1; k < a.children.size(); ++k) {
        if (a.children[k - 1] >= a.children[k])
          return fail(Code::kDisproved, "rank {} aggregation {}: children are not in order", rank_, i);
      }
      if (i > 0 && std::pair(table.aggregation[i - 1].step, table.aggregation[i - 1].flow) >= std::pair(a.step, a.flow))
        return fail(Code::kDisproved, "rank {} aggregation {}: not in the order of step and flow", rank_, i);
    }
    if (announced == sums_of_rank_) return {};
    return fail(Code::kDisproved, "rank {} announces {} sums in its aggregation table, {} come in", rank_, announced,
                sums_of_rank_);
  }

  /// Every step has either entries that send or one nop.
  Result<void> check_nops(const NiTable& table) {
    if (tables_.steps > table.entries.size())
      return fail(Code::kDisproved, "rank {} has {} entries for {} steps: every step has one that sends or a nop",
                  rank_, table.entries.size(), tables_.steps);
    std::vector<std::uint32_t> sends(tables_.steps, 0);
    std::vector<std::uint32_t> nops(tables_.steps, 0);
    for (entry_ = 0; entry_ < table.entries.size(); ++entry_) {
      const NiEntry& e = table.entries[entry_];
      if (e.step >= tables_.steps) continue;
      if (e.messages() > 0) ++sends[e.step];
      if (e.opcode == NiOpcode::kNop && nops[e.step]++ > 0) return wrong("the step has a nop already");
    }
    for (entry_ = 0; entry_ < table.entries.size(); ++entry_) {
      const NiEntry& e = table.entries[entry_];
      if (e.opcode == NiOpcode::kNop && e.step < tables_.steps && sends[e.step] > 0)
        return wrong("the step has entries that send");
    }
    for (std::uint32_t step = 0; step < tables_.steps; ++step) {
      if (sends[step] == 0 && nops[step] == 0)
        return fail(Code::kDisproved, "rank {} has neither an entry that sends nor a nop in step {}", rank_, step);
    }
    return {};
  }

  struct Sums {
    std::uint32_t count = 0;
    std::uint32_t latest = 0;
  };
  [[nodiscard]] Sums& sums_into(std::uint32_t flow, std::uint32_t rank) {
    return into_[std::size_t{flow} * tables_.collective.ranks + rank];
  }

  const NiTables& tables_;
  NiEdges up_;
  NiEdges down_;
  std::vector<Sums> into_;  // per flow and rank: the sums that come in
  std::size_t sums_of_rank_ = 0;
  std::uint32_t rank_ = 0;
  std::uint32_t entry_ = 0;
};

/// Where the messages that leave stand, in the order in which a schedule is written.
struct Leaving {
  std::uint32_t step = 0;
  std::uint32_t flow = 0;
  std::uint32_t rank = 0;
  std::uint32_t entry = 0;
};

std::vector<Leaving> messages_in_order(const NiTables& tables) {
  std::vector<Leaving> order;
  for (std::uint32_t rank = 0; rank < tables.ranks.size(); ++rank) {
    const std::vector<NiEntry>& entries = tables.ranks[rank].entries;
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      if (entries[i].messages() > 0) order.push_back({entries[i].step, entries[i].flow, rank, i});
    }
  }
  std::sort(order.begin(), order.end(), [](const Leaving& a, const Leaving& b) {
    return std::tuple(a.step, a.flow, a.rank, a.entry) < std::tuple(b.step, b.flow, b.rank, b.entry);
  });
  return order;
}

void write_messages(const NiTables& tables, const Leaving& at, Transfers& transfers) {
  const NiEntry& e = tables.ranks[at.rank].entries[at.entry];
  const NiFlow& f = tables.flows[e.flow];
  const auto options_of = [&](std::size_t message) {
    OpOptions options{.channel = static_cast<std::uint16_t>(e.flow % kChannels), .step = e.step};
    if (!e.routes.empty()) options.route = transfers.builder().add_route(e.routes[message]);
    return options;
  };
  const Run run{f.piece, f.pieces};
  if (e.opcode == NiOpcode::kReduce) return transfers.reduce(at.rank, e.parent, run, options_of(0));
  for (std::size_t i = 0; i < e.children.size(); ++i) transfers.copy(at.rank, e.children[i], run, options_of(i));
}

}  // namespace

Result<Schedule> schedule_of(const NiTables& tables) {
  HOCKET_TRY(TableChecker(tables).run());
  Transfers transfers(tables.collective, tables.division, tables.algorithm);
  transfers.builder().set_topology(tables.topology);
  for (const Leaving& at : messages_in_order(tables)) write_messages(tables, at, transfers);
  return std::move(transfers).finish();
}

}  // namespace hocket
