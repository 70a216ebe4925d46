// Exports: what is written is proved again, runs in the same time, and what a format cannot hold is refused by name.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "exchange/nccl_graph.h"
#include "exchange/nccl_tuner.h"
#include "exchange/piece_trees.h"
#include "exchange/schedule_format.h"
#include "planner/planner.h"
#include "support/corpus.h"
#include "support/format_named.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology network(std::string_view spec) { return *topology_from_spec(spec, {}); }

VerifiedSchedule planned(std::string_view algorithm, const Topology& topology,
                         CollectiveKind kind = CollectiveKind::kAllReduce) {
  return *plan_algorithm(**find_algorithm(algorithm), {topology, {kind, topology.rank_count(), 0}});
}

Picos time_of(const VerifiedSchedule& schedule, const Topology& topology) {
  constexpr std::int64_t kCount = std::int64_t{720'720} * 64;  // a multiple of every number of pieces here
  const BoundCollective what{schedule.schedule().collective(), kCount};
  const Result<Plan> plan = Plan::bind(schedule, what, Bytes{1 << 20});
  EXPECT_TRUE(plan) << plan.error().text;
  return simulate(*plan, topology)->time;
}

/// Reads it back and proves it; fails the test otherwise.
VerifiedSchedule read_back(const ScheduleFormat& format, const std::string& bytes) {
  Result<Schedule> again = format.read(bytes, "again");
  EXPECT_TRUE(again) << again.error().text;
  Result<VerifiedSchedule> proved = prove(std::move(*again));
  EXPECT_TRUE(proved) << proved.error().text;
  return std::move(*proved);
}

std::string refusal(std::string_view format, const VerifiedSchedule& schedule) {
  const Result<std::string> written = format_named(format).write(schedule.schedule());
  EXPECT_FALSE(written) << "should be refused";
  if (written) return "";
  EXPECT_EQ(written.error().code, Code::kUnsupported);
  return written.error().text;
}

TEST(Exports, MscclXmlRunsInTheSameTimeOrNearly) {
  int compared = 0, equal = 0;
  for (const char* spec : {"ring:6", "mesh:3x3", "switch:8"}) {
    const Topology topology = network(spec);
    for (const Algorithm* algorithm : algorithms()) {
      for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather}) {
        if (!algorithm->supports({topology, {kind, topology.rank_count(), 0}}).empty()) continue;
        const VerifiedSchedule schedule = planned(algorithm->name, topology, kind);
        const ScheduleFormat& format = format_named("msccl-xml");
        const Result<std::string> written = format.write(schedule.schedule());
        if (!written || schedule.schedule().route_count() > 0) continue;  // routes are lost
        SCOPED_TRACE(fmt::format("{} {} {}", spec, algorithm->name, name_of(kind)));
        const auto before = static_cast<double>(time_of(schedule, topology).count);
        const auto after = static_cast<double>(time_of(read_back(format, *written), topology).count);
        // A thread block ends one step before the next, which changes who is first where its ops could run at once.
        EXPECT_NEAR(after / before, 1, 0.2);
        equal += after == before ? 1 : 0;
        EXPECT_TRUE(algorithm->name != "ring" || after == before) << "one send after the other as it is";
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 12);
  EXPECT_GE(5 * equal, 3 * compared) << equal << " of " << compared;
}

TEST(Exports, MscclXmlSaysItsLimits) {
  EXPECT_EQ(refusal("msccl-xml", planned("direct", network("switch:64"))),
            "MSCCL runs 108 thread blocks on a GPU at once, rank 0 needs 126");
  EXPECT_EQ(refusal("msccl-xml", planned("ring", network("ring:160"))),
            "MSCCL has 256 steps for a thread block, one of rank 0 needs 318");
}

TEST(Exports, MscclppPlansAreProvedAgain) {
  const ScheduleFormat& format = format_named("mscclpp-json");
  int written_plans = 0;
  for (const char* spec : {"ring:4", "switch:8", "mesh:3x3"}) {
    const Topology topology = network(spec);
    for (const Algorithm* algorithm : algorithms()) {
      for (int k = 0; k < kCollectiveKinds; ++k) {
        const auto kind = static_cast<CollectiveKind>(k);
        if (!algorithm->supports({topology, {kind, topology.rank_count(), 0}}).empty()) continue;
        SCOPED_TRACE(fmt::format("{} {} {}", spec, algorithm->name, name_of(kind)));
        const VerifiedSchedule schedule = planned(algorithm->name, topology, kind);
        const Result<std::string> written = format.write(schedule.schedule());
        if (!written) {
          EXPECT_EQ(written.error().code, Code::kUnsupported) << written.error().text;
          continue;
        }
        ++written_plans;
        const VerifiedSchedule again = read_back(format, *written);
        EXPECT_EQ(again.schedule().collective(), schedule.schedule().collective());
        if (schedule.schedule().route_count() > 0) continue;
        const double ratio = static_cast<double>(time_of(again, topology).count) /
                             static_cast<double>(time_of(schedule, topology).count);
        EXPECT_LT(ratio, 2) << "a thread block ends one message before the next";
        EXPECT_GT(ratio, 0.5);
      }
    }
  }
  EXPECT_GE(written_plans, 50);
}

/// Drops every op of the name from the thread blocks that put (or from those that do not).
std::string without(const std::string& plan, std::string_view name, bool where_it_puts) {
  nlohmann::ordered_json root = nlohmann::ordered_json::parse(plan);
  int dropped = 0;
  for (auto& gpu : root["gpus"]) {
    for (auto& block : gpu["threadblocks"]) {
      bool puts = false;
      for (const auto& op : block["ops"]) puts = puts || op["name"] == "put";
      if (puts != where_it_puts) continue;
      nlohmann::ordered_json kept = nlohmann::ordered_json::array();
      for (const auto& op : block["ops"]) {
        if (op["name"] == name) {
          ++dropped;
        } else {
          kept.push_back(op);
        }
      }
      block["ops"] = kept;
    }
  }
  EXPECT_GT(dropped, 0);
  return root.dump();
}

TEST(Exports, MscclppPlansThatLackOrderAreDisproved) {
  const ScheduleFormat& format = format_named("mscclpp-json");
  const Topology ring = network("ring:4");
  const std::string plan = *format.write(planned("ring", ring).schedule());
  // Scratch that is used twice: with the receiver's word that it is free again, and without.
  read_back(format, corpus_text("schedule_mscclpp/reused.json"));
  Result<Schedule> hasty = format.read(corpus_text("schedule_mscclpp/reused_hasty.json"), "hasty.json");
  ASSERT_TRUE(hasty) << hasty.error().text;
  const Verification race = verify(std::make_shared<const Schedule>(std::move(*hasty)));
  ASSERT_EQ(race.findings.size(), 1U);
  EXPECT_EQ(race.findings.front().kind, FindingKind::kHazard);
  const Result<Schedule> deaf = format.read(without(plan, "signal", true), "deaf.json");
  ASSERT_FALSE(deaf);
  EXPECT_EQ(deaf.error().code, Code::kDisproved);
  EXPECT_NE(deaf.error().text.find("is never signalled"), std::string::npos) << deaf.error().text;
  const Result<Schedule> short_of = format.read(without(plan, "sem_release", true), "short.json");
  ASSERT_FALSE(short_of);
  EXPECT_NE(short_of.error().text.find("times and released 0 times"), std::string::npos) << short_of.error().text;
}

TEST(Exports, MscclppSaysItsLimits) {
  const Topology boxes = network("switch:8");
  EXPECT_EQ(refusal("mscclpp-json", planned("multitree", network("torus:4x4"))),
            "MSCCL++ has 16 semaphores for a GPU, rank 0 needs 27 between its thread blocks");
  EXPECT_EQ(refusal("mscclpp-json", planned("direct", network("switch:64"))),
            "MSCCL++ runs all thread blocks of a GPU at once: rank 0 needs 126, 108 are there");
  EXPECT_EQ(refusal("mscclpp-json", planned("bruck", boxes, CollectiveKind::kAllToAll)),
            "MSCCL++ puts meet a receiver that is ready, this schedule needs messages to queue");
  EXPECT_EQ(refusal("mscclpp-json", planned("ring", boxes, CollectiveKind::kReduce)), "MSCCL++ plans have no reduce");
}

TEST(Exports, MscclppMistakesHaveTheirPlace) {
  const ScheduleFormat& format = format_named("mscclpp-json");
  const std::string plan = *format.write(planned("ring", network("ring:3")).schedule());
  struct Mistake {
    std::string from, to, complaint;
  };
  for (const Mistake& m :
       {Mistake{R"("name": "put")", R"("name": "putt")", "gpu 0 threadblock 0 op 0: operation 'putt'"},
        Mistake{R"("size": 1)", R"("size": 0)", "has a chunk of size 0"},
        Mistake{R"("protocol": "Simple")", R"("protocol": "LL")", "protocol 'LL'"},
        Mistake{R"("input_chunks": 3)", R"("input_chunks": 4)", "4 chunks"},
        Mistake{R"("gpus")", R"("gpus" 5)", "JSON is malformed"}}) {
    std::string text = plan;
    const std::size_t at = text.find(m.from);
    ASSERT_NE(at, std::string::npos) << m.from;
    const Result<Schedule> read = format.read(text.replace(at, m.from.size(), m.to), "p.json");
    if (m.from.find("input_chunks") != std::string::npos) {
      EXPECT_FALSE(read) << m.to;
      continue;
    }
    ASSERT_FALSE(read) << m.to;
    EXPECT_TRUE(read.error().text.starts_with("p.json:")) << read.error().text;
    EXPECT_NE(read.error().text.find(m.complaint), std::string::npos) << read.error().text;
  }
}

TEST(Exports, NcclGraphsOfRingsRunInTheSameTime) {
  const ScheduleFormat& format = format_named("nccl-graph-xml");
  const Topology ring = network("ring:6");
  for (const char* name : {"ring", "ring_bidirectional"}) {
    const VerifiedSchedule schedule = planned(name, ring);
    const Result<std::string> written = format.write(schedule.schedule());
    ASSERT_TRUE(written) << written.error().text;
    EXPECT_EQ(time_of(read_back(format, *written), ring).count, time_of(schedule, ring).count) << name;
  }
}

TEST(Exports, NcclGraphsOfChainsComeBackTheSame) {
  const ScheduleFormat& format = format_named("nccl-graph-xml");
  const std::string text = corpus_text("schedule_nccl_graph/trees");
  const VerifiedSchedule schedule = read_back(format, text);
  EXPECT_EQ(schedule.schedule().algorithm(), "nccl-trees");
  const Result<std::string> written = format.write(schedule.schedule());
  ASSERT_TRUE(written) << written.error().text;
  EXPECT_NE(written->find("pattern=\"3\""), std::string::npos);
  EXPECT_EQ(read_back(format, *written).schedule().fingerprint(), schedule.schedule().fingerprint());
}

TEST(Exports, NcclGraphsSayWhyNot) {
  const ScheduleFormat& format = format_named("nccl-graph-xml");
  const Result<Schedule> net = format.read(corpus_text("schedule_nccl_graph/net"), "net.xml");
  ASSERT_FALSE(net);
  EXPECT_EQ(net.error().code, Code::kUnsupported);
  EXPECT_NE(net.error().text.find("net.xml: channel 0 leaves the machine through net 0"), std::string::npos);
  const Result<Schedule> twice = format.read(corpus_text("schedule_nccl_graph/twice"), "twice.xml");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::kDisproved);
  EXPECT_NE(
      refusal("nccl-graph-xml", planned("double_binary_tree", network("switch:8"))).find("passes channel 0 on to"),
      std::string::npos);
  EXPECT_NE(refusal("nccl-graph-xml", planned("direct", network("switch:4"))).find("rings and chains"),
            std::string::npos);
}

