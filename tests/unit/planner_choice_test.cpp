// What the user says about the choice, what would change it, and plans that are kept.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "exchange/schedule_format.h"
#include "planner/meeting.h"
#include "planner/plan_cache.h"
#include "planner/what_if.h"
#include "planner/windows.h"
#include "topology/spec.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

Topology network(std::string_view spec) { return *topology_from_spec(spec, {}); }

BoundCollective all_reduce(const Topology& topology, std::int64_t count) {
  return {{CollectiveKind::kAllReduce, topology.rank_count(), 0}, count};
}

std::string chosen_of(const Planning& planning) { return planning.candidates[planning.chosen].algorithm; }

Scores scores_of(std::string_view text) {
  Result<Scores> scores = Scores::parse(text, "s.yaml");
  EXPECT_TRUE(scores) << scores.error().text;
  return std::move(*scores);
}

TEST(PlannerLists, ChooseAmongTheNamed) {
  const Topology ring = network("ring:4");
  PlanningOptions options;
  options.algorithm = "ring,halving_doubling";
  const Result<Planning> planning = plan_collective(ring, all_reduce(ring, 4096), options);
  ASSERT_TRUE(planning) << planning.error().text;
  EXPECT_EQ(planning->candidates.size(), 2U);
  options.algorithm = "ring,rinng";
  const Result<Planning> wrong = plan_collective(ring, all_reduce(ring, 4096), options);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text.find("unknown algorithm 'rinng', did you mean 'ring'?"), std::string::npos);
}

TEST(PlannerSegments, TheSearchEndsWhereFinerOnesCannotBeSimulated) {
  const Topology two = network("full:2");
  PlanningOptions options;
  options.algorithm = "ring";
  options.simulate.model = NetworkModel::kFluid;
  const auto size = static_cast<std::int64_t>(passages_max(NetworkModel::kFluid)) / 4 * (4 << 20);
  const Result<Planning> planning = plan_collective(two, all_reduce(two, size / 4), options);
  ASSERT_TRUE(planning) << planning.error().text;
  EXPECT_EQ(planning->candidates[0].plan.segment().count, 4 << 20) << "the coarsest";
  options.simulate.fluid_rates_max = 300;
  const Result<Planning> small = plan_collective(two, all_reduce(two, 32 << 20), options);
  ASSERT_TRUE(small) << small.error().text;
  EXPECT_EQ(small->candidates[0].plan.segment().count, 4 << 20);
}

TEST(PlannerMeeting, OfWhatIsAlikeTheLeastCopiesAndThenTheFewestMessagesAreTaken) {
  Meeting meeting = meeting_of("shm");
  const Topology four = *meeting_topology(meeting, 4);
  PlanningOptions options = meeting.options();
  options.algorithm = "ring,direct,halving_doubling,recursive_doubling";
  const Result<Planning> planning = plan_collective(four, all_reduce(four, 16 << 20), options);
  ASSERT_TRUE(planning) << planning.error().text;
  std::vector<const Candidate*> candidates;
  for (const Candidate& candidate : planning->candidates) candidates.push_back(&candidate);
  // The first three take the same time but for a thousandth; recursive doubling, with fewer messages, far longer. Only
  // direct gives the same bytes to several peers.
  EXPECT_EQ(fastest(candidates, meeting)->algorithm, "direct");
  meeting.copies_once = false;
  EXPECT_EQ(fastest(candidates, meeting)->algorithm, "halving_doubling");
  meeting.alike = 1;
  EXPECT_EQ(fastest(candidates, meeting)->simulated.time, planning->candidates[planning->chosen].simulated.time);
  EXPECT_EQ(fastest({}, meeting), nullptr);
}

TEST(PlannerMeeting, SegmentsAreShorterTheMorePeersGetOneAtOnce) {
  const Meeting memory = meeting_of("shm");
  EXPECT_EQ(memory.segment_max_of(2), memory.segment_max);
  EXPECT_EQ(memory.segment_max_of(8).count * 8, memory.together.count);
  EXPECT_GT(memory.segment_max_of(1000).count * 1000, memory.together.count) << "there is a least";
  EXPECT_GT(meeting_of("tcp").segment_max_of(1000).count, std::int64_t{1} << 40) << "as long as the plan likes";
}

