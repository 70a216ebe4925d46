// hwloc XML, TACCL JSON, NCCL topology XML by vendor, NCCL graph XML.
#include <gtest/gtest.h>

#include "exchange/load_topology.h"
#include "exchange/nccl_graph.h"
#include "support/corpus.h"

namespace hocket {
namespace {

const TopologyFormat& hwloc() { return **find_topology_format("hwloc-xml"); }
const TopologyFormat& taccl() { return **find_topology_format("taccl-json"); }

double rate_between(const Topology& t, std::string_view a, std::string_view b) {
  double rate = 0;
  for (const Link& link : t.links()) {
    if (t.vertices()[link.from].name == a && t.vertices()[link.to].name == b) rate += link.bandwidth.value / 1e9;
  }
  return rate;
}

template <class Read>
std::string error_of(const Read& read) {
  return read.has_value() ? "" : read.error().text;
}

TEST(HwlocXml, PackagesBridgesDevicesAndMeasuredLinks) {
  const auto read = hwloc().read(corpus_text("topology_hwloc/two_packages"), "h.xml");
  ASSERT_TRUE(read.has_value()) << read.error().text;
  const Topology& t = read->topology;
  EXPECT_EQ(t.rank_count(), 3U);
  EXPECT_NEAR(rate_between(t, "gpu0", "pci 0000:10:00.0"), 15.753846, 1e-9);
  EXPECT_DOUBLE_EQ(rate_between(t, "gpu1", "pci 0000:10:00.0"), 12);
  EXPECT_NEAR(rate_between(t, "pci 0000:10:00.0", "cpu0"), 15.753846, 1e-9);
  EXPECT_DOUBLE_EQ(rate_between(t, "gpu0", "gpu1"), 50);
  EXPECT_NEAR(rate_between(t, "ib0", "cpu1"), 15.753846, 1e-9);
  EXPECT_DOUBLE_EQ(rate_between(t, "cpu0", "cpu1"), 10);
  EXPECT_EQ(read->losses.count(LossKind::kRepaired), 0U);
  EXPECT_EQ(read->losses.count(LossKind::kIgnored), 2U);  // the display adapter; cores and memories
}

TEST(HwlocXml, LooseDevicesHangOnAMachine) {
  const auto read = hwloc().read(corpus_text("topology_hwloc/loose"), "h.xml");
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_DOUBLE_EQ(rate_between(read->topology, "gpu0", "machine"), 12);
  EXPECT_EQ(read->losses.count(LossKind::kRepaired), 1U);  // pci_link_speed="fast"
}

TEST(HwlocXml, RefusalsSayWhatLacks) {
  const std::string no_gpu = error_of(hwloc().read(corpus_text("topology_hwloc/no_gpu"), "h.xml"));
  EXPECT_NE(no_gpu.find("no GPU among 0 PCI devices"), std::string::npos) << no_gpu;
  EXPECT_EQ(error_of(hwloc().read(corpus_text("topology_hwloc/cut"), "h.xml")).substr(0, 8), "h.xml:1:");
  std::string deep = "<topology>";
  for (int i = 0; i < 50'000; ++i) deep += "<object>";
  for (int i = 0; i < 50'000; ++i) deep += "</object>";
  EXPECT_NE(error_of(hwloc().read(deep + "</topology>", "h.xml")), "");
}

TEST(TacclJson, OneCostIsASwitchTwoAreTheEightGpuWiring) {
  const auto box = taccl().load(corpus_text("topology_taccl/one_cost"), "t.json");
  ASSERT_TRUE(box.has_value()) << box.error().text;
  EXPECT_EQ(box->rank_count(), 4U);
  EXPECT_DOUBLE_EQ(rate_between(*box, "gpu0", "switch"), 125);
  const auto eight = taccl().load(corpus_text("topology_taccl/two_costs"), "t.json");
  ASSERT_TRUE(eight.has_value()) << eight.error().text;
  double most = 0, all = 0;
  for (const Link& link : eight->links()) {
    most = std::max(most, link.bandwidth.value / 1e9);
    all += link.bandwidth.value / 1e9;
  }
  EXPECT_DOUBLE_EQ(most, 50);
  EXPECT_DOUBLE_EQ(all, 2 * (8 * 50 + 8 * 25));
}

TEST(TacclJson, MatricesAndTheirRefusals) {
  const auto t = taccl().load(corpus_text("topology_taccl/matrix"), "t.json");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu0", "gpu1"), 50);
  EXPECT_DOUBLE_EQ(rate_between(*t, "gpu2", "gpu1"), 25);
  EXPECT_DOUBLE_EQ(t->links()[0].latency.value, 0.7e-6);
  EXPECT_EQ(error_of(taccl().read(corpus_text("topology_taccl/short_row"), "t.json")),
            "t.json: line 1: key 'links': row 1 has 1 entries, gpus_per_node is 2");
  EXPECT_EQ(error_of(taccl().read(R"({"gpus_per_node": 4, "alpha": 1, "node_betas_list": [0]})", "t.json")),
            "t.json: line 1: key 'node_betas_list': 0 is no cost above zero (us per MB)");
  EXPECT_EQ(error_of(taccl().read(R"({"gpus_per_node": 4, "gpus_per_node": 5})", "t.json")),
            "t.json: key 'gpus_per_node' stands twice in one object");
  EXPECT_EQ(error_of(taccl().read("{\n\"gpus_per_node\": ,}", "t.json")).substr(0, 45),
            "t.json:2:18: JSON is malformed at byte 19: sy");
}

TEST(NcclXml, VendorsSayWhatADeviceWithoutAClassIs) {
  const std::string text = R"(<system><cpu>
    <pci busid="0000:01:00.0" vendor="0x10de"/><pci busid="0000:02:00.0" vendor="0x1002"/>
    <pci busid="0000:03:00.0" vendor="0x15b3"/><pci busid="0000:04:00.0"/></cpu></system>)";
  const auto read = (*find_topology_format("nccl-xml"))->read(text, "x.xml");
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_EQ(read->topology.rank_count(), 2U);
  EXPECT_EQ(read->losses.count(LossKind::kIgnored), 1U);
  EXPECT_EQ(read->losses.count(LossKind::kRepaired), 0U);
}

TEST(NcclGraph, ChannelsComeBackTheSame) {
  const auto graphs = read_nccl_graphs(corpus_text("kind_nccl_graph/ring"), "g.xml");
  ASSERT_TRUE(graphs.has_value()) << graphs.error().text;
  ASSERT_EQ(graphs->graphs.size(), 2U);
  const auto again = read_nccl_graphs(write_nccl_graphs(*graphs), "g.xml");
  ASSERT_TRUE(again.has_value()) << again.error().text;
  EXPECT_EQ(again->graphs, graphs->graphs);
  const auto lines = describe(*graphs);
  EXPECT_EQ(lines[0], "graph 0 (ring): 2 channel(s), 20 GB/s inside a node, 0 GB/s between nodes");
  EXPECT_EQ(lines[1], "  gpu 0 > gpu 3 > gpu 2 > gpu 1");
  EXPECT_EQ(graphs->losses.count(LossKind::kRepaired), 1U);  // nchannels=5 without channels
  EXPECT_EQ(error_of(read_nccl_graphs(corpus_text("kind_nccl_graph/bad_dev"), "g.xml")),
            "g.xml: line 1: dev 'x' of <gpu> is not a number");
}

}  // namespace
}  // namespace hocket
