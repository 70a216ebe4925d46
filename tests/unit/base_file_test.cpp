// Writing files: all or nothing, the mode kept, links followed, pipes left what they are. No device is touched:
// a broken write_file() must not cost the machine one.
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace hocket {
namespace {

namespace fs = std::filesystem;

class BaseFile : public testing::Test {
 protected:
  BaseFile() {
    std::string name = (fs::temp_directory_path() / "hocket_file_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~BaseFile() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(BaseFile, ReplacesWholeAndKeepsTheMode) {
  ASSERT_TRUE(write_file(path("a"), "one"));
  ASSERT_EQ(chmod(path("a").c_str(), 0640), 0);
  ASSERT_TRUE(write_file(path("a"), "two and more"));
  EXPECT_EQ(text_of(path("a")), "two and more");
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(BaseFile, FollowsLinks) {
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  ASSERT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of(path("target")), "new");
  ASSERT_TRUE(write_file(path("link"), "newer"));
  EXPECT_EQ(text_of(path("target")), "newer");
}

TEST_F(BaseFile, WritesThroughPipes) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(write_file(path("pipe"), "through"));
  char bytes[16] = {};
  EXPECT_EQ(read(reader, bytes, sizeof bytes), 7);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(BaseFile, RefusesWithoutLeavingAnything) {
  EXPECT_FALSE(write_file(path("missing/a"), "x"));
  EXPECT_FALSE(write_file(folder_.string(), "x"));
  EXPECT_FALSE(check_writable(path("missing/a")));
  EXPECT_FALSE(check_writable(folder_.string()));
  EXPECT_FALSE(check_writable(""));
  EXPECT_TRUE(check_writable(path("a")));
  EXPECT_EQ(files(), 0U);
}

TEST_F(BaseFile, ADashIsNoName) {
  fs::current_path(folder_);
  EXPECT_FALSE(write_file("-", "x"));
  EXPECT_FALSE(check_writable("-"));
  EXPECT_TRUE(write_file("./-", "x"));
  fs::current_path(folder_.parent_path());
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace hocket
