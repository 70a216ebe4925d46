// Platforms from ASTRA-sim's files: every figure names file and key, every key is taken, ignored or refused, and every
// kind of mistake is named with its place and both values.
#include <gtest/gtest.h>

#include <algorithm>

#include "exchange/astra_platform.h"
#include "exchange/load_platform.h"
#include "exchange/platform_yaml.h"
#include "exchange/topology_format.h"
#include "platform/fields.h"
#include "support/corpus.h"
#include "topology/spec.h"

namespace hocket {
namespace {

const std::string kNetwork = "topology: [Ring, Switch]\nnpus_count: [4, 2]\nbandwidth: [50, 25]\nlatency: [500, 700]\n";
const std::string kSystem = R"({
  "scheduling-policy": "LIFO",
  "endpoint-delay": 10,
  "active-chunks-per-dimension": 2,
  "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["ring", "direct"],
  "collective-optimization": "localBWAware",
  "local-mem-bw": 1600,
  "boost-mode": 0,
  "roofline-enabled": 1,
  "peak-perf": 900
})";
const std::string kMemory =
    R"({"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 100, "remote-mem-bw": 50})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Result<ImportedPlatform> import(const std::string& network, const std::string& system, const std::string& memory) {
  AstraInput input{.network_file = "n.yml", .system_file = "s.json", .memory_file = "m.json"};
  HOCKET_TRY_ASSIGN(input.network, read_astra_network(network, "n.yml"));
  HOCKET_TRY_ASSIGN(input.system, read_astra_system(system, "s.json"));
  if (!memory.empty()) {
    HOCKET_TRY_ASSIGN(input.memory, read_astra_memory(memory, "m.json"));
  }
  return platform_from_astra(input);
}

void expect_refused(const Result<ImportedPlatform>& result, const std::string& words) {
  ASSERT_FALSE(result) << words;
  EXPECT_EQ(result.error().text, words);
  EXPECT_EQ(exit_code(result.error().code), 2);
}

TEST(AstraPlatform, EveryFigureNamesFileAndKey) {
  const auto imported = import(kNetwork, kSystem, kMemory);
  ASSERT_TRUE(imported) << imported.error().text;
  const Platform& p = imported->platform;
  EXPECT_EQ(p.network.topology, "product:ring4xswitch2");
  EXPECT_EQ(p.network.links[1].bandwidth.value, 25 * 1073741824.0);
  EXPECT_EQ(p.network.links[1].latency.value, 700e-9);
  EXPECT_EQ(p.endpoint.memory_bandwidth, (Figure{1600e9, "s.json: local-mem-bw"}));
  EXPECT_EQ(p.endpoint.rates[static_cast<std::size_t>(DataType::kF16)], (Figure{900e12, "s.json: peak-perf"}));
  EXPECT_EQ(p.endpoint.remote_bandwidth, (Figure{50e9, "m.json: remote-mem-bw"}));
  EXPECT_EQ(p.endpoint.remote_latency, (Figure{100e-9, "m.json: remote-mem-latency"}));
  ASSERT_EQ(p.engines.size(), 2U);
  EXPECT_EQ(p.engines[0].kind, EngineKind::kIdeal);
  EXPECT_EQ(p.engines[1].kind, EngineKind::kDma);
  EXPECT_EQ(p.engines[0].order, CollectiveOrder::kLifo);
  EXPECT_EQ(p.engines[0].reaction, (Figure{10e-9, "s.json: endpoint-delay"}));
  EXPECT_EQ(p.engines[0].chunks_in_flight, (Figure{4, "s.json: active-chunks-per-dimension"}));
  for (const NamedFigure& f : figures_of(p))
    EXPECT_EQ(f.figure.sourced(), f.name != "endpoint.compute_units") << f.name;
  EXPECT_EQ(p.build_topology()->rank_count(), 8U);
}

TEST(AstraPlatform, TheNetworkInWordsIsTheNetworkOfTheFile) {
  const Topology words = import(kNetwork, kSystem, "")->platform.build_topology().value();
  const auto format = find_topology_format("astra-yaml");
  const Topology file = (*format)->load(kNetwork, "n.yml").value();
  EXPECT_EQ(words.fingerprint(), file.fingerprint());
}

