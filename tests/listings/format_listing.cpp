// docs/add-a-format.md: the format it lists reads a matrix, states what it assumed, and names what is wrong.
#include <gtest/gtest.h>

#include "exchange/topology_format.h"

namespace hocket {

extern const TopologyFormat topology_format_bandwidth_matrix;

namespace {

const std::string kHead = "bandwidth matrix GB/s\n";

std::string complaint(const std::string& rows) {
  const Result<ReadTopology> read = topology_format_bandwidth_matrix.read(kHead + rows, "m.txt");
  return read ? "" : read.error().text;
}

TEST(AddAFormat, ListingReadsAMatrix) {
  ASSERT_TRUE(topology_format_bandwidth_matrix.recognise(kHead));
  const Result<ReadTopology> read =
      topology_format_bandwidth_matrix.read(kHead + "0 25 0\n25 9 12.5\n5 10 0\n", "m.txt");
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->topology.rank_count(), 3U);
  EXPECT_EQ(read->topology.links().size(), 5U);
  EXPECT_EQ(read->topology.links()[2].bandwidth.value, 12.5e9);
  EXPECT_EQ(read->losses.count(LossKind::kAssumed), 1U);
  EXPECT_EQ(read->losses.count(LossKind::kIgnored), 1U);
}

TEST(AddAFormat, ListingNamesWhatIsWrong) {
  EXPECT_EQ(complaint("0 1\n1 x\n"), "m.txt:3: entry 2 is 'x', expected a rate in GB/s");
  EXPECT_EQ(complaint("0 1\n1\n"), "m.txt: row 1 has 1 entries, but there are 2 rows");
  EXPECT_EQ(complaint("0 -1\n1 0\n"), "m.txt:2: entry 2 is '-1', expected a rate in GB/s");
  EXPECT_NE(complaint("0 0\n0 0\n"), "");
  EXPECT_NE(complaint(""), "");
}

}  // namespace
}  // namespace hocket
