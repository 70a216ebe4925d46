// What is left of memory: the system's figure, or what a control group of either version leaves, from folders that look
// like /proc and /sys/fs/cgroup.
#include "base/available_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace hocket {
namespace {

constexpr double kGiB = 1 << 30;

class MemoryLeft : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "memory_left_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
    put("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:        1 kB\nMemAvailable:   8388608 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void put_group2(const std::string& folder, const std::string& limit, const std::string& usage) const {
    put("/sys/fs/cgroup" + folder + "/memory.max", limit + "\n");
    put("/sys/fs/cgroup" + folder + "/memory.current", usage + "\n");
  }
  void expect_left(double gib, const std::string& limit) const {
    const auto left = available_memory(root_);
    ASSERT_TRUE(left);
    EXPECT_DOUBLE_EQ(left->bytes, gib * kGiB);
    EXPECT_EQ(left->limit, limit);
  }

  std::string root_;
};

TEST_F(MemoryLeft, WithoutGroupsTheSystemSays) { expect_left(8, ""); }

TEST_F(MemoryLeft, NothingIsKnownWhereNothingIsSaid) {
  std::filesystem::remove_all(root_);
  EXPECT_FALSE(available_memory(root_));
}

TEST_F(MemoryLeft, TheTightestGroupUpTheTreeCounts) {
  put("/proc/self/cgroup", "0::/jobs/mine\n");
  put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  put_group2("/jobs/mine", "max", "1073741824");
  put_group2("/jobs", "2147483648", "1610612736");
  expect_left(0.5, "/sys/fs/cgroup/jobs/memory.max is 2.0 GiB");
  put("/sys/fs/cgroup/jobs/memory.stat", "anon 1\ninactive_file 268435456\nactive_file 134217728\nshmem 7\n");
  expect_left(0.875, "/sys/fs/cgroup/jobs/memory.max is 2.0 GiB");
  put_group2("/jobs/mine", "1073741824", "1073741825");  // for a moment more than there may be
  expect_left(0, "/sys/fs/cgroup/jobs/mine/memory.max is 1.0 GiB");
  put_group2("/jobs/mine", "109951162777600", "0");  // more than the machine has
  put_group2("/jobs", "109951162777600", "0");
  expect_left(8, "");
}

TEST_F(MemoryLeft, AContainerSeesItsGroupAtTheMount) {
  put("/proc/self/cgroup", "0::/docker/abc/inner\n");
  put("/proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  put_group2("", "1073741824", "0");
  put_group2("/inner", "536870912", "0");
  expect_left(0.5, "/sys/fs/cgroup/inner/memory.max is 0.5 GiB");
  put("/proc/self/cgroup", "0::/../elsewhere\n");
  expect_left(1, "/sys/fs/cgroup/memory.max is 1.0 GiB");
}

TEST_F(MemoryLeft, GroupsOfTheFirstVersionCountToo) {
  put("/proc/self/cgroup", "8:pids:/\n4:cpu,memory:/job\n0::/\n");
  put("/proc/self/mountinfo",
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  const std::string memory = "/sys/fs/cgroup/memory";
  put(memory + "/memory.limit_in_bytes", "9223372036854771712\n");  // none
  put(memory + "/memory.usage_in_bytes", "5000000000\n");
  put(memory + "/job/memory.limit_in_bytes", "3221225472\n");
  put(memory + "/job/memory.usage_in_bytes", "1073741824\n");
  put(memory + "/job/memory.stat", "inactive_file 5\ntotal_inactive_file 536870912\ntotal_active_file 0\n");
  expect_left(2.5, memory + "/job/memory.limit_in_bytes is 3.0 GiB");
}

}  // namespace
}  // namespace hocket
