#include <gtest/gtest.h>

#include "exchange/load_topology.h"

namespace hocket {
namespace {

Result<Topology> read(std::string_view text) { return (*find_topology_format("link-csv"))->load(text, "x.csv"); }

std::string error_of(std::string_view text) {
  const auto result = read(text);
  return result.has_value() ? "" : result.error().text;
}

TEST(LinkCsv, ReadsCablesCountsAndSimplex) {
  const auto t = read(
      "# a comment\r\nfrom,to,bandwidth,latency,count,duplex\r\n2,10,16GB/s,150ns,2,full\r\n"
      "\"10\" , 1 ,1GB/s,0ns,,\r\n1,2,1GB/s,1us,1,simplex\r\nsw0,2,1GB/s,1us,,\r\n");
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->links().size(), 4U + 2 + 1 + 2);
  EXPECT_EQ(t->rank_count(), 3U);
  EXPECT_EQ(t->vertices()[t->vertex_of(0)].name, "1");  // by number, not by appearance
  EXPECT_EQ(t->vertices()[t->vertex_of(2)].name, "10");
  EXPECT_TRUE(t->has_switches());
  EXPECT_FALSE(t->symmetric());
}

TEST(LinkCsv, ErrorsCarryLineAndColumn) {
  const std::string head = "from,to,bandwidth,latency\n";
  EXPECT_NE(error_of(head + "0,1,16,150ns\n").find("x.csv:2:5:"), std::string::npos)
      << error_of(head + "0,1,16,150ns\n");
  EXPECT_NE(error_of(head + "\n0,1,16GB/s,150\n").find("x.csv:3:12:"), std::string::npos);
  EXPECT_NE(error_of("from,to,bandwith,latency\n").find("'bandwith'"), std::string::npos);
  EXPECT_NE(error_of("from,to,bandwidth\n").find("latency"), std::string::npos);
  for (const std::string& bad :
       {std::string(), head, head + "0,1,1GB/s\n", head + "\"0,1,1GB/s,1ns\n", head + ",1,1GB/s,1ns\n",
        head + "vertex,0,gpu\n", head + "vertex,0,npu\nvertex,0,npu\n", head + "0,1,1GB/s,1ns\nextents,3\n",
        head + "0,1,1GB/s,1ns\nrank,0\nrank,0\n", head + "0,sw,1GB/s,1ns\nrank,sw\n",
        head + "0,1,1GB/s,1ns\n2,3,1GB/s,1ns\n", std::string("from,to,bandwidth,latency,count\n0,1,1GB/s,1ns,0\n"),
        std::string("from,to,bandwidth,latency,count\n0,1,1GB/s,1ns,99999999\n"),
        std::string("from,from,bandwidth,latency,to\n")}) {
    EXPECT_NE(error_of(bad), "") << bad;
  }
}

TEST(LinkCsv, EveryFamilyComesBackTheSame) {
  const TopologyFormat& format = **find_topology_format("link-csv");
  for (const TopologyFamily* family : topology_families()) {
    const auto t =
        topology_from_spec(family->example, {.links = {LinkRate{BytesPerSecond{12.3456e9}, Seconds{1.23e-7}}}});
    const auto text = format.write(*t);
    ASSERT_TRUE(text.has_value()) << text.error().text;
    EXPECT_TRUE(format.recognise(*text));
    const auto again = format.load(*text, "again.csv");
    ASSERT_TRUE(again.has_value()) << again.error().text;
    EXPECT_EQ(again->fingerprint(), t->fingerprint()) << family->name;
    EXPECT_TRUE(std::equal(t->extents().begin(), t->extents().end(), again->extents().begin(), again->extents().end()));
  }
}

TEST(LinkCsv, GroupsComeBackTheSame) {
  const TopologyOptions options{.breaks = {"0-1"}, .group = "5,2,0"};
  const auto t = apply_changes(*topology_from_spec("torus:4x4", options), options);
  const TopologyFormat& format = **find_topology_format("link-csv");
  EXPECT_EQ(format.load(*format.write(*t), "x")->fingerprint(), t->fingerprint());
}

TEST(LoadTopology, FilesAndWords) {
  const std::string example = std::string(HOCKET_SOURCE_DIR) + "/examples/irregular16.csv";
  const auto t = load_topology(example, {});
  ASSERT_TRUE(t.has_value()) << t.error().text;
  EXPECT_EQ(t->rank_count(), 16U);
  EXPECT_FALSE(t->symmetric());
  EXPECT_TRUE(load_topology("ring:4", {}).has_value());
  EXPECT_TRUE(load_topology(example, {.breaks = {"0-1"}, .group = "0-7"}).has_value());
  EXPECT_FALSE(load_topology(HOCKET_SOURCE_DIR, {}).has_value());
  const auto missing = load_topology("no/such/file.csv", {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().text.find("no such file"), std::string::npos);
  EXPECT_FALSE(load_topology(std::string(HOCKET_SOURCE_DIR) + "/LICENSE", {}).has_value());
}

}  // namespace
}  // namespace hocket
