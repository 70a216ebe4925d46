// Flags that would have nothing to act on are refused in one line, with status 2, by running the program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "support/process.h"

namespace hocket {
namespace {

using test::Ended;

Ended run(std::vector<std::string> words) {
  words.insert(words.begin(), HOCKET_BINARY);
  return test::Process(words, std::vector<std::string>{}).wait(std::chrono::seconds(60));
}

TEST(FlagsCli, WhatHasNothingToActOnIsRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"plan", "broadcast", "--topo", "ring:4", "--op", "max"}, "--op max: broadcast combines nothing"},
      {{"plan", "all_reduce", "--topo", "ring:4", "--payload", "512B"}, "--payload 512B: the message model has no"},
      {{"plan", "all_reduce", "--topo", "ring:4", "--head", "8B"}, "--head 8B: the message model has no"},
      {{"plan", "all_reduce", "--topo", "ring:4", "--size", "1MiB", "--sizes", "1KiB:1MiB"}, "--size excludes --sizes"},
      {{"topo", "ring:4", "--group", ""}, "--group: an empty word is no value"},
      {{"topo", ""}, "topology: an empty word is no value"},
      {{"plan", "all_reduce", "--topo", ""}, "--topo: an empty word is no value"},
      {{"bench", "all_reduce", "--ranks", "2", "--connections", ""}, "--connections: an empty word is no value"},
      {{"topo", "ring:4", "--format", "link-csv", "--json"}, "both want stdout"},
      {{"topo", "probe", "--ranks", "2", "--link", "1GB/s,1us"}, "--link: a probe measures what is there"},
      {{"sim", "bert", "--platform", "h100:8", "--batch", "0"}, "--batch: Value 0 not in range"},
      {{"sim", "bert", "--platform", "h100:8", "--sequence", "0"}, "--sequence: Value 0 not in range"},
      {{"sim", "bert", "--platform", "h100:8", "--bucket", "0B"}, "--bucket 0B: a bucket holds at least a byte"},
      {{"sim", "bert", "--platform", "h100:8", "--sp"}, "--sp requires --tp"},
      {{"sim", "bert", "--platform", "h100:8", "--sp", "--tp", "1"}, "--sp: cuts the sequence among the ranks of --tp"},
      {{"sim", "bert", "--platform", "h100:8", "--with-group", "0"}, "--with-group requires --with"},
      {{"sim", "bert", "--platform", "h100:8", "--groups", "g.json"}, "--groups requires --chakra"},
      {{"info", "fit", "a.log", "--system", "x"}, "--system goes with 'platform', not with 'fit'"},
      {{"info", "fit", "a.log", "--yaml"}, "--yaml goes with 'platform', not with 'fit'"},
      {{"topo", "probe", "--ranks", "2", "--format", "zz"}, "unknown topology format 'zz'"},
      {{"topo", "probe", "--ranks", "2", "--format", "link-csv", "--json"}, "both want stdout"},
      {{"topo", "probe", "--ranks", "2", "-o", "probed.xml"}, "nccl-xml has no place for what a probe measures"},
      {{"bench", "all_reduce", "--ranks", "2", "-r", "5"}, "-r 5: 0 to 1 are the 2 ranks"},
      {{"bench", "broadcast", "--ranks", "2", "-r", "-2"}, "-r -2: 0 to 1 are the 2 ranks, and -1 is each of them"},
      {{"bench", "all_reduce", "--ranks", "2", "-J", "-"}, "-J -: would be a file of that name"},
      {{"bench", "all_reduce", "--ranks", "2", "-w", "-1"}, "--warmup_iters: -1 is below 0"},
      {{"bench", "all_reduce", "--ranks", "3", "--algo", "hdrm"}, "hocket bench: hdrm cannot plan this all_reduce: "},
      {{"bench", "all_reduce", "--ranks", "3", "--algo", "swing,hdrm"}, "hocket bench: no algorithm of swing,hdrm"},
      {{"plan", "all_reduce", "--topo", "ring:4", "--algo", "ring,"},
       "the list of algorithms 'ring,' has an empty name"},
      {{"bench", "all_reduce", "--ranks", "2", "--algo", ",ring"}, "the list of algorithms ',ring' has an empty name"},
      {{"explain", "all_reduce", "--topo", "ring:4", "--algo", "ring,,swing"},
       "the list of algorithms 'ring,,swing' has an"},
      {{"run", "none.hkt", "--seed", "-1"}, "--seed: -1 is below 0"},
      {{"run", "none.hkt", "--ranks", "0"}, "--ranks: Value 0 not in range 1 to "},
      {{"run", "none.hkt", "--lab", "ring:4", "--link-loss", "nan"}, "--link-loss nan: not in range [0 - 0.5]"},
      {{"topo", "ring:4", "--format", "link-csv", "-o", "-"}, "-: would be a file of that name"},
      {{"plan", "all_reduce", "--topo", "ring:4", "-o", "-"}, "-: would be a file of that name"},
      {{"verify", "none.hkt", "-o", "-"}, "-: would be a file of that name"},
      {{"sim", "none.hkt", "--topo", "ring:4", "--csv", "-"}, "-: would be a file of that name"},
      {{"bench", "all_reduce", "--ranks", "4", "--segment", "4B", "-b", "64M", "-e", "64M"},
       "--segment 4B: 64MiB on 4 ranks by 20 algorithms would be planned in 1342177280 segments, at most 33554432"},
      {{"bench", "all_reduce", "--ranks", "2", "--segment", "4B", "-b", "1G", "-e", "1G", "--algo", "ring"},
       "1GiB on 2 ranks by 1 algorithm would be planned in 536870912 segments"},
      {{"info", "algorithms", "--json=5"}, "--json: 5 is neither true nor false"},
      {{"topo", "ring:4", "--strict=7", "--json=-1"}, "--strict: 7 is neither true nor false"},
      {{"bench", "all_reduce", "--ranks", "2", "--json=x"}, "--json: x is neither true nor false"},
      {{"plan", "--help=2"}, "--help: 2 is neither true nor false"},
      {{"help", "benc"}, "unknown verb 'benc', did you mean 'bench'?"},
      {{"info", "platform", "ace:0x4x4"}, "torus:0x4x4"},
      {{"info", "platform", "ace:-1x2x2"}, "torus:-1x2x2"},
  };
  for (const auto& [words, said] : cases) {
    const Ended end = run(words);
    EXPECT_EQ(end.status, 2) << said;
    EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
}

