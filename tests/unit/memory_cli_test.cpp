// Whether work fits the memory of an npu, wherever a workload meets a platform; inputs that would be written over. By
// running the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/process.h"

namespace hocket {
namespace {

using test::Ended;

Ended run(std::vector<std::string> words) {
  words.insert(words.begin(), HOCKET_BINARY);
  return test::Process(words, std::vector<std::string>{}).wait(std::chrono::seconds(120));
}

/// A folder of its own for each test.
class MemoryCli : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "memory_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
    return folder_ + "/" + name;
  }
  [[nodiscard]] std::string content(const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

TEST_F(MemoryCli, WorkInAGroupIsComparedToo) {
  const Ended end = run({"sim", "gpt3_xl", "--platform", "a100:8", "--batch", "8", "--group", "0-3"});
  EXPECT_EQ(end.status, 1) << end.err;
  EXPECT_NE(end.out.find("does not fit: "), std::string::npos) << end.out;
  const Ended fits = run({"sim", "bert", "--platform", "a100:8", "--batch", "1", "--sequence", "64", "--group", "0-1"});
  EXPECT_EQ(fits.status, 0) << fits.err;
  EXPECT_NE(fits.out.find("memory per npu: "), std::string::npos) << fits.out;
}

TEST_F(MemoryCli, TheNpuWithLeastMemoryCounts) {
  std::string text = run({"info", "platform", "h100:2", "--yaml"}).out;
  const std::size_t engines = text.find("engines:");
  ASSERT_NE(engines, std::string::npos);
  const std::string file =
      put("uneven.yaml", text.insert(engines, "exceptions:\n  - ranks: [1]\n    memory_capacity: 1MB\n"));
  const std::string work = put("w.yaml",
                               "hocket: workload\nname: x\nranks: 2\n"
                               "memory: {parameters: 1GB, gradients: 0B, optimizer: 0B, activations: 0B}\n"
                               "programs:\n  - {ranks: all, tasks: [{name: a, time: 1ms}]}\n");
  const Ended end = run({"sim", work, "--platform", file});
  EXPECT_EQ(end.status, 1) << end.err;
  EXPECT_NE(end.out.find("does not fit: 1 GB per npu, rank 1 of h100:2 has 0.001 GB"), std::string::npos) << end.out;
  EXPECT_EQ(run({"sim", work, "--platform", file, "--endpoint", "ideal", "--json"}).status, 1);
  EXPECT_EQ(run({"sim", work, "--platform", "h100:2"}).status, 0);
}

TEST_F(MemoryCli, SweepsSayWhatDoesNotFit) {
  const std::string file = put("s.yaml",
                               "hocket: sweep\nset: {platform: \"h100:2\", workload: bert, sequence: 64}\n"
                               "vary: {endpoint.memory_capacity: [1GB, 80GB]}\n");
  const std::string csv = folder_ + "/s.csv", page = folder_ + "/s.html";
  const Ended end = run({"sweep", file, "--csv", csv, "-o", page, "--results", folder_ + "/s.jsonl"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(end.out.find("1 of 2 points: the memory of an npu is too small"), std::string::npos) << end.out;
  EXPECT_NE(content(csv).find(",memory_capacity_bytes,"), std::string::npos);
  EXPECT_NE(content(csv).find(",no,"), std::string::npos);
  EXPECT_NE(content(csv).find(",yes,"), std::string::npos);
  EXPECT_NE(content(page).find("<td>no</td>"), std::string::npos);
  const Ended json = run({"sweep", file, "--json", "--results", folder_ + "/s.jsonl"});
  EXPECT_NE(json.out.find("\"fits\": false"), std::string::npos) << json.out;
}

TEST_F(MemoryCli, WhatIsReadIsNotWrittenOver) {
  const std::string sweep = put("s.yaml",
                                "hocket: sweep\nset: {platform: \"h100:2\", collective: all_reduce}\n"
                                "vary: {size: [1MB]}\n");
  const std::string work = put("w.yaml",
                               "hocket: workload\nname: x\nranks: 2\n"
                               "programs:\n  - {ranks: all, tasks: [{name: a, time: 1ms}]}\n");
  for (const auto& [words, file] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"sweep", sweep, "--csv", sweep}, sweep},
           {{"sim", work, "--platform", "h100:2", "--csv", work}, work},
           {{"sim", work, "--platform", "h100:2", "--timeline", folder_ + "/./w.yaml"}, work},
           {{"sim", work, "--platform", "h100:2", "--write-workload", work}, work}}) {
    const std::string before = content(file);
    const Ended end = run(words);
    EXPECT_EQ(end.status, 2) << end.out;
    EXPECT_NE(end.err.find("is the same file as"), std::string::npos) << end.err;
    EXPECT_EQ(content(file), before);
  }
}

TEST_F(MemoryCli, OnePointIsOnePoint) {
  const std::string file = put("s.yaml",
                               "hocket: sweep\nname: n\nvary:\n  - {platform: [\"h100:2\"], collective: [all_reduce], "
                               "size: [1MB]}\n");
  const Ended end = run({"sweep", file, "--results", folder_ + "/s.jsonl"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.out.find("n: 1 point\n"), 0U) << end.out;
  EXPECT_NE(end.out.find("0 of 1 point were in"), std::string::npos) << end.out;
}

}  // namespace
}  // namespace hocket
