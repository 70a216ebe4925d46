// A plug-in is loaded only when it was built with the program's own headers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "transport/plug_in.h"

namespace hocket {
namespace {

TEST(PlugIn, OneOfAnotherBuildIsRefusedThoughVersionAndCompilerAreOurs) {
  ::setenv("HOCKET_PLUGIN_PATH", HOCKET_TEST_PLUG_INS, 1);  // NOLINT(concurrency-mt-unsafe): one thread
  const Result<const TransportPlugIn*> found = find_plug_in("stranger");
  ::unsetenv("HOCKET_PLUGIN_PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kMismatch);
  EXPECT_NE(found.error().text.find("libhocket-stranger.so belongs to hocket "), std::string::npos)
      << found.error().text;
  EXPECT_NE(found.error().text.find(" headers 0123456789abcdef, this is hocket " + build_text()), std::string::npos)
      << found.error().text;
}

}  // namespace
}  // namespace hocket