TEST(AstraPlatform, EveryKeyIsTakenOrIgnoredWithAReason) {
  const auto imported = import(kNetwork, with(kSystem, "\"boost", "\"mesh-shape\": [2, 2], \"boost"), kMemory);
  ASSERT_TRUE(imported) << imported.error().text;
  std::string told;
  for (const std::string& line : imported->taken) told += line + "\n";
  for (const std::string& line : imported->losses.lines()) told += line + "\n";
  for (const std::string_view key :
       {"scheduling-policy", "endpoint-delay", "active-chunks-per-dimension", "preferred-dataset-splits",
        "all-reduce-implementation", "collective-optimization", "local-mem-bw", "boost-mode", "roofline-enabled",
        "peak-perf", "mesh-shape", "remote-mem-bw", "remote-mem-latency", "npus_count", "bandwidth", "latency"}) {
    EXPECT_NE(told.find(key), std::string::npos) << key << " is not told of:\n" << told;
  }
  EXPECT_EQ(imported->losses.count(LossKind::kIgnored), 7U) << told;
}

TEST(AstraPlatform, WrittenAndReadAgainItIsTheSame) {
  const Platform p = import(kNetwork, kSystem, kMemory)->platform;
  const std::string text = write_platform(p).value();
  const auto again = read_platform(text, "again");
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(write_platform(*again).value(), text);
  EXPECT_EQ(again->build_topology()->fingerprint(), p.build_topology()->fingerprint());
}

TEST(AstraPlatform, LengthsThatDifferAreNamedWithBoth) {
  expect_refused(import(kNetwork, with(kSystem, "[\"ring\", \"direct\"]", "[\"ring\"]"), ""),
                 "n.yml: 'topology' has 2 value(s), but the '...-implementation' lists of s.json have 1");
  expect_refused(import(with(kNetwork, "[50, 25]", "[50]"), kSystem, ""),
                 "n.yml:3:12: 'bandwidth' has 1 value(s), 'topology' has 2");
}

struct Mistake {
  std::string from, to, words;
};

TEST(AstraPlatform, MistakesInTheSystemAreNamedWithPlaceAndValue) {
  const std::vector<Mistake> mistakes{
      {"\"endpoint-delay\": 10", "\"endpoint-dely\": 10",
       "s.json: line 3: unknown key 'endpoint-dely', did you mean 'endpoint-delay'?"},
      {"\"endpoint-delay\": 10", "\"endpoint-delay\": -1",
       "s.json: line 3: 'endpoint-delay' is -1, not a whole number of 0 or more and at most 10^9"},
      {"\"endpoint-delay\": 10", "\"endpoint-delay\": \"10ns\"",
       "s.json: line 3: 'endpoint-delay' is \"10ns\", not a whole number of 0 or more and at most 10^9"},
      {"\"endpoint-delay\": 10", "\"endpoint-delay\": 10.5",
       "s.json: line 3: 'endpoint-delay' is 10.5, not a whole number of 0 or more and at most 10^9"},
      {": 1600", ": 0", "s.json: line 8: 'local-mem-bw' is 0, not a number above 0"},
      {": 1600", ": -5", "s.json: line 8: 'local-mem-bw' is -5, not a number above 0 and at most 10^9"},
      {": 1600", ": null", "s.json: line 8: 'local-mem-bw' is null, not a number above 0 and at most 10^9"},
      {": 900", ": 1e300", "s.json: line 11: 'peak-perf' is 1e+300, not a number above 0 and at most 10^9"},
      {"\"LIFO\"", "\"lifo\"", "s.json: line 2: 'scheduling-policy' is \"lifo\", not LIFO, FIFO or EXPLICIT"},
      {"\"LIFO\"", "\"EXPLICIT\"",
       "s.json: line 2: 'scheduling-policy' EXPLICIT: engines take fifo and lifo, no priorities"},
      {"dimension\": 2", "dimension\": 0",
       "s.json: line 4: 'active-chunks-per-dimension' is 0, not a whole number of 1 or more and at most 10^9"},
      {"splits\": 4", "splits\": 0.5",
       "s.json: line 5: 'preferred-dataset-splits' is 0.5, not a whole number of 1 or more and at most 10^9"},
      {"localBWAware", "local", "s.json: line 7: 'collective-optimization' is \"local\", not baseline or localBWAware"},
      {"enabled\": 1", "enabled\": 2", "s.json: line 10: 'roofline-enabled' is 2, not 0 or 1"},
      {"\"boost-mode\": 0", "\"replay-only\": 1",
       "s.json: line 9: 'replay-only' 1: collectives are simulated, not replayed"},
      {"\"local-mem-bw\": 1600,", "", "s.json: no key 'local-mem-bw': a platform needs the memory bandwidth of an npu"},
      {",\n  \"peak-perf\": 900", "", "s.json: no key 'peak-perf': a platform needs the rate of compute of an npu"}};
  for (const Mistake& m : mistakes) expect_refused(import(kNetwork, with(kSystem, m.from, m.to), ""), m.words);
  const auto infinite = read_astra_system(with(kSystem, ": 1600", ": 1e999"), "s.json");
  ASSERT_FALSE(infinite);
  EXPECT_TRUE(infinite.error().text.starts_with("s.json")) << infinite.error().text;
}