// Of two ranks each can send the other all it has, in one message and no more time: every sum is made twice then.
TEST(PlannerMeeting, FewMessagesAreNotBoughtByWork) {
  const Meeting meeting = meeting_of("shm");
  const Topology two = *meeting_topology(meeting, 2);
  for (const std::int64_t bytes : {1 << 20, 8 << 20, 256 << 20}) {
    const Result<Planning> planning = plan_collective(two, all_reduce(two, bytes / 4), meeting.options());
    ASSERT_TRUE(planning) << planning.error().text;
    std::vector<const Candidate*> candidates;
    for (const Candidate& candidate : planning->candidates) candidates.push_back(&candidate);
    const Plan& chosen = fastest(candidates, meeting)->plan;
    std::int64_t combined = 0;
    for (OpId id = 0; id < chosen.schedule().ops().size(); ++id)
      combined += chosen.schedule().op(id).combines() ? chosen.bytes(id) : 0;
    EXPECT_EQ(combined, bytes);
  }
}

// A link of a byte a second holds some algorithms' messages longer than a simulation can count; the others are planned.
TEST(PlannerLists, WhatCannotBeSimulatedIsSkipped) {
  TopologyBuilder builder("slow", "file");
  std::vector<VertexId> v;
  for (const char* name : {"a", "b", "c"}) v.push_back(builder.add_vertex(name, VertexKind::kNpu));
  const auto join = [&](VertexId a, VertexId b, double rate) {
    builder.add_link(a, b, {rate}, {1e-6});
    builder.add_link(b, a, {rate}, {1e-6});
  };
  join(v[0], v[1], 1);
  join(v[1], v[2], 1e9);
  join(v[2], v[0], 1e9);
  const Topology slow = std::move(builder).build().value();
  const BoundCollective what{{CollectiveKind::kAllGather, 3, 0}, std::int64_t{12} << 20};
  const Result<Planning> planning = plan_collective(slow, what, {});
  ASSERT_TRUE(planning) << planning.error().text;
  const bool skipped = std::any_of(planning->skipped.begin(), planning->skipped.end(), [](const Skipped& s) {
    return s.algorithm == "ring" && s.reason.find("holds its slowest link") != std::string::npos;
  });
  EXPECT_TRUE(skipped);
  PlanningOptions alone;
  alone.algorithm = "ring";
  EXPECT_FALSE(plan_collective(slow, what, alone));
}

// Messages of 16 KiB are pipelined at 8 KiB too: the search may not end where it begins.
TEST(PlannerLists, TheSegmentSearchReachesItsFinestSize) {
  const Topology ring = network("ring:4");
  PlanningOptions options;
  options.algorithm = "ring_bidirectional";
  const auto searched = plan_collective(ring, all_reduce(ring, 32 << 10), options);
  options.segment = {8 << 10};
  const auto finest = plan_collective(ring, all_reduce(ring, 32 << 10), options);
  options.segment = {16 << 10};
  const auto coarse = plan_collective(ring, all_reduce(ring, 32 << 10), options);
  ASSERT_TRUE(searched && finest && coarse);
  EXPECT_LT(finest->candidates[0].simulated.time, coarse->candidates[0].simulated.time);
  EXPECT_LE(searched->candidates[0].simulated.time, finest->candidates[0].simulated.time);
}

TEST(PlannerScores, AskAndWeigh) {
  const Topology ring = network("ring:4");
  const BoundCollective what = all_reduce(ring, 1 << 20);
  PlanningOptions options;
  const std::string fastest = chosen_of(*plan_collective(ring, what, options));
  ASSERT_NE(fastest, "direct");
  const Scores ask = scores_of("scores:\n  - {sizes: 1MiB:8MiB, algorithm: direct}\n  - {algorithm: ring}\n");
  options.scores = &ask;
  Result<Planning> planning = plan_collective(ring, what, options);
  ASSERT_TRUE(planning) << planning.error().text;
  EXPECT_EQ(chosen_of(*planning), "direct");
  EXPECT_TRUE(planning->wish.starts_with("s.yaml:2:")) << planning->wish;
  EXPECT_EQ(chosen_of(*plan_collective(ring, all_reduce(ring, 64), options)), "ring") << "the second rule";
  const Scores weigh = scores_of(fmt::format("scores: [{{factors: {{{}: 100}}}}]", fastest));
  options.scores = &weigh;
  planning = plan_collective(ring, what, options);
  ASSERT_TRUE(planning);
  EXPECT_NE(chosen_of(*planning), fastest);
  const Scores elsewhere = scores_of("scores: [{topology: '0000000000000000', algorithm: direct}]");
  options.scores = &elsewhere;
  EXPECT_EQ(chosen_of(*plan_collective(ring, what, options)), fastest);
}

TEST(PlannerScores, WindowsFollowThem) {
  const Topology ring = network("ring:4");
  const Scores scores = scores_of("scores: [{sizes: '64KiB:1MiB', algorithm: direct}]");
  PlanningOptions options;
  options.scores = &scores;
  const auto windows = plan_windows(ring, all_reduce(ring, 1), {1024}, {std::int64_t{1} << 24}, options);
  ASSERT_TRUE(windows) << windows.error().text;
  std::int64_t next = 1024;
  bool seen = false;
  for (const SizeWindow& w : *windows) {
    EXPECT_EQ(w.from.count, next);
    next = w.to.count + 1;
    if (w.from.count <= 65536 && 1048576 <= w.to.count) seen = w.algorithm == "direct";
  }
  EXPECT_EQ(next, (std::int64_t{1} << 24) + 1);
  EXPECT_TRUE(seen);
}