TEST(Exports, DrawingsShowEveryMove) {
  const Topology ring = network("ring:4");
  const VerifiedSchedule schedule = planned("ring", ring);
  const Result<std::vector<PieceTree>> trees = piece_trees(schedule.schedule());
  ASSERT_TRUE(trees);
  ASSERT_EQ(trees->size(), 4U);
  for (const PieceTree& tree : *trees) EXPECT_EQ(tree.moves.size(), 6U) << "3 hops to the root, 3 away from it";
  const auto count = [](const std::string& text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  const std::string dot = *format_named("trees-dot").write(schedule.schedule());
  EXPECT_EQ(count(dot, " -> "), 24U);
  EXPECT_EQ(count(dot, "style=dashed"), 12U);
  const std::string svg = *format_named("trees-svg").write(schedule.schedule());
  EXPECT_EQ(count(svg, "<path"), 24U);
  EXPECT_EQ(count(svg, "<circle"), 16U);
}

TEST(Exports, TheLongestExtensionDecides) {
  EXPECT_EQ((*schedule_format_for_path("a.mscclpp.json"))->name, "mscclpp-json");
  EXPECT_EQ((*schedule_format_for_path("a.json"))->name, "json");
  EXPECT_EQ((*schedule_format_for_path("a.graph.xml"))->name, "nccl-graph-xml");
  EXPECT_EQ((*schedule_format_for_path("a.xml"))->name, "msccl-xml");
  EXPECT_FALSE(schedule_format_for_path("a.txt"));
}

TEST(Exports, TunerTablesAreStrict) {
  const Result<std::vector<TunerLine>> lines = read_nccl_tuner(corpus_text("nccl_tuner/everything"), "t.csv");
  ASSERT_TRUE(lines) << lines.error().text;
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[1].protocol, "ll128");
  EXPECT_EQ((*lines)[1].ranks, 8);
  EXPECT_EQ((*lines)[2].pipe_ops, 4);
  const Result<std::vector<TunerLine>> word = read_nccl_tuner(corpus_text("nccl_tuner/word"), "t.csv");
  ASSERT_FALSE(word);
  EXPECT_EQ(word.error().text, "t.csv:1:19: unknown algorithm 'treee', did you mean 'tree'?");
}

