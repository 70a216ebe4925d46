// The regenerated figures of MultiTree's evaluation that this program's model reaches must stay within their band, row
// by row; docs/measured.md has the rest and why.
#include <gtest/gtest.h>

#include "studies/multitree_published.h"
#include "studies/multitree_setup.h"
#include "studies/study.h"

namespace hocket {
namespace {

class Rows : public testing::Test {
 protected:
  double rate(const MultitreePublished& p, std::string_view scheme) {
    const auto time = bench_.time(std::string(p.network), scheme, {p.bytes});
    EXPECT_TRUE(time) << (time ? "" : time.error().text);
    return time ? static_cast<double>(p.bytes) / to_seconds(*time).value / 1e9 : 0;
  }
  void expect_within(const MultitreePublished& p, std::string_view scheme, double published) {
    const StudyRow row{.name = {}, .published = published, .ours = rate(p, scheme), .unit = "GB/s", .note = {}};
    EXPECT_EQ(row.pass(), true) << p.network << " " << p.bytes << " " << scheme << ": " << *row.ours;
  }

  MultitreeBench bench_;
};

TEST_F(Rows, RingsOnDirectNetworks) {
  for (const MultitreePublished& p : kMultitreePublished) {
    if (!p.network.starts_with("bigraph")) expect_within(p, "ring", p.ring);
  }
}

TEST_F(Rows, BigraphWithOneInterface) {
  for (const MultitreePublished& p : kMultitreePublished) {
    if (!p.network.starts_with("bigraph")) continue;
    expect_within(p, "hdrm", p.prior_rate);
    expect_within(p, "multitree-packet", p.packet);
    expect_within(p, "multitree-message", p.message);
  }
}

TEST_F(Rows, TorusAtItsLargestSize) {
  const MultitreePublished& p = kMultitreePublished[3];
  ASSERT_EQ(p.bytes, 2048 * kKiB);
  expect_within(p, "2d-ring", p.prior_rate);
  expect_within(p, "multitree-packet", p.packet);
  expect_within(p, "multitree-message", p.message);
}

// 1 flit in 17 on every packet; both flow controls carry the same data.
TEST_F(Rows, MessagesAreFasterByTheirHeadsAtMostAndALittle) {
  for (const MultitreePublished& p : kMultitreePublished) {
    const double gain = rate(p, "multitree-message") / rate(p, "multitree-packet");
    EXPECT_GT(gain, 1);
    EXPECT_LT(gain, 17.0 / 16 + 0.01);
  }
}

}  // namespace
}  // namespace hocket
