// Every single change to network-interface tables is refused, with rank or flow named, or leaves tables that are right:
// what is accepted is proved. Changes of parents, children, flows and opcodes, and lost or doubled entries, must all be
// refused; only a step may move where the tree leaves room.
#include <gtest/gtest.h>

#include <functional>

#include "exchange/ni_table.h"
#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

NiTables tables_of(const std::string& spec, CollectiveKind kind) {
  const Topology topology = *topology_from_spec(spec, {});
  const auto verified = plan_algorithm(**find_algorithm("multitree"), {topology, {kind, topology.rank_count(), 0}});
  EXPECT_TRUE(verified) << verified.error().text;
  LossReport losses;
  return *tabulate(verified->schedule(), losses);
}

struct Tally {
  int refused = 0;
  int harmless = 0;
};

/// Applies `change` to a copy; the change says whether it did anything.
void try_change(const NiTables& tables, const std::function<bool(NiTables&)>& change, bool may_hold, Tally& tally) {
  NiTables mutant = tables;
  if (!change(mutant)) return;
  auto schedule = schedule_of(mutant);
  if (!schedule) {
    ++tally.refused;
    EXPECT_TRUE(schedule.error().text.starts_with("rank ") || schedule.error().text.starts_with("flow "))
        << schedule.error().text;
    return;
  }
  const auto verified = prove(*std::move(schedule));
  EXPECT_TRUE(may_hold && verified) << (verified ? "accepted" : verified.error().text);
  ++tally.harmless;
}

void change_entry(const NiTables& tables, std::size_t rank, std::size_t index, Tally& tally) {
  const auto with = [&](auto&& edit, bool may_hold) {
    try_change(
        tables, [&](NiTables& mutant) { return edit(mutant.ranks[rank].entries[index]); }, may_hold, tally);
  };
  const auto ranks = static_cast<std::uint32_t>(tables.ranks.size());
  const auto flows = static_cast<std::uint32_t>(tables.flows.size());
  const auto is_nop = [](const NiEntry& e) { return e.opcode == NiOpcode::kNop; };
  with([](NiEntry& e) { return ++e.step > 0; }, true);
  with([](NiEntry& e) { return e.step-- > 0; }, true);
  with([&](NiEntry& e) { return !is_nop(e) && (e.flow = (e.flow + 1) % flows, true); }, false);
  with([&](NiEntry& e) { return !is_nop(e) && (e.parent = e.parent == kNoParent ? 0 : (e.parent + 1) % ranks, true); },
       false);
  with([&](NiEntry& e) { return !is_nop(e) && e.parent != kNoParent && (e.parent = kNoParent, true); }, false);
  with([&](NiEntry& e) { return !e.children.empty() && (e.children.pop_back(), true); }, false);
  with([&](NiEntry& e) { return !e.children.empty() && (e.children[0] = (e.children[0] + 1) % ranks, true); }, false);
  with([&](NiEntry& e) { return !e.children.empty() && (e.children.push_back(e.children[0]), true); }, false);
  with(
      [&](NiEntry& e) {
        e.opcode = static_cast<NiOpcode>((static_cast<int>(e.opcode) + 1) % 3);
        return true;
      },
      false);
}

Tally try_all(const NiTables& tables) {
  Tally tally;
  for (std::size_t rank = 0; rank < tables.ranks.size(); ++rank) {
    for (std::size_t index = 0; index < tables.ranks[rank].entries.size(); ++index) {
      change_entry(tables, rank, index, tally);
      const auto entries = [&](NiTables& mutant) -> std::vector<NiEntry>& { return mutant.ranks[rank].entries; };
      const auto at = static_cast<std::ptrdiff_t>(index);
      try_change(
          tables, [&](NiTables& m) { return entries(m).erase(entries(m).begin() + at), true; }, false, tally);
      try_change(
          tables, [&](NiTables& m) { return entries(m).insert(entries(m).begin() + at, entries(m)[index]), true; },
          false, tally);
    }
    for (std::size_t index = 0; index < tables.ranks[rank].aggregation.size(); ++index) {
      const auto with = [&](auto&& edit) {
        try_change(
            tables, [&](NiTables& m) { return edit(m.ranks[rank].aggregation[index]), true; }, false, tally);
      };
      with([](NiArrival& a) { ++a.step; });
      with([](NiArrival& a) { ++a.flow; });
      with([](NiArrival& a) { a.children.pop_back(); });
      with([](NiArrival& a) { ++a.children.back(); });
    }
  }
  return tally;
}

TEST(NiTableMutants, AllAreRefusedOrRight) {
  for (const std::string spec : {"ring:4", "mesh:3x2", "torus:3x3"}) {
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
      SCOPED_TRACE(fmt::format("{} {}", spec, name_of(kind)));
      const Tally tally = try_all(tables_of(spec, kind));
      EXPECT_GT(tally.refused, 50);
      EXPECT_LT(tally.harmless, tally.refused / 10);
    }
  }
}

}  // namespace
}  // namespace hocket
