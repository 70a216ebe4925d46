#include <gtest/gtest.h>

#include "exchange/doctor.h"
#include "exchange/load_topology.h"
#include "support/corpus.h"

namespace hocket {
namespace {

const TopologyFormat& astra() { return **find_topology_format("astra-yaml"); }

std::string error_of(std::string_view text) {
  const auto result = astra().read(text, "n.yml");
  return result.has_value() ? "" : result.error().text;
}

std::string network(const std::string& topology, const std::string& counts, const std::string& bandwidth,
                    const std::string& latency) {
  return "topology: " + topology + "\nnpus_count: " + counts + "\nbandwidth: " + bandwidth + "\nlatency: " + latency +
         "\n";
}

TEST(AstraYaml, GigabytesAreGibibytes) {
  const auto t = astra().load(corpus_text("topology_astra/ring"), "n.yml");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 4U);
  EXPECT_EQ(t->links().size(), 8U);
  EXPECT_DOUBLE_EQ(t->links()[0].bandwidth.value, 50.0 * 1073741824);
  EXPECT_DOUBLE_EQ(t->links()[0].latency.value, 500e-9);
  EXPECT_NE(t->notes()[0].find("GiB/s (2^30 B/s)"), std::string::npos) << t->notes()[0];
}

TEST(AstraYaml, DimensionsNestInnermostFirst) {
  const auto t = astra().load(corpus_text("topology_astra/three"), "n.yml");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 16U);
  EXPECT_EQ(t->vertices().size(), 16U + 8);  // the last dimension has 8 lines, each with a switch
  EXPECT_EQ(t->links().size(), 2U * (8 + 4 * 6 + 16));
  EXPECT_EQ(std::vector<std::uint32_t>(t->extents().begin(), t->extents().end()),
            (std::vector<std::uint32_t>{2, 4, 2}));
}

TEST(AstraYaml, SingleValuesAreARepairAndUnknownKeysAreIgnored) {
  const auto read = astra().read(corpus_text("topology_astra/scalars"), "n.yml");
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_EQ(read->losses.count(LossKind::kRepaired), 4U);
  EXPECT_EQ(read->losses.count(LossKind::kIgnored), 1U);
  EXPECT_FALSE(read->losses.refuse_repairs("n.yml").has_value());
}

TEST(AstraYaml, RefusalsNameKeyAndBothLengths) {
  EXPECT_EQ(error_of(corpus_text("topology_astra/short_list")),
            "n.yml:3:12: 'bandwidth' has 1 value(s), 'topology' has 2");
  EXPECT_EQ(error_of(network("[Ring]", "[1]", "[50]", "[1]")),
            "n.yml:2:14: npus_count 1 is not a whole number of 2 or more");
  EXPECT_EQ(error_of(network("[Ring]", "[4]", "[0]", "[1]")),
            "n.yml:3:13: bandwidth 0 is not from 1 B/s to 10^9 GiB/s (it counts in GiB/s)");
  EXPECT_EQ(error_of(network("[Torus2D]", "[4]", "[1]", "[1]")),
            "n.yml:1:12: topology 'Torus2D' is none of Ring, FullyConnected, Switch");
  EXPECT_EQ(error_of(network("[Ring]", "[4]", "[nan]", "[1]")), "n.yml:3:13: bandwidth 'nan' is not a number");
  EXPECT_EQ(error_of(network("[Ring]", "[4]", "[1]", "[-1]")), "n.yml:4:11: latency -1 is not from 0 to 10^12 ns");
  EXPECT_EQ(error_of(network("[Ring, Ring]", "[4, 2]", "[50, 1e300]", "[1, 1]")),
            "n.yml:3:17: bandwidth 1e300 is not from 1 B/s to 10^9 GiB/s (it counts in GiB/s)");
  EXPECT_EQ(error_of(network("[Ring, Ring]", "[4, 2]", "[50, 1e-300]", "[1, 1]")).substr(0, 30),
            "n.yml:3:17: bandwidth 1e-300 i");
  EXPECT_EQ(error_of(network("[Ring]", "[4]", "[1]", "[1e30]")), "n.yml:4:11: latency 1e30 is not from 0 to 10^12 ns");
  EXPECT_EQ(error_of(network("[Ring]", "[4]", "[1]", "[1]") + "latencyy: [1]\n"),
            "n.yml:5:1: unknown key 'latencyy', did you mean 'latency'?");
  EXPECT_EQ(error_of("topology: [Ring]\nnpus_count: [4]\nlatency: [1]\n"), "n.yml: key 'bandwidth' is missing");
  EXPECT_EQ(error_of("topology: [Ring\nnpus_count: [4]\n").substr(0, 6), "n.yml:");
  EXPECT_NE(error_of(network("[Ring]", "[4000000000]", "[1]", "[1]")), "");
  EXPECT_NE(error_of(network("[FullyConnected]", "[1000000]", "[1]", "[1]")), "");
  EXPECT_NE(error_of(std::string(100'000, '[') + "npus_count"), "");
}

TEST(AstraSystem, IsNoTopologyAndIsComparedWithTheNetwork) {
  const std::string system = corpus_text("kind_astra_system/two");
  const auto refused = recognise_topology(system, "s.json");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(
      refused.error().text,
      "s.json: an ASTRA-sim system JSON (algorithms and scheduling), not a topology; the network is in the YAML given "
      "to --network-configuration");
  std::vector<Diagnosis> both;
  both.push_back(*diagnose_bytes(corpus_text("topology_astra/ring"), "n.yml"));
  both.push_back(*diagnose_bytes(system, "s.json"));
  EXPECT_EQ(both[1].examination.losses.count(LossKind::kIgnored), 1U);
  const auto mismatch = compare_astra_files(both, std::vector<std::string>{"n.yml", "s.json"});
  ASSERT_FALSE(mismatch.has_value());
  EXPECT_EQ(mismatch.error().text,
            "n.yml: 'topology' has 1 value(s), but the '...-implementation' lists of s.json have 2");
  both[1] = *diagnose_bytes(corpus_text("kind_chakra/all_gather.et"), "a.0.et");
  EXPECT_TRUE(compare_astra_files(both, std::vector<std::string>{"n.yml", "a.0.et"}).has_value());
  both.push_back(both[1]);
  const auto traces = compare_astra_files(both, std::vector<std::string>{"n.yml", "a.0.et", "a.1.et"});
  ASSERT_FALSE(traces.has_value());
  EXPECT_EQ(traces.error().text, "n.yml: the values of 'npus_count' multiply to 4, but 2 Chakra traces are given");
  const auto lengths = diagnose_bytes(corpus_text("kind_astra_system/lengths"), "s.json");
  ASSERT_FALSE(lengths.has_value());
  EXPECT_EQ(lengths.error().text,
            "s.json: line 1: 'all-gather-implementation' has 2 value(s), 'all-reduce-implementation' has 1 "
            "(taken for astra-system-json)");
  EXPECT_FALSE(diagnose_bytes(R"({"all-reduce-implementation": ["rings"]})", "s.json").has_value());
  EXPECT_TRUE(diagnose_bytes(corpus_text("kind_astra_memory/pool"), "m.json").has_value());
}

}  // namespace
}  // namespace hocket