TEST(FlagsCli, AFlagMayBeGivenAsTrueOrFalse) {
  const std::vector<std::string> words{"topo", "ring:4"};
  const auto with = [&](const char* flag) { return run({words[0], words[1], flag}); };
  EXPECT_EQ(with("--json=true").out, with("--json").out);
  EXPECT_EQ(with("--json=no").out, run(words).out);
}

TEST(FlagsCli, EveryVerbThatTakesAllAlgorithmsSaysSo) {
  for (const char* verb : {"plan", "explain", "bench"}) {
    const std::string help = run({verb, "--help"}).out;
    EXPECT_NE(help.find("auto or all"), std::string::npos) << verb;
  }
}

TEST(FlagsCli, ExplainSaysThatThereIsNothingToSend) {
  const std::string said = run({"explain", "all_reduce", "--topo", "ring:4", "--size", "0B"}).out;
  EXPECT_NE(said.find("bandwidth 0 ps (none: nothing to send)\nbottleneck   none: "), std::string::npos) << said;
}

TEST(FlagsCli, ASizeIsNotedAsCutDownOnlyByWhatSucceeds) {
  const std::string file = testing::TempDir() + "cut_down.hkt";
  ASSERT_EQ(run({"plan", "all_reduce", "--topo", "ring:4", "--algo", "ring", "-o", file}).status, 0);
  const std::string note = "note: --size 10B is no multiple of 4B, 8B is taken\n";
  const std::vector<std::vector<std::string>> verbs{{"sim", file, "--topo", "ring:4"},
                                                    {"sim", file, "--topo", "ring:4", "--with", file},
                                                    {"run", file},
                                                    {"plan", "all_reduce", "--topo", "ring:4"},
                                                    {"explain", "all_reduce", "--topo", "ring:4"}};
  for (std::vector<std::string> words : verbs) {
    words.insert(words.end(), {"--size", "10B"});
    const Ended good = run(words);
    EXPECT_EQ(good.status, 0) << good.err;
    EXPECT_TRUE(good.err.starts_with(note)) << good.err;
    words.insert(words.end(), {"--segment", "1B"});
    const Ended bad = run(words);
    EXPECT_EQ(bad.status, 2) << bad.err;
    EXPECT_EQ(bad.err.find("note"), std::string::npos) << bad.err;
    EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1) << bad.err;
  }
  std::filesystem::remove(file);
}

