#include <gtest/gtest.h>

#include <regex>

#include "exchange/load_topology.h"
#include "support/corpus.h"
#include "topology/route.h"

namespace hocket {
namespace {

const TopologyFormat& smi() { return **find_topology_format("nvidia-smi"); }

std::string error_of(std::string_view text) {
  const auto result = smi().read(text, "m.txt");
  return result.has_value() ? "" : result.error().text;
}

double rate_between(const Topology& t, std::string_view a, std::string_view b) {
  double rate = 0;
  for (const Link& link : t.links()) {
    if (t.vertices()[link.from].name == a && t.vertices()[link.to].name == b) rate += link.bandwidth.value / 1e9;
  }
  return rate;
}

TEST(NvidiaSmi, PairsOfNvlinkJoinedOverTheSockets) {
  const auto t = smi().load(corpus_text("topology_smi/pairs_sys"), "m.txt");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 4U);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu0", "gpu1"), 240);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu0", "gpu2"), 0);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu0", "cpu0"), 12);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu1", "cpu0"), 12);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu3", "cpu1"), 12);
  EXPECT_DOUBLE_EQ(rate_between(*t, "cpu0", "SYS"), 10);
  EXPECT_TRUE(t->symmetric());
}

TEST(NvidiaSmi, SpellingDoesNotMatter) {
  for (const char* name : {"pairs_sys", "node_spaces", "colours_nics", "nvswitch"}) {
    const std::string plain = corpus_text(std::string("topology_smi/") + name);
    const auto wanted = smi().load(plain, "m.txt");
    ASSERT_TRUE(wanted.has_value()) << name << wanted.error().text;
    const std::string coloured = "\x1b[1m" + std::regex_replace(plain, std::regex("GPU1"), "\x1b[4mGPU1\x1b[0m");
    for (const std::string& text :
         {std::regex_replace(plain, std::regex("\t+"), "    "), std::regex_replace(plain, std::regex(" +"), "\t"),
          coloured, with_crlf(plain), plain + "\nuser@host:~$ \n"}) {
      ASSERT_TRUE(smi().recognise(text)) << text;
      const auto t = smi().load(text, "m.txt");
      ASSERT_TRUE(t.has_value()) << t.error().text << text;
      EXPECT_EQ(t->fingerprint(), wanted->fingerprint()) << text;
    }
  }
}

TEST(NvidiaSmi, NicsHangWhereTheCellsSayAndTakeTheirLegendNames) {
  const auto t = smi().load(corpus_text("topology_smi/colours_nics"), "m.txt");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 2U);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu0", "switch0"), 12);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu1", "switch0"), 12);
  EXPECT_DOUBLE_EQ(rate_between(*t, "mlx5_0", "cpu0"), 12);
  EXPECT_DOUBLE_EQ(rate_between(*t, "mlx5_1", "cpu1"), 12);
}

TEST(NvidiaSmi, MoreLinksThanAGpuHasMeansASwitch) {
  const auto read = smi().read(corpus_text("topology_smi/nvswitch"), "m.txt");
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_DOUBLE_EQ(rate_between(read->topology, "gpu0", "nvswitch"), 360);
  EXPECT_DOUBLE_EQ(rate_between(read->topology, "gpu0", "gpu1"), 0);
  EXPECT_EQ(read->losses.count(LossKind::kRepaired), 0U);
  EXPECT_GE(read->losses.count(LossKind::kAssumed), 3U);
}

TEST(NvidiaSmi, WrappedLinesAreARepairThatStrictRefuses) {
  const auto read = smi().read(corpus_text("topology_smi/wrapped"), "m.txt");
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_EQ(read->topology.rank_count(), 3U);
  EXPECT_EQ(read->losses.count(LossKind::kRepaired), 1U);
  const auto strict = read->losses.refuse_repairs("m.txt");
  ASSERT_FALSE(strict.has_value());
  EXPECT_EQ(strict.error().text,
            "m.txt: --strict refuses a repair: line 4: repaired wrapped row (joined with the line before)");
  EXPECT_EQ(exit_code(strict.error().code), 2);
}

TEST(NvidiaSmi, RefusalsNameRowAndColumn) {
  EXPECT_EQ(error_of(corpus_text("topology_smi/asymmetric")),
            "m.txt: row 'GPU0', column 'GPU1' says PHB, but row 'GPU1', column 'GPU0' says SYS");
  EXPECT_EQ(error_of("GPU0 GPU1\nGPU0 X PHB\n"), "m.txt: row 'GPU1' is missing, the header has 2 devices");
  EXPECT_EQ(error_of("GPU0 GPU1\nGPU0 X FAR\nGPU1 FAR X\n"),
            "m.txt:2:8: row 'GPU0', column 'GPU1': 'FAR' is none of X NV# PIX PXB PHB NODE SYS");
  EXPECT_EQ(error_of("GPU0 GPU1\nGPU0 X PHB\nGPU0 X PHB\n"), "m.txt:3:1: row 'GPU0' stands twice");
  EXPECT_EQ(error_of("GPU0 GPU1\nGPU0 PHB X\nGPU1 X PHB\n"),
            "m.txt: row 'GPU0', column 'GPU0': X belongs on the diagonal and only there");
  EXPECT_EQ(error_of("CPU0 CPU1\n"), "m.txt: no header row of device labels (GPU0 GPU1 ...)");
}

}  // namespace
}  // namespace hocket