TEST(AstraPlatform, MistakesInTheMemoryAreNamedWithPlaceAndValue) {
  const std::vector<Mistake> mistakes{
      {"PER_NPU", "PER_CPU",
       "m.json: line 1: 'memory-type' is \"PER_CPU_MEMORY_EXPANSION\", none of NO_MEMORY_EXPANSION "
       "PER_NPU_MEMORY_EXPANSION PER_NODE_MEMORY_EXPANSION MEMORY_POOL"},
      {"PER_NPU", "PER_NODE", "m.json: line 1: memory-type PER_NODE_MEMORY_EXPANSION needs 'num-nodes'"},
      {"\"remote-mem-bw\": 50", "\"remote-mem-bw\": 0",
       "m.json: line 1: memory-type PER_NPU_MEMORY_EXPANSION needs 'remote-mem-bw' above 0, it is 0"},
      {", \"remote-mem-bw\": 50", "",
       "m.json: line 1: memory-type PER_NPU_MEMORY_EXPANSION needs 'remote-mem-bw' above 0, it is missing"},
      {": 100", ": -1", "m.json: line 1: 'remote-mem-latency' is -1, not a number of 0 or more and at most 10^9"},
      {"remote-mem-latency", "remote-mem-latenzy",
       "m.json: line 1: unknown key 'remote-mem-latenzy', did you mean 'remote-mem-latency'?"}};
  for (const Mistake& m : mistakes) expect_refused(import(kNetwork, kSystem, with(kMemory, m.from, m.to)), m.words);
  const auto none = import(kNetwork, kSystem, R"({"memory-type": "NO_MEMORY_EXPANSION", "remote-mem-bw": 0})");
  ASSERT_TRUE(none) << none.error().text;
  EXPECT_FALSE(none->platform.endpoint.remote_bandwidth);
}

TEST(AstraPlatform, DamagedFilesAreReadOrRefusedWithWords) {
  std::size_t refused = 0;
  const auto check = [&](const Result<ImportedPlatform>& result) {
    if (result) return;
    ++refused;
    EXPECT_FALSE(result.error().text.empty());
    EXPECT_EQ(exit_code(result.error().code), 2) << result.error().text;
  };
  for (const std::string& copy : damaged_copies(kNetwork)) check(import(copy, kSystem, kMemory));
  for (const std::string& copy : damaged_copies(kSystem)) check(import(kNetwork, copy, kMemory));
  for (const std::string& copy : damaged_copies(kMemory)) check(import(kNetwork, kSystem, copy));
  EXPECT_GT(refused, 300U);
}

TEST(AstraPlatform, FilesOfAnotherKindAreNamed) {
  const std::string corpus = std::string(HOCKET_SOURCE_DIR) + "/tests/corpus/";
  const std::string ring = corpus + "topology_astra/ring", two = corpus + "kind_astra_system/two";
  const auto alone = load_platform({ring, "", ""});
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().text.find("has no endpoint: give its system JSON too (--system FILE)"), std::string::npos);
  const auto swapped = load_platform({two, ring, ""});
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error().text,
            two + ": an ASTRA-sim system JSON (algorithms and scheduling), not an ASTRA-sim network YAML");
  const auto lengths = load_platform({ring, two, ""});
  ASSERT_FALSE(lengths);
  EXPECT_NE(lengths.error().text.find("'topology' has 1 value(s)"), std::string::npos) << lengths.error().text;
  EXPECT_TRUE(load_platform({"ace:4x2x2", "", ""}));
  EXPECT_FALSE(load_platform({"ace:4x2x2", two, ""}));
}

TEST(ProductNetworks, SayWhatIsWrong) {
  const auto error_of = [](std::string_view spec) {
    const auto result = topology_from_spec(spec, {.links = {kDefaultLink}});
    return result ? std::string() : result.error().text;
  };
  EXPECT_EQ(error_of("product:ring4xstar2"),
            "topology 'product:ring4xstar2': 'star2' is none of ringN, fullN, switchN with N of 2 or more");
  for (const std::string_view bad : {"product:", "product", "product:ring1", "product:ring", "product:ring4x",
                                     "product:ring4xx", "product:ring-4", "product:full1000000"}) {
    EXPECT_NE(error_of(bad), "") << bad;
  }
  const Topology t = topology_from_spec("product:ring2xfull3xswitch2", {.links = {kDefaultLink}}).value();
  EXPECT_EQ(t.rank_count(), 12U);
  EXPECT_EQ(t.vertices().size(), 12U + 6);
  EXPECT_EQ(t.links().size(), 2U * (6 + 12 + 12));
}

}  // namespace
}  // namespace hocket
