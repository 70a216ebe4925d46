// Network-interface tables: what they say of a tree schedule, that they come back the same, and what is refused.
#include <gtest/gtest.h>

#include "exchange/ni_table.h"
#include "exchange/ni_table_text.h"
#include "planner/planner.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology network(const std::string& spec) { return *topology_from_spec(spec, {}); }

Schedule plan(const Topology& topology, std::string_view algorithm, CollectiveKind kind = CollectiveKind::kAllReduce) {
  auto verified = plan_algorithm(**find_algorithm(algorithm), {topology, {kind, topology.rank_count(), 0}});
  EXPECT_TRUE(verified) << verified.error().text;
  return verified->schedule();
}

NiTables tables_of(const Schedule& schedule) {
  LossReport losses;
  auto tables = tabulate(schedule, losses);
  EXPECT_TRUE(tables) << (tables ? "" : tables.error().text);
  return tables ? *std::move(tables) : NiTables{};
}

std::string refusal(const Schedule& schedule) {
  LossReport losses;
  const auto tables = tabulate(schedule, losses);
  EXPECT_FALSE(tables);
  return tables ? "" : tables.error().text;
}

TEST(NiTable, MultitreeHasAnEntryPerFlowAndPhase) {
  const NiTables tables = tables_of(plan(network("torus:4x4"), "multitree"));
  EXPECT_EQ(tables.steps, 10U);
  ASSERT_EQ(tables.flows.size(), 16U);
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    EXPECT_EQ(tables.flows[rank], (NiFlow{rank, rank, 1}));
    std::uint32_t sums = 0;
    std::uint32_t whole = 0;
    std::size_t announced = 0;
    std::size_t awaited = 0;
    for (const NiEntry& e : tables.ranks[rank].entries) {
      if (e.opcode != NiOpcode::kReduce) continue;
      ++sums;
      awaited += e.children.size();
      if (e.parent != kNoParent) continue;
      ++whole;
      EXPECT_EQ(e.flow, rank);
      EXPECT_LE(e.step, 5U);
    }
    for (const NiArrival& a : tables.ranks[rank].aggregation) announced += a.children.size();
    EXPECT_EQ(sums, 16U);
    EXPECT_EQ(whole, 1U);
    EXPECT_EQ(announced, awaited);
  }
}

TEST(NiTable, TextComesBackTheSame) {
  for (const std::string spec : {"torus:4x4", "mesh:3x3", "fattree:2x4", "bigraph:4x2", "ring:2"}) {
    const Topology topology = network(spec);
    const NiTables tables = tables_of(plan(topology, "multitree"));
    const BoundCollective amount{tables.collective, 12345 * topology.rank_count(), DataType::kBf16, ReduceOp::kSum};
    for (const BoundCollective* bytes : {static_cast<const BoundCollective*>(nullptr), &amount}) {
      const std::string text = *write_ni_tables(tables, bytes);
      const auto again = read_ni_tables(text, "again.nit");
      ASSERT_TRUE(again) << again.error().text;
      EXPECT_EQ(*write_ni_tables(*again, bytes), text);
      ASSERT_EQ(again->ranks.size(), tables.ranks.size());
      for (std::size_t rank = 0; rank < tables.ranks.size(); ++rank) EXPECT_EQ(again->ranks[rank], tables.ranks[rank]);
    }
  }
}

// The schedule made of tables has the same tables.
TEST(NiTable, ScheduleOfTablesHasTheSameTables) {
  const Topology topology = network("torus:3x3");
  std::size_t held = 0;
  for (const Algorithm* algorithm : algorithms()) {
    for (int k = 0; k < kCollectiveKinds; ++k) {
      const Collective collective{static_cast<CollectiveKind>(k), 9, 4};
      if (!algorithm->supports({topology, collective}).empty()) continue;
      SCOPED_TRACE(fmt::format("{} {}", algorithm->name, name_of(collective.kind)));
      const auto verified = plan_algorithm(*algorithm, {topology, collective});
      ASSERT_TRUE(verified);
      LossReport losses;
      const auto tables = tabulate(verified->schedule(), losses);
      if (!tables) {
        EXPECT_EQ(tables.error().code, Code::kUnsupported);
        EXPECT_NE(tables.error().text.find(fmt::format("'{}'", algorithm->name)), std::string::npos);
        continue;
      }
      ++held;
      auto schedule = schedule_of(*tables);
      ASSERT_TRUE(schedule) << schedule.error().text;
      EXPECT_EQ(schedule->steps(), tables->steps);
      const NiTables again = tables_of(*schedule);
      EXPECT_EQ(again.flows, tables->flows);
      for (std::size_t rank = 0; rank < 9; ++rank) EXPECT_EQ(again.ranks[rank], tables->ranks[rank]);
      EXPECT_TRUE(prove(*std::move(schedule)));
    }
  }
  EXPECT_GE(held, 20U);
}

TEST(NiTable, WhatIsNoTreeIsRefusedByName) {
  EXPECT_EQ(refusal(plan(network("ring:4"), "direct", CollectiveKind::kAllToAll)),
            "'direct' is an all_to_all: every pair of ranks has data of its own, which no tree carries");
  const std::string doubling = refusal(plan(network("hypercube:3"), "recursive_doubling"));
  EXPECT_NE(doubling.find("'recursive_doubling' has no network-interface tables: rank 1 op 2"), std::string::npos);
  EXPECT_NE(doubling.find("take no tree: rank 1 sends its sum of them a second time, after rank 1 op 0"),
            std::string::npos)
      << doubling;
}