TEST(PlannerScores, MistakesAreNamed) {
  struct Mistake {
    std::string text, complaint;
  };
  for (const Mistake& m : {Mistake{"scores:\n  - algorithm: rong\n", "s.yaml:2:16: unknown algorithm 'rong', did you"},
                           Mistake{"scores:\n  - algoritm: ring\n", "s.yaml:2:5: unknown key 'algoritm', did you mean"},
                           Mistake{"scores:\n  - sizes: 2KiB:1KiB\n", "s.yaml:2:12: '2KiB:1KiB' is not a range"},
                           Mistake{"scores: [{factors: {ring: 0}}]", "s.yaml:1:27: factor 0 of 'ring'"},
                           Mistake{"scores: [{topology: xyz, algorithm: ring}]", "'xyz' is neither any nor 8 to 32"},
                           Mistake{"scores: [{algorithm: ring, algorithm: swing}]", "key 'algorithm' stands twice"},
                           Mistake{"scores: [{factors: {ring: 2, ring: 1}}]", "s.yaml:1:30: key 'ring' stands twice"},
                           Mistake{"scores: [{collective: all_reduce}]", "neither 'algorithm' nor 'factors'"},
                           Mistake{"rules: []", "unknown key 'rules', expected 'scores'"}}) {
    const Result<Scores> scores = Scores::parse(m.text, "s.yaml");
    ASSERT_FALSE(scores) << m.text;
    EXPECT_NE(scores.error().text.find(m.complaint), std::string::npos) << scores.error().text;
  }
  const Topology ring = network("ring:3");
  const Scores impossible = scores_of("scores: [{algorithm: hdrm}]");
  PlanningOptions options;
  options.scores = &impossible;
  const Result<Planning> planning = plan_collective(ring, all_reduce(ring, 64), options);
  ASSERT_FALSE(planning);
  EXPECT_TRUE(planning.error().text.starts_with("s.yaml:1:10: hdrm cannot be taken: ")) << planning.error().text;
}

TEST(PlannerWhatIf, TheRateItNamesChangesTheChoice) {
  const Topology torus = network("torus:3x3");
  const BoundCollective what = all_reduce(torus, 1 << 18);
  PlanningOptions options;
  options.algorithm = "ring,multitree,double_binary_tree";
  const Result<Planning> planning = plan_collective(torus, what, options);
  ASSERT_TRUE(planning);
  const Result<WhatIf> rates = what_if_rates(torus, what, *planning, options);
  ASSERT_TRUE(rates) << rates.error().text;
  int changes = 0;
  for (const CableChange& change : rates->changes) {
    if (change.factor == 1) continue;
    ++changes;
    const Link& cable = torus.link(change.link);
    TopologyOptions slower;
    slower.scales.push_back(
        fmt::format("{}-{}={}", torus.vertices()[cable.from].name, torus.vertices()[cable.to].name, change.factor));
    std::vector<double> factors(torus.links().size(), 1);
    for (LinkId link = 0; link < factors.size(); ++link) {
      const Link& l = torus.link(link);
      const bool same = (l.from == cable.from && l.to == cable.to) || (l.from == cable.to && l.to == cable.from);
      if (same) factors[link] = change.factor;
    }
    SimulateOptions simulation;
    simulation.link_factors = factors;
    std::string best;
    Picos least{};
    for (const Candidate& c : planning->candidates) {
      const Picos time = simulate(c.plan, torus, simulation)->time;
      if (best.empty() || time < least) {
        best = c.algorithm;
        least = time;
      }
    }
    EXPECT_EQ(best, change.algorithm);
    EXPECT_NE(best, chosen_of(*planning));
  }
  EXPECT_GE(changes, 1);
}

