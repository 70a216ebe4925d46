#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "exchange/load_topology.h"
#include "exchange/nccl_rates.h"
#include "topology/route.h"

namespace hocket {
namespace {

const TopologyFormat& xml() { return **find_topology_format("nccl-xml"); }

std::string corpus(const std::string& name) {
  return *read_topology_text(std::string(HOCKET_SOURCE_DIR) + "/tests/corpus/topology_xml/" + name);
}

VertexId named(const Topology& t, std::string_view name) {
  for (VertexId v = 0; v < t.vertices().size(); ++v) {
    if (t.vertices()[v].name == name) return v;
  }
  ADD_FAILURE() << "no vertex " << name;
  return 0;
}

double rate_between(const Topology& t, std::string_view a, std::string_view b) {
  double rate = 0;
  for (const LinkId id : t.outgoing(named(t, a))) rate += t.link(id).to == named(t, b) ? t.link(id).bandwidth.value : 0;
  return rate / 1e9;
}

bool has_note(const Topology& t, std::string_view text) {
  return std::any_of(t.notes().begin(), t.notes().end(),
                     [&](const std::string& n) { return n.find(text) != std::string::npos; });
}

TEST(NcclXml, IslandsAreJoinedOverPcie) {
  const auto t = xml().load(corpus("islands"), "islands.xml");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 4U);
  EXPECT_EQ(t->vertices()[t->vertex_of(0)].name, "gpu0");
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu0", "gpu1"), 48);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu2", "gpu3"), 48);
  EXPECT_DOUBLE_EQ(rate_between(*t, "pci 0000:10:00.0", "cpu0"), 12);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu0", "pci 0000:10:00.0"), 24);
  EXPECT_DOUBLE_EQ(rate_between(*t, "cpu0", "cpu1"), 10);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu2", "cpu1"), 6) << "'16.0 GT/s' falls back to Gen3";
  EXPECT_TRUE(has_note(*t, "'16.0 GT/s'"));
  EXPECT_TRUE(has_note(*t, "2 GPU-link components"));
  Router router(*t);
  EXPECT_EQ(router.route(t->vertex_of(0), t->vertex_of(2), 0)->size(), 4U);
  const auto direct = apply_changes(*t, {.direct_only = true});
  ASSERT_FALSE(direct.has_value());
  EXPECT_NE(direct.error().text.find("{gpu0 gpu1}, {gpu2 gpu3}"), std::string::npos) << direct.error().text;
}

TEST(NcclXml, GpuSwitch) {
  const auto t = xml().load(corpus("nvswitch"), "x");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_NEAR(rate_between(*t, "gpu0", "nvswitch"), 4 * 20.6, 1e-9);
  EXPECT_NEAR(rate_between(*t, "nvswitch", "gpu1"), 4 * 20.6, 1e-9);
  EXPECT_TRUE(apply_changes(*t, {.direct_only = true}).has_value());
}

TEST(NcclXml, CandidatesByClassAndUnknownDevices) {
  const auto t = xml().load(corpus("candidates"), "x");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 2U);
  EXPECT_TRUE(has_note(*t, "2 GPU candidates"));
  const auto unknown = xml().load(corpus("unknown"), "g.xml");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().text.find("2 devices of unknown class"), std::string::npos) << unknown.error().text;
  EXPECT_TRUE(xml().describe(corpus("unknown"), "g.xml").has_value());
}