TEST(FlagsCli, MoreMessagesThanCanBeRunAreRefusedBeforeRanksStart) {
  const std::string file = testing::TempDir() + "tiny_segments.hkt";
  ASSERT_EQ(run({"plan", "all_reduce", "--topo", "ring:4", "--algo", "ring", "-o", file}).status, 0);
  for (const char* transport : {"inproc", "shm"}) {
    const Ended end = run({"run", file, "--size", "4GiB", "--segment", "4B", "--transport", transport});
    EXPECT_EQ(end.status, 2);
    EXPECT_EQ(end.err,
              "hocket run: 'ring' of 4GiB: segments of 4B would be 6442450944 messages, at most 268435456 are run; "
              "take longer segments\n");
  }
  std::filesystem::remove(file);
}

TEST(FlagsCli, HelpIsAVerbToo) {
  for (const auto& [words, same] :
       {std::pair(std::vector<std::string>{"help"}, std::vector<std::string>{"--help"}),
        std::pair(std::vector<std::string>{"help", "bench"}, std::vector<std::string>{"bench", "--help"})}) {
    const Ended end = run(words);
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_EQ(end.out, run(same).out);
  }
}

TEST(FlagsCli, AVariableOverWhichAFlagWinsIsCheckedAllTheSame) {
  for (const auto& [flag, good, variable, bad] :
       {std::tuple("--spin", "5us", "HOCKET_SPIN", "abc"), std::tuple("--timeout", "5s", "HOCKET_TIMEOUT", "0s"),
        std::tuple("--ports", "20000-20100", "HOCKET_PORTS", "5-1"),
        std::tuple("--interface", "lo", "HOCKET_SOCKET_IFNAME", "^"),
        std::tuple("--connections", "1", "HOCKET_TCP_CONNECTIONS", "99"),
        std::tuple("--transport", "shm", "HOCKET_TRANSPORT", "UDP"),
        std::tuple("--topo", "ring:2", "HOCKET_TOPO_FILE", "no_such.csv")}) {
    const std::vector<std::string> words{HOCKET_BINARY, "bench", "all_reduce", "--ranks", "2", "-e", "8", "-b", "8"};
    std::vector<std::string> with_flag = words;
    with_flag.insert(with_flag.end(), {flag, good});
    const Ended end = test::Process(with_flag, {fmt::format("{}={}", variable, bad)}).wait(std::chrono::seconds(60));
    EXPECT_EQ(end.status, 2) << variable;
    EXPECT_TRUE(end.err.starts_with(fmt::format("hocket bench: {}", variable))) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
}

TEST(FlagsCli, AnInterfaceIsNamedWhereThatOfTheVariableIsMissing) {
  const Ended end = test::Process({HOCKET_BINARY, "bench", "all_reduce", "--ranks", "2", "-e", "8", "-b", "8",
                                   "--transport", "tcp", "--interface", "lo"},
                                  {"HOCKET_SOCKET_IFNAME==nosuch0"})
                        .wait(std::chrono::seconds(60));
  EXPECT_EQ(end.status, 0) << end.err;
}

TEST(FlagsCli, WhatALauncherWouldSayIsCheckedWhereRanksStartHere) {
  const std::string file = testing::TempDir() + "ring_checked.hkt";
  ASSERT_EQ(run({"plan", "all_reduce", "--topo", "ring:2", "--algo", "ring", "-o", file}).status, 0);
  const std::vector<std::vector<std::string>> verbs{{"bench", "all_reduce", "--ranks", "2", "-b", "8", "-e", "8"},
                                                    {"run", file, "--ranks", "2", "--size", "8B"}};
  for (const auto& [variable, bad] : {std::pair("HOCKET_JOB", "a b"), {"HOCKET_ROOT", "nowhere"}}) {
    for (std::vector<std::string> words : verbs) {
      words.insert(words.begin(), HOCKET_BINARY);
      const Ended end = test::Process(words, {fmt::format("{}={}", variable, bad)}).wait(std::chrono::seconds(60));
      EXPECT_EQ(end.status, 2) << variable;
      EXPECT_TRUE(end.err.starts_with(fmt::format("hocket {}: {}", words[1], variable))) << end.err;
      EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    }
  }
  std::filesystem::remove(file);
}

TEST(FlagsCli, ALabSaysWhereItsRanksMeet) {
  for (const char* variable :
       {"HOCKET_PORTS=20000-20100", "HOCKET_SOCKET_IFNAME=lo", "HOCKET_CABLES=/dev/null", "HOCKET_ROOT=127.0.0.1:5"}) {
    const Ended end =
        test::Process({HOCKET_BINARY, "run", "none.hkt", "--lab", "ring:4"}, {variable}).wait(std::chrono::seconds(20));
    EXPECT_EQ(end.status, 2) << variable;
    EXPECT_NE(end.err.find("': --lab says itself where its ranks meet and talk"), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
}

TEST(FlagsCli, AFileThatEveryRankReadsIsNoPipe) {
  const std::string file = testing::TempDir() + "ring_in_a_pipe.hkt";
  ASSERT_EQ(run({"plan", "all_reduce", "--topo", "ring:2", "--algo", "ring", "-o", file}).status, 0);
  const auto piped = [](const std::string& words) {
    return test::Process({"/bin/bash", "-c", fmt::format("exec {} {}", HOCKET_BINARY, words)},
                         std::vector<std::string>{})
        .wait(std::chrono::seconds(60));
  };
  const std::string pipe = fmt::format("<(cat {})", file);
  EXPECT_EQ(piped("run " + pipe).status, 0);
  for (const std::string& words :
       {"run " + pipe + " --transport tcp", "run " + pipe + " --lab ring:2",
        std::string("bench all_reduce --ranks 2 --topo <(printf 'from,to,bandwidth,latency\\n0,1,1GB/s,1us\\n')")}) {
    const Ended end = piped(words);
    EXPECT_EQ(end.status, 2) << words;
    EXPECT_NE(end.err.find(": a pipe can be read once, but every rank reads it"), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
}

TEST(FlagsCli, RanksInOneProcessHaveNoNetwork) {
  const std::string file = testing::TempDir() + "ring_in_process.hkt";
  ASSERT_EQ(run({"plan", "all_reduce", "--topo", "ring:2", "--algo", "ring", "-o", file}).status, 0);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--connections", "99"}, "--connections 99: 1 to 16 are possible"},
      {{"--connections", "2"}, "--connections 2: the ranks are threads of this process and use no network"},
      {{"--interface", "lo"}, "--interface lo: the ranks are threads"},
      {{"--ports", "20000-20010"}, "--ports 20000-20010: the ranks are threads"},
      {{"--spin", "5us"}, "--spin 5us: the ranks are threads"},
      {{"--segment", "1B"}, "--segment 1B: an element of f32 has 4B"},
  };
  for (const auto& [words, said] : cases) {
    for (const bool named : {true, false}) {
      std::vector<std::string> all{"run", file, "--size", "1KiB"};
      if (named) all.insert(all.end(), {"--transport", "inproc"});
      all.insert(all.end(), words.begin(), words.end());
      const Ended end = run(all);
      EXPECT_EQ(end.status, 2) << said;
      EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
      EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    }
  }
  EXPECT_EQ(run({"run", file, "--size", "1KiB", "--transport", "inproc"}).status, 0);
  std::filesystem::remove(file);
}

TEST(FlagsCli, WhereTheyHaveThemTheyAct) {
  const Ended packets = run({"plan", "all_reduce", "--topo", "ring:4", "--algo", "ring", "--model", "packet",
                             "--payload", "128B", "--head", "16B", "--size", "64KiB"});
  const Ended bigger =
      run({"plan", "all_reduce", "--topo", "ring:4", "--algo", "ring", "--model", "packet", "--size", "64KiB"});
  EXPECT_EQ(packets.status, 0) << packets.err;
  EXPECT_EQ(bigger.status, 0) << bigger.err;
  EXPECT_NE(packets.out, bigger.out);  // twice as many heads
}

TEST(FlagsCli, NoLogIsFittedTwice) {
  const std::string file = testing::TempDir() + "fit_twice.log";
  std::string text =
      "# Collective test starting: all_reduce_perf\n"
      "#  Rank  0 Group  0 Pid 1 on node0 device 0\n#  Rank  1 Group  0 Pid 1 on node0 device 1\n";
  for (const int size : {1000000, 2000000, 4000000, 8000000}) {
    const int us = size / 10000;  // 10 GB/s
    text += fmt::format("{} {} float sum -1 {}.0 10.0 10.0 0 {}.0 10.0 10.0 0\n", size, size / 4, us, us);
  }
  std::ofstream(file) << text;
  EXPECT_EQ(run({"info", "fit", file}).status, 0);
  const Ended end = run({"info", "fit", file, file});
  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("is the same log as"), std::string::npos) << end.err;
  std::filesystem::remove(file);
}

TEST(FlagsCli, AstraSizesAreRefusedInOneLine) {
  const std::string folder = testing::TempDir() + "astra_sizes";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/n.yml") << "topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n";
  std::ofstream(folder + "/s.json") << R"({"scheduling-policy": "LIFO", "endpoint-delay": 10, "local-mem-bw": 50,
    "active-chunks-per-dimension": 1, "preferred-dataset-splits": 1, "all-reduce-implementation": ["ring"]})";
  const auto with_size = [&](const std::string& size) {
    return run(
        {"sim", "all_reduce", "--astra-compat", folder + "/s.json", "--topo", folder + "/n.yml", "--size", size});
  };
  EXPECT_EQ(with_size("1024B").status, 0) << with_size("1024B").err;
  const Ended end = with_size("1001B");
  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  EXPECT_NE(end.err.find("--size 1001B: no whole number of f32"), std::string::npos) << end.err;
  std::filesystem::remove_all(folder);
}

TEST(FlagsCli, ATopologyIsWrittenAndItsDocumentPrinted) {
  const std::string file = testing::TempDir() + "ring_of_four.yaml";
  const Ended end = run({"topo", "ring:4", "-o", file, "--json"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(nlohmann::json::parse(end.out, nullptr, false).value("ranks", 0), 4);
  EXPECT_TRUE(std::filesystem::exists(file));
  std::filesystem::remove(file);
}

TEST(FlagsCli, AnUnusedCacheIsNoted) {
  const std::string folder = testing::TempDir() + "unused_cache";
  const Ended end = run({"plan", "all_reduce", "--topo", "ring:4", "--symmetric", "--cache", folder});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_NE(end.err.find("not used here"), std::string::npos) << end.err;
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(FlagsCli, ExplainAndTheListOfACacheKnowSpreadWays) {
  const std::string folder = testing::TempDir() + "spread_cache";
  const auto planned = [](std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"all_reduce", "--topo", "ring:4", "--size", "8MiB", "--algo", "halving_doubling"});
    const Ended end = run(words);
    EXPECT_EQ(end.status, 0) << end.err;
    return nlohmann::json::parse(end.out, nullptr, false);
  };
  const auto plain = planned({"explain", "--json"});
  const auto spread = planned({"explain", "--spread", "--json"});
  const auto plan = planned({"plan", "--spread", "--cache", folder, "--json"});
  EXPECT_LT(spread["candidates"][0]["time_s"], plain["candidates"][0]["time_s"]);
  EXPECT_EQ(spread["candidates"][0]["time_s"], plan["candidates"][0]["time_s"]);
  const auto listed = nlohmann::json::parse(run({"info", "cache", folder, "--json"}).out, nullptr, false);
  EXPECT_EQ(listed["cache"][0].value("spread", false), true);
  std::filesystem::remove_all(folder);
}

TEST(FlagsCli, SpreadWaysAreWrittenOrRefused) {
  const std::string file = testing::TempDir() + "spread.hkt";
  const std::vector<std::string> plan{"plan",   "all_reduce",       "--topo",  "ring:4",
                                      "--algo", "halving_doubling", "--spread"};
  std::vector<std::string> written = plan;
  written.insert(written.end(), {"-o", file});
  EXPECT_EQ(run(written).status, 0);
  const Ended other = run({"sim", file, "--topo", "torus:2x2"});  // its ways are of another network
  EXPECT_EQ(other.status, 2) << other.out;
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--symmetric"}, {"--repair", file}}) {
    std::vector<std::string> flags{"plan", "all_reduce", "--topo", "ring:4", "--spread"};
    flags.insert(flags.end(), more.begin(), more.end());
    const Ended end = run(flags);
    EXPECT_EQ(end.status, 2);
    EXPECT_NE(end.err.find("not with --spread"), std::string::npos) << end.err;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace hocket
