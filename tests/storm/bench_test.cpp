// The bench's own words: algorithms by name, the bound and the share of it, nccl-tests' volumes, and what is refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/process.h"

namespace hocket {
namespace {

using nlohmann::json;
using test::Ended;
using test::Process;
using Words = std::vector<std::string>;

Ended bench(const Words& more, const Words& variables = {}) {
  Words words{HOCKET_BINARY, "bench", "all_reduce", "--ranks", "3"};
  words.insert(words.end(), more.begin(), more.end());
  for (const Words& usual : {Words{"-b", "4K"}, Words{"-e", "4K"}, Words{"-n", "2"}}) {
    if (std::find(more.begin(), more.end(), usual.front()) == more.end())
      words.insert(words.end(), usual.begin(), usual.end());
  }
  return Process(words, variables).wait(std::chrono::seconds(60));
}

json document_of(const Words& more, const Words& variables = {}) {
  Words words = more;
  words.emplace_back("--json");
  const Ended end = bench(words, variables);
  EXPECT_EQ(end.status, 0) << end.err;
  return json::parse(end.out, nullptr, false);
}

TEST(StormBench, AnAlgorithmIsTakenByName) {
  for (const char* name : {"ring", "direct"})
    EXPECT_EQ(document_of({"--algo", name}).at("rows").at(0).at("algorithm"), name);
  const Ended end = bench({"--algo", "rings"});
  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("unknown algorithm 'rings', did you mean 'ring'? (there are: bruck, "), std::string::npos)
      << end.err;
  EXPECT_NE(end.err.find("trivance)"), std::string::npos) << end.err;
}

TEST(StormBench, TheBoundIsThatOfTheTopology) {
  // Three ranks on a ring, 1 MB/s a link: 4 KiB need at least 4096 / 2e6 s at each rank, twice 2/3 of it.
  const Words ring{"--topo", "ring:3", "--link", "1MB/s,0s"};
  const json given = document_of(ring);
  const json& row = given.at("rows").at(0);
  const double bound = row.at("bound_s");
  EXPECT_NEAR(bound, 2.0 * 2 / 3 * 4096 / 2e6, 1e-9);
  for (const char* half : {"out_of_place", "in_place"})
    EXPECT_DOUBLE_EQ(row.at(half).at("fraction_of_bound"), bound / row.at(half).at("time_s").get<double>());
  EXPECT_EQ(given.at("bound").at("topology"), "ring:3");
  EXPECT_NE(bench(ring).out.find("# bound: the least time of any plan on the links of 'ring:3' (--topo)"),
            std::string::npos);
  const json by_variable = document_of({}, {"HOCKET_TOPO_FILE=ring:3"});
  EXPECT_EQ(by_variable.at("bound").at("topology"), "ring:3");
  EXPECT_GT(by_variable.at("rows").at(0).at("bound_s"), 0);
}

TEST(StormBench, WithoutATopologyThereIsNoBoundAndItSaysWhy) {
  const json none = document_of({});
  EXPECT_TRUE(none.at("rows").at(0).at("bound_s").is_null());
  EXPECT_TRUE(none.at("rows").at(0).at("in_place").at("fraction_of_bound").is_null());
  EXPECT_NE(none.at("bound").at("meaning").get<std::string>().find("no topology is given"), std::string::npos);
  const Ended end = bench({});
  EXPECT_NE(end.out.find("# bound: none: no topology is given"), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("N/A    N/A    N/A"), std::string::npos) << end.out;
  const Ended told = bench({"--transport", "auto"}, {"HOCKET_DEBUG=1", "HOCKET_HOSTID=a,b,b"});
  EXPECT_NE(
      told.err.find("no topology is given: plans are made as if 3 ranks met at one switch, 4 GB/s and 5 us a port, "),
      std::string::npos)
      << told.err;
}

TEST(StormBench, NothingToMoveHasNoBound) {
  const json empty = document_of({"-b", "0", "-e", "0", "--topo", "ring:3"});
  EXPECT_TRUE(empty.at("rows").at(0).at("bound_s").is_null()) << empty;
}

TEST(StormBench, NcclJsonCarriesTheBound) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("hocket-bench-" + std::to_string(::getpid()) + ".json");
  std::filesystem::remove(file);
  const Ended end = bench({"--topo", "ring:3", "-m", "3", "-N", "2", "-t", "1", "-g", "1", "-J", file.string()});
  EXPECT_EQ(end.status, 0) << end.err;
  const json written = json::parse(std::ifstream(file), nullptr, false);
  std::filesystem::remove(file);
  EXPECT_EQ(written.at("version"), 3);
  EXPECT_EQ(written.at("config").at("aggregated_iterations"), 3);
  ASSERT_EQ(written.at("results").size(), 2U);  // two cycles of one row
  const json& row = written.at("results").at(0);
  EXPECT_GT(row.at("bound"), 0);
  EXPECT_DOUBLE_EQ(row.at("out_of_place").at("fraction_of_bound"),
                   row.at("bound").get<double>() / row.at("out_of_place").at("time").get<double>());
}

