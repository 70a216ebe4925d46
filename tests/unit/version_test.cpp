#include "base/version.h"

#include <gtest/gtest.h>

#include "hocket/version.h"

namespace hocket {
namespace {

TEST(Version, PublicAndInternalAgree) {
  EXPECT_EQ(version(), build_stamp().version);
  EXPECT_FALSE(version().empty());
}

TEST(Version, BuildIsNamed) {
  EXPECT_FALSE(build_stamp().build_type.empty());
  EXPECT_FALSE(build_stamp().compiler.empty());
}

}  // namespace
}  // namespace hocket