class CacheFolder {
 public:
  CacheFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("plan_cache_{}", getpid())) {
    std::filesystem::remove_all(path_);
  }
  ~CacheFolder() { std::filesystem::remove_all(path_); }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(PlanCache, TheSamePlanComesBackProved) {
  const CacheFolder folder;
  const Topology mesh = network("mesh:3x3");
  const BoundCollective what = all_reduce(mesh, 1 << 16);
  const Result<PlanCache> cache = PlanCache::open(folder.path());
  ASSERT_TRUE(cache) << cache.error().text;
  std::string damage;
  ASSERT_FALSE(*cache->find(mesh, what, {}, damage));
  EXPECT_EQ(damage, "");
  const Result<Planning> planning = plan_collective(mesh, what, {});
  const Result<std::string> stored = cache->store(mesh, what, {}, *planning);
  ASSERT_TRUE(stored) << stored.error().text;
  const auto found = cache->find(mesh, what, {}, damage);
  ASSERT_TRUE(found);
  ASSERT_TRUE(*found) << damage;
  const Candidate& old = planning->candidates[planning->chosen];
  EXPECT_EQ((*found)->candidates.front().plan.fingerprint(), old.plan.fingerprint());
  EXPECT_EQ((*found)->candidates.front().simulated.time, old.simulated.time);
  EXPECT_TRUE(*cache->find(mesh, all_reduce(mesh, (1 << 17) - 1), {}, damage)) << "the same class of sizes";
  EXPECT_FALSE(*cache->find(mesh, all_reduce(mesh, 1 << 17), {}, damage)) << "the next one";
  EXPECT_FALSE(*cache->find(network("torus:3x3"), what, {}, damage)) << "another network";
  PlanningOptions fluid;
  fluid.simulate.model = NetworkModel::kFluid;
  EXPECT_FALSE(*cache->find(mesh, what, fluid, damage)) << "other options";
  PlanningOptions spread;
  spread.spread = true;
  EXPECT_FALSE(*cache->find(mesh, what, spread, damage)) << "other ways";
  const auto listed = list_cache(folder.path());
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().damage, "");
  EXPECT_EQ(listed->front().from, 1 << 18);
  EXPECT_FALSE(listed->front().spread);
}

TEST(PlanCache, TheListSaysWhatWasPlannedToBeSpread) {
  const CacheFolder folder;
  const Topology ring = network("ring:4");
  const BoundCollective what = all_reduce(ring, 1 << 16);
  const Result<PlanCache> cache = PlanCache::open(folder.path());
  ASSERT_TRUE(cache) << cache.error().text;
  PlanningOptions options;
  options.algorithm = "halving_doubling";
  options.spread = true;
  ASSERT_TRUE(cache->store(ring, what, options, *plan_collective(ring, what, options)));
  const auto listed = list_cache(folder.path());
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().damage, "");
  EXPECT_TRUE(listed->front().spread);
}

/// What find() says after the entry was changed by `harm`.
std::string damage_after(const std::function<void(const std::string& hkt, const std::string& json)>& harm) {
  const CacheFolder folder;
  const Topology ring = network("ring:3");
  const BoundCollective what = all_reduce(ring, 1 << 10);
  const Result<PlanCache> cache = PlanCache::open(folder.path());
  const Result<std::string> path = cache->store(ring, what, {}, *plan_collective(ring, what, {}));
  const std::string stem = path->substr(0, path->size() - 4);
  harm(*path, stem + ".json");
  std::string damage;
  const auto found = cache->find(ring, what, {}, damage);
  EXPECT_TRUE(found);
  EXPECT_FALSE(*found);
  const auto listed = list_cache(folder.path());
  EXPECT_TRUE(listed);
  EXPECT_NE(listed->front().damage, "");
  return damage;
}

TEST(PlanCache, DamagedEntriesAreNamedAndNotUsed) {
  const auto cut = damage_after([](const std::string& hkt, const std::string&) {
    std::filesystem::resize_file(hkt, std::filesystem::file_size(hkt) - 1);
  });
  EXPECT_NE(cut.find("damaged or cut short"), std::string::npos) << cut;
  const auto other = damage_after([](const std::string& hkt, const std::string&) {
    const Topology line = network("line:3");
    const auto schedule = plan_algorithm(**find_algorithm("direct"), {line, {CollectiveKind::kAllGather, 3, 0}});
    EXPECT_TRUE(save_schedule(schedule->schedule(), hkt));
  });
  EXPECT_NE(other.find("its key says"), std::string::npos) << other;
  const auto relabelled = damage_after([](const std::string&, const std::string& json) {
    std::stringstream text;
    text << std::ifstream(json).rdbuf();
    Json root = Json::parse(text.str());
    root["algorithm"] = "direct";
    std::ofstream(json) << root.dump();
  });
  EXPECT_NE(relabelled.find(", its key says 'direct'"), std::string::npos) << relabelled;
  const auto keyless = damage_after([](const std::string&, const std::string& json) { std::filesystem::remove(json); });
  EXPECT_NE(keyless.find("cannot open"), std::string::npos) << keyless;
  const auto garbled =
      damage_after([](const std::string&, const std::string& json) { std::ofstream(json) << "{\"key\": 3}"; });
  EXPECT_NE(garbled.find("is missing"), std::string::npos) << garbled;
}

}  // namespace
}  // namespace hocket