TEST(NcclXml, ErrorsCarryLineAndColumn) {
  const auto broken = xml().load("<system>\n  <cpu>\n</system>", "b.xml");
  ASSERT_FALSE(broken.has_value());
  EXPECT_NE(broken.error().text.find("b.xml:3:"), std::string::npos) << broken.error().text;
  EXPECT_FALSE(xml().load("<graphs/>", "x").has_value());
  std::string deep = "<system><cpu>";
  for (int i = 0; i < 100'000; ++i) deep += "<pci>";
  for (int i = 0; i < 100'000; ++i) deep += "</pci>";
  EXPECT_FALSE(xml().load(deep + "</cpu></system>", "x").has_value());
  EXPECT_FALSE(
      xml()
          .load(R"(<system><cpu><pci busid="1"><gpu><nvlink count="99999999"/></gpu></pci></cpu></system>)", "x")
          .has_value());
}

TEST(NcclXml, WhatItReadsComesBackTheSame) {
  for (const char* name : {"islands", "nvswitch", "candidates"}) {
    const auto t = xml().load(corpus(name), name);
    const auto text = xml().write(*t);
    ASSERT_TRUE(text.has_value()) << text.error().text;
    const auto again = xml().load(*text, "again");
    ASSERT_TRUE(again.has_value()) << again.error().text << *text;
    EXPECT_EQ(again->fingerprint(), t->fingerprint()) << *text;
  }
}

TEST(NcclXml, WritesGpuNetworksAndRefusesForeignRates) {
  const TopologyOptions options{.links = {LinkRate{BytesPerSecond{20e9}, kGpuLinkLatency}}};
  const auto text = xml().write(*topology_from_spec("dgx1", options));
  ASSERT_TRUE(text.has_value()) << text.error().text;
  const auto again = xml().load(*text, "x");
  ASSERT_TRUE(again.has_value()) << again.error().text;
  EXPECT_DOUBLE_EQ(rate_between(*again, "gpu0", "gpu3"), 40);
  EXPECT_FALSE(xml().write(*topology_from_spec("ring:4", {})).has_value());
  EXPECT_FALSE(xml().write(*topology_from_spec("boxes:2x2", options)).has_value());
}

/// Public files, read where HOCKET_SAMPLES points; they are not part of the repository.
class Samples : public testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("HOCKET_SAMPLES");
    if (folder == nullptr) GTEST_SKIP() << "HOCKET_SAMPLES is not set to a folder with public topology files";
    const std::string below = std::string(folder) + "/topologies";
    folder_ = std::filesystem::is_directory(below) ? below : folder;
  }
  std::string text(const std::string& name) {
    auto result = read_topology_text(folder_ + "/" + name);
    return result.has_value() ? *result : std::string();
  }
  std::string folder_;
};

TEST_F(Samples, PciOnlyFiles) {
  if (text("azure_ndv2-topo.xml").empty() || text("aws_g5.48xl-topo.xml").empty()) GTEST_SKIP() << "files are missing";
  const auto ndv2 = load_topology(folder_ + "/azure_ndv2-topo.xml", {});
  ASSERT_TRUE(ndv2.has_value()) << ndv2.error().text;
  EXPECT_EQ(ndv2->rank_count(), 8U);
  for (int g = 0; g < 8; ++g)
    EXPECT_DOUBLE_EQ(rate_between(*ndv2, fmt::format("gpu{}", g), g < 4 ? "cpu0" : "cpu1"), 24);
  EXPECT_TRUE(has_note(*ndv2, "GPU links are unknown"));
  const auto g5 = load_topology(folder_ + "/aws_g5.48xl-topo.xml", {});
  ASSERT_FALSE(g5.has_value());
  EXPECT_NE(g5.error().text.find("9 devices of unknown class"), std::string::npos) << g5.error().text;
}

TEST_F(Samples, TwoIslands) {
  if (text("rccl_topo_4p2h.xml").empty()) GTEST_SKIP() << "file is missing";
  const auto t = load_topology(folder_ + "/rccl_topo_4p2h.xml", {});
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 8U);
  EXPECT_TRUE(has_note(*t, "2 GPU-link components"));
  const auto direct = load_topology(folder_ + "/rccl_topo_4p2h.xml", {.direct_only = true});
  ASSERT_FALSE(direct.has_value());
  EXPECT_NE(direct.error().text.find("{gpu0 gpu1 gpu2 gpu3}, {gpu4 gpu5 gpu6 gpu7}"), std::string::npos)
      << direct.error().text;
}

TEST_F(Samples, EveryXmlComesBackTheSame) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const auto content = read_topology_text(entry.path().string());
    if (!content || !xml().recognise(*content)) continue;
    const auto t = xml().load(*content, entry.path().filename().string());
    if (!t) continue;
    const auto written = xml().write(*t);
    ASSERT_TRUE(written.has_value()) << entry.path() << written.error().text;
    EXPECT_EQ(xml().load(*written, "again")->fingerprint(), t->fingerprint()) << entry.path();
    EXPECT_EQ(
        (*find_topology_format("link-csv"))->load(*(*find_topology_format("link-csv"))->write(*t), "x")->fingerprint(),
        t->fingerprint());
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "no NCCL XML in " << folder_;
}

}  // namespace
}  // namespace hocket