TEST(StormBench, AFileOfResultsThatIsThereStaysAndADeviceIsWrittenTo) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("hocket-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string file = folder / "results.json";
  EXPECT_EQ(bench({"-J", file}).err, "");
  const Ended again = bench({"-J", file});
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.err, "note: " + file + " was there already: wrote " + file + ".1\n");
  EXPECT_EQ(json::parse(std::ifstream(file + ".1"), nullptr, false).at("version"), 3);
  std::filesystem::create_symlink("/dev/full", folder / "device");
  const Ended full = bench({"-J", folder / "device"});
  EXPECT_EQ(full.status, 2);
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
  EXPECT_EQ(bench({"-J", "/dev/full"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists("/dev/full.1"));
  EXPECT_FALSE(std::filesystem::exists(folder / "device.1"));
  EXPECT_NE(bench({"-J", "/dev/stdout"}).out.find("\"version\": 3"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(StormBench, WhatIsNotCheckedIsNotCalledRight) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("hocket-unchecked-" + std::to_string(::getpid()) + ".json");
  const Ended end = bench({"-c", "0", "-J", file.string()});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(end.out.find("# Out of bounds values : not checked\n"), std::string::npos) << end.out;
  const json written = json::parse(std::ifstream(file), nullptr, false);
  std::filesystem::remove(file);
  EXPECT_TRUE(written.at("out_of_bounds").at("okay").is_null()) << written.at("out_of_bounds");
  EXPECT_TRUE(written.at("out_of_bounds").at("count").is_null()) << written.at("out_of_bounds");
}

TEST(StormBench, ModesOfOtherDevicesAreTakenWhereTheyMeanNothing) {
  const Ended end = bench({"-p", "1", "-z", "1", "-G", "0", "-R", "0", "-S", "0", "-C", "1"});
  EXPECT_EQ(end.status, 0) << end.err;
  const Ended twice = test::Process(Words{HOCKET_BINARY, "bench", "all_reduce", "--ranks", "2", "-b", "8", "-e", "8",
                                          "-T", "20", "--timeout", "20s"},
                                    Words{})
                          .wait(std::chrono::seconds(30));
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.err.find("--timeout excludes -T"), std::string::npos) << twice.err;
  const Ended seconds = test::Process(Words{HOCKET_BINARY, "bench", "all_reduce", "--ranks", "2", "-b", "8", "-e", "8",
                                            "-n", "2", "-T", "20"},
                                      Words{})
                            .wait(std::chrono::seconds(30));
  EXPECT_EQ(seconds.status, 0) << seconds.err;
}

TEST(StormBench, AMeanBelowWhatIsWantedFails) {
  const Ended slow = bench({}, {"NCCL_TESTS_MIN_BW=1e9"});
  EXPECT_EQ(slow.status, 1);
  EXPECT_NE(slow.out.find(" FAILED\n#\n# bench"), std::string::npos) << slow.out;
  const Ended quick = bench({}, {"NCCL_TESTS_MIN_BW=0.000000001"});
  EXPECT_EQ(quick.status, 0);
  EXPECT_NE(quick.out.find(" OK\n#\n# bench"), std::string::npos) << quick.out;
}

TEST(StormBench, NonsenseIsRefusedOnce) {
  const std::vector<std::pair<Words, std::string>> cases{
      {{"-t", "2"}, "-t 2 -g 1: a process is one rank here"},
      {{"-g", "8"}, "-t 1 -g 8: a process is one rank here"},
      {{"-m", "0"}, "-m 0: an iteration has at least one call"},
      {{"-n", "1000000000", "-m", "2"}, "more than 1000000000 calls"},
      {{"-N", "0", "--json"}, "-N 0 never ends"},
      {{"-G", "1"}, "-G 1: calls are not recorded into graphs here"},
      {{"-R", "2"}, "-R 2: 0 takes buffers as they are, 1 registers them"},
      {{"-S", "1"}, "-S 1: rows have no column for times of day"},
      {{"--segment", "0B"}, "--segment 0B: must be above zero"},
      {{"--segment", "1B"}, "--segment 1B: an element of f32 has 4B"},
      {{"--segment", "4B", "-d", "all"}, "--segment 4B: an element of i64 has 8B"},
      {{"--segment", "64"}, "--segment: '64' is not a size: needs a unit"},
      {{"--link", "1GB/s,1us"}, "need a --topo to change"},
      {{"--topo", "torus:4x4"}, "--topo 'torus:4x4' has 16 ranks, the job 3"},
      {{"--topo", "torsu:4x4"}, "torsu"},
  };
  for (const auto& [words, said] : cases) {
    const Ended end = bench(words);
    EXPECT_EQ(end.status, 2) << end.err;
    EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
  const Ended end = bench({}, {"NCCL_TESTS_MIN_BW=fast"});
  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("NCCL_TESTS_MIN_BW='fast' is not a bandwidth"), std::string::npos) << end.err;
}

}  // namespace
}  // namespace hocket