TEST(NiTable, OneRankHasNone) {
  EXPECT_EQ(refusal(plan(network("ring:1"), "ring")), "one rank has nothing to send, so no network-interface tables");
}

TEST(NiTable, LocalReductionsAndMovedPiecesAreRefused) {
  ScheduleBuilder adds({CollectiveKind::kReduce, 2, 0}, {}, "adds");
  adds.set_scratch_pieces(1);
  adds.send(1, 0, {Buffer::kInput, 0, 1});
  adds.recv(0, 1, {Buffer::kScratch, 0, 1});
  adds.copy(0, {Buffer::kInput, 0, 1}, {Buffer::kOutput, 0, 1});
  adds.reduce(0, {Buffer::kScratch, 0, 1}, {Buffer::kOutput, 0, 1});
  EXPECT_NE(refusal(*std::move(adds).finish()).find("rank 0 op 2: reduce"), std::string::npos);

  ScheduleBuilder moves({CollectiveKind::kBroadcast, 2, 0}, {.blocks = 1, .pieces_per_block = 2, .weights = {}},
                        "moves");
  moves.send(0, 1, {Buffer::kInput, 0, 1});
  moves.recv(1, 0, {Buffer::kOutput, 1, 1});
  EXPECT_NE(refusal(*std::move(moves).finish()).find("it moves piece 0 to another place"), std::string::npos);
}

// Steps that say nothing (an imported file has none) are replaced by the earliest possible ones.
TEST(NiTable, StepsOutOfOrderAreDerived) {
  ScheduleBuilder chain({CollectiveKind::kBroadcast, 3, 0}, {}, "chain");
  const PieceRange output{Buffer::kOutput, 0, 1};
  chain.copy(0, {Buffer::kInput, 0, 1}, output);
  chain.send(0, 1, output);
  chain.recv(1, 0, output);
  chain.send(1, 2, output);
  chain.recv(2, 1, output);
  LossReport losses;
  const auto tables = tabulate(*std::move(chain).finish(), losses);
  ASSERT_TRUE(tables) << tables.error().text;
  EXPECT_EQ(tables->steps, 2U);
  EXPECT_EQ(losses.count(LossKind::kAssumed), 1U);
  EXPECT_EQ(losses.count(LossKind::kIgnored), 1U);  // the copy
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(NiTable, MistakesAreNamed) {
  const std::string text = *write_ni_tables(tables_of(plan(network("ring:3"), "multitree")));
  struct Mistake {
    std::string from, to, complaint;
  };
  const std::string entry = R"({"opcode":"reduce","flow":1,"parent":1,"children":[],"step":0,"start":1,"size":1)";
  for (const Mistake& m :
       {Mistake{"\"opcode\":\"reduce\"", "\"opcode\":\"redoce\"", "rank 0 entry 0: unknown opcode 'redoce'"},
        Mistake{entry, replaced(entry, "\"start\":1", "\"start\":2"),
                "rank 0 entry 0: start 2 size 1, but flow 1 has start 1 size 1"},
        Mistake{entry, replaced(entry, "\"parent\":1", "\"parent\":-1"),
                "rank 0 entry 0: 'parent' is -1, expected a whole number"},
        Mistake{entry, replaced(entry, "\"flow\"", "\"flaw\""), "rank 0 entry 0: unknown member 'flaw'"},
        Mistake{entry, replaced(entry, "\"flow\":1", "\"flow\":7"), "rank 0 entry 0: flow 7, but there are 3"},
        Mistake{entry, replaced(entry, "\"parent\":1", "\"parent\":2"),
                "rank 1 entry 2 (reduce of flow 1 in step 1): child 0 sends its sum to rank 2"},
        Mistake{"\"ranks\": 3", "\"ranks\": 4", "'ranks' is 4 but there are 3 tables"},
        Mistake{"\"hocket_ni_tables\": 1", "\"hocket_ni_tables\": 9", "version 9, this program reads 1"},
        Mistake{"\"unit\": \"piece\"", "\"unit\": \"word\"", "unit 'word'; known: piece, byte"},
        Mistake{"\"algorithm\"", "\"algorithm\" 5", "ring.nit:3:"}}) {
    const std::string wrong = replaced(text, m.from, m.to);
    auto tables = read_ni_tables(wrong, "ring.nit");
    std::string line = tables ? "" : tables.error().text;
    if (tables) {
      const auto schedule = schedule_of(*tables);
      ASSERT_FALSE(schedule) << m.to;
      line = "ring.nit: " + schedule.error().text;
    }
    EXPECT_TRUE(line.starts_with("ring.nit:")) << line;
    EXPECT_NE(line.find(m.complaint), std::string::npos) << line;
  }
}

TEST(NiTable, EveryCutOfATextIsRefused) {
  const std::string text = *write_ni_tables(tables_of(plan(network("ring:3"), "multitree")));
  const std::size_t whole = text.find_last_of('}') + 1;
  for (std::size_t length = 0; length < whole; ++length)
    EXPECT_FALSE(read_ni_tables(std::string_view(text).substr(0, length), "cut"));
}

}  // namespace
}  // namespace hocket