/// Bytes replaced, cut out and doubled at places that the seed decides.
std::string mutated(std::string text, Random& random) {
  for (int changes = 1 + static_cast<int>(random.below(3)); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = std::min<std::size_t>(text.size() - at, 1 + random.below(24));
    constexpr std::string_view kBytes = "0123456789-{}[]\",:<>/abs\x00\xff";
    const auto kind = random.below(4);
    if (kind == 0) text[at] = kBytes[random.below(kBytes.size())];
    if (kind == 1) text.erase(at, length);
    if (kind == 2) text.insert(at, text.substr(at, length));
    if (kind == 3) text.replace(at, length, text.substr(random.below(text.size()), length));
  }
  return text;
}

TEST(Exports, DamagedFilesAreRefusedOrHold) {
  Random random(20261128);
  int refused = 0, proved = 0;
  for (const auto& [format, file] : {std::pair{"mscclpp-json", "schedule_mscclpp/ring3.json"},
                                     std::pair{"mscclpp-json", "schedule_mscclpp/in_place.json"},
                                     std::pair{"mscclpp-json", "schedule_mscclpp/reused.json"},
                                     std::pair{"nccl-graph-xml", "schedule_nccl_graph/rings"},
                                     std::pair{"nccl-graph-xml", "schedule_nccl_graph/trees"}}) {
    const std::string whole = corpus_text(file);
    ASSERT_FALSE(whole.empty()) << file;
    for (int i = 0; i < 400; ++i) {
      Result<Schedule> read = format_named(format).read(mutated(whole, random), "damaged");
      if (!read) {
        ++refused;
        EXPECT_EQ(read.error().text.find('\n'), std::string::npos) << read.error().text;
        continue;
      }
      const Verification verification = verify(std::make_shared<const Schedule>(std::move(*read)));
      if (!verification.proved()) continue;
      ++proved;
      const Result<std::string> written = format_named(format).write(verification.verified->schedule());
      if (written) read_back(format_named(format), *written);
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(proved, 50);
}

}  // namespace
}  // namespace hocket
