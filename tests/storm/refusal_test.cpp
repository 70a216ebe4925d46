// What the tools refuse before anything is started, or say when ranks were started differently: settings, sizes beyond
// memory, ports, secrets, ranks given twice, launchers that do not fit a plan; and how they end by a signal.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "net/socket.h"
#include "support/process.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::Ended;
using test::Process;
using Words = std::vector<std::string>;

Words bench(std::initializer_list<std::string> more) {
  Words words{HOCKET_BINARY, "bench", "all_reduce", "-b", "1K", "-e", "1K", "-n", "2"};
  words.insert(words.end(), more);
  return words;
}

std::ptrdiff_t lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// One line that holds the words, and status 2.
void expect_refusal(const Ended& end, const std::string& said) {
  EXPECT_EQ(end.status, 2) << said << "\n" << end.err;
  EXPECT_NE(end.err.find(said), std::string::npos) << said << "\n" << end.err;
  EXPECT_EQ(lines_of(end.err), 1) << end.err;
}

/// Ranks started one by one, with variables of their own; the next when the one before has had time to listen.
std::vector<Ended> start_each(const Words& arguments, const std::vector<Words>& variables) {
  std::vector<std::unique_ptr<Process>> ranks;
  ranks.reserve(variables.size());
  for (const Words& each : variables) {
    ranks.push_back(std::make_unique<Process>(arguments, each));
    std::this_thread::sleep_for(milliseconds(150));
  }
  std::vector<Ended> ends;
  ends.reserve(ranks.size());
  for (const auto& rank : ranks) ends.push_back(rank->wait(seconds(60)));
  return ends;
}

std::string free_root() { return "HOCKET_ROOT=" + local_address(*listen_at(Address::loopback()))->text(); }

TEST(Refusal, MalformedSettingsAreRefusedOnceByEveryVerb) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"HOCKET_DEBUG=4", "HOCKET_DEBUG='4': known: "},
      {"HOCKET_DEBUG=x", "HOCKET_DEBUG='x': known: "},
      {"HOCKET_COUNT_TIME=yes", "HOCKET_COUNT_TIME='yes': known: 0 and 1"},
      {"HOCKET_SHM_LEND=yes", "HOCKET_SHM_LEND='yes': known: 0 and 1"},
      {"HOCKET_PLAN_FILE=/no/such.hkt", "HOCKET_PLAN_FILE='/no/such.hkt': cannot open"},
      {"HOCKET_PLAN_FILE=/proc/self/status", "HOCKET_PLAN_FILE='/proc/self/status': "},
      {"HOCKET_TOPO_FILE=torsu:4", "HOCKET_TOPO_FILE='torsu:4': "},
      {"HOCKET_PROGRESS_CORE=1023", "HOCKET_PROGRESS_CORE='1023': core 1023 is none"},
      {"HOCKET_HOSTID=a,b", "HOCKET_HOSTID='a,b' names the hosts of 2 ranks, but there are 3"},
      {"HOCKET_SECRET=short", "HOCKET_SECRET: the rendezvous secret has 5 characters"},
      {"HOCKET_TIMEOUT=0s", "HOCKET_TIMEOUT='0s': must be above 0"},
      {"HOCKET_TRANSPORT=nosuch", "HOCKET_TRANSPORT='nosuch': unknown transport 'nosuch'"},
      {"HOCKET_PLUGIN_PATH=/no/folder", "HOCKET_PLUGIN_PATH='/no/folder' is no folder"},
      {"HOCKET_ROOT=x", "HOCKET_ROOT: 'x' has no port"},
      {"HOCKET_CABLES=/no/cables", "HOCKET_CABLES: cannot open '/no/cables'"},
      {"HOCKET_SOCKET_IFNAME=nosuch0", "HOCKET_SOCKET_IFNAME: 'nosuch0' passes none of the interfaces "},
      {"HOCKET_LOCAL_SIZE=3", "HOCKET_LOCAL_SIZE is set but HOCKET_RANK, HOCKET_SIZE are not"},
  };
  for (const auto& [variable, said] : cases) {
    expect_refusal(Process(bench({"--ranks", "3"}), {variable}).wait(seconds(20)), said);
    expect_refusal(Process({HOCKET_BINARY, "topo", "probe", "--ranks", "3"}, {variable}).wait(seconds(20)), said);
  }
}

TEST(Refusal, AnInterfaceThatIsNoneIsRefusedOnce) {
  expect_refusal(Process(bench({"--ranks", "3", "--interface", "nosuch0"}), {}).wait(seconds(20)),
                 "--interface: 'nosuch0' passes none of the interfaces ");
}

TEST(Refusal, HalfOfALauncherIsRefusedUnlessRanksAreGiven) {
  for (const auto& [variable, said] : std::vector<std::pair<std::string, std::string>>{
           {"WORLD_SIZE=4", "WORLD_SIZE is set but RANK, MASTER_ADDR, MASTER_PORT are not"},
           {"PMI_RANK=0", "PMI_RANK is set but PMI_SIZE is not"}}) {
    expect_refusal(Process(bench({}), {variable}).wait(seconds(20)), said);
    const Ended started = Process(bench({"--ranks", "2"}), {variable}).wait(seconds(60));
    EXPECT_EQ(started.status, 0) << started.err;
    EXPECT_EQ(Process({HOCKET_BINARY, "topo", "ring:4"}, {variable}).wait(seconds(20)).status, 0);
  }
}

TEST(Refusal, SizesBeyondMemoryAreRefusedAtOnce) {
  const auto begin = steady_clock::now();
  const Ended end =
      Process({HOCKET_BINARY, "bench", "all_reduce", "--ranks", "2", "-b", "100000G", "-e", "100000G"}, {})
          .wait(seconds(60));
  expect_refusal(end,
                 "all_reduce of 100000GiB on 2 ranks needs 200000.0 GiB on rank 0, 400000.0 GiB on the 2 of this ");
  EXPECT_LT(steady_clock::now() - begin, seconds(10));
}

TEST(Refusal, TooFewPortsAreRefusedAndEnoughAreKept) {
  expect_refusal(Process(bench({"--ranks", "4", "--ports", "20010-20013"}), {}).wait(seconds(20)),
                 "--ports 20010-20013: has 4 ports, but this host needs 5 (one for each of its ranks, and one more ");
  const Ended kept =
      Process(bench({"--ranks", "2", "--ports", "20010-20060", "--transport", "tcp"}), {}).wait(seconds(60));
  EXPECT_EQ(kept.status, 0) << kept.err;
  EXPECT_NE(kept.out.find("rank 0 at 127.0.0.1:200"), std::string::npos) << kept.out;
}

TEST(Refusal, ARankThatFindsNoPortIsTheCauseOfWhatTheOthersSee) {
  const Descriptor taken = *listen_at(Address::loopback());
  const std::uint32_t port = local_address(taken)->port();
  const std::string range = fmt::format("{}-{}", port, port + 3);  // one too few, which nobody can know before
  const Ended end = Process(bench({"--ranks", "3", "--ports", range, "--timeout", "20s"}), {}).wait(seconds(40));
  EXPECT_EQ(end.status, 2) << end.err;
  EXPECT_NE(end.err.find(fmt::format(
                "--ports {}: no port is left at 127.0.0.1: this host needs 4 of 4, and other programs hold at least 1",
                range)),
            std::string::npos)
      << end.err;
}

TEST(Refusal, AnotherSecretIsSaidOnBothSides) {
  const std::string root = free_root();
  const std::vector<Ended> ends = start_each(
      bench({"--timeout", "3s"}), {{"HOCKET_RANK=0", "HOCKET_SIZE=2", root, "HOCKET_SECRET=sixteen characters"},
                                   {"HOCKET_RANK=1", "HOCKET_SIZE=2", root, "HOCKET_SECRET=seventeen characters"}});
  expect_refusal(ends[0], "came from 127.0.0.1 as rank 1 with another secret than ours (HOCKET_SECRET)");
  expect_refusal(ends[1], "its secret is another than ours (HOCKET_SECRET)");
}

TEST(Refusal, ASecretOnOneSideOnlyIsSaid) {
  const std::string root = free_root();
  const std::vector<Ended> ends = start_each(
      bench({"--timeout", "3s"}), {{"HOCKET_RANK=0", "HOCKET_SIZE=2", root, "HOCKET_SECRET=sixteen characters"},
                                   {"HOCKET_RANK=1", "HOCKET_SIZE=2", root}});
  expect_refusal(ends[1], "': either rank 0 has a HOCKET_SECRET, and this rank has none, or another program listens");
}

TEST(Refusal, DifferentCablesAreSaidOnBothSidesBeforeAnybodyConnects) {
  const auto written = [](const char* name, const std::string& lines) {
    const std::string file = testing::TempDir() + name;
    std::ofstream(file) << lines;
    return "HOCKET_CABLES=" + file;
  };
  const std::string one = "0 1 127.0.0.1 127.0.0.2 50Mb/s\n1 0 127.0.0.2 127.0.0.1 50Mb/s\n";
  const std::string first = written("first.txt", one);
  const Words others{written("rate.txt", "0 1 127.0.0.1 127.0.0.2 50Mb/s\n1 0 127.0.0.2 127.0.0.1 40Mb/s\n"),
                     written("place.txt", "0 1 127.0.0.1 127.0.0.3 50Mb/s\n1 0 127.0.0.3 127.0.0.1 50Mb/s\n"),
                     written("lanes.txt", one + "0 1 127.0.0.1 127.0.0.3\n1 0 127.0.0.3 127.0.0.1\n"),
                     "HOCKET_CABLES=", "HOCKET_TRANSPORT=shm"};
  for (const std::string& other : others) {
    const std::string root = free_root();
    const std::vector<Ended> ends =
        start_each(bench({"--timeout", "20s"}),
                   {{"HOCKET_RANK=0", "HOCKET_SIZE=2", root, other}, {"HOCKET_RANK=1", "HOCKET_SIZE=2", root, first}});
    expect_refusal(ends[0], ", but rank 1 (host ");
    expect_refusal(ends[1], "rank 1 was given 2 lines of cables (");
    for (const Ended& end : ends)
      EXPECT_NE(end.err.find(": HOCKET_CABLES has the same lines for all ranks"), std::string::npos) << end.err;
  }
  const std::string root = free_root();
  const std::string same = written("same.txt", "# the same\n" + one);
  for (const Ended& end : start_each(bench({"--timeout", "20s"}), {{"HOCKET_RANK=0", "HOCKET_SIZE=2", root, same},
                                                                   {"HOCKET_RANK=1", "HOCKET_SIZE=2", root, first}}))
    EXPECT_EQ(end.status, 0) << end.err;
}

TEST(Refusal, ANameOfAJobIsOneOfAFile) {
  for (const std::string& name : {std::string("a/b"), std::string("a b"), std::string(201, 'a')})
    expect_refusal(Process(bench({}), {"HOCKET_RANK=0", "HOCKET_SIZE=2", "HOCKET_JOB=" + name}).wait(seconds(20)),
                   "': up to 200 letters, digits and any of -_.:");
}

TEST(Refusal, RanksOfMpichBehindAWrapperAreToldWhatTheyNeed) {
  const Words second{"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"};
  const Ended end = Process(bench({"--timeout", "2s"}), second).wait(seconds(20));
  EXPECT_EQ(end.status, 3);
  EXPECT_NE(end.err.find("ranks behind a wrapper need the same HOCKET_JOB"), std::string::npos) << end.err;
}

TEST(Refusal, AnotherProgramAtThePortOfRank0IsNotTakenForIt) {
  const Descriptor other = *listen_at(Address::loopback());
  const Words rank{"HOCKET_RANK=1", "HOCKET_SIZE=2", "HOCKET_ROOT=" + local_address(other)->text()};
  expect_refusal(Process(bench({"--timeout", "2s"}), rank).wait(seconds(20)), "or another program listens there");
}

TEST(Refusal, TwoProcessesOfOneRankAreBothNamed) {
  for (const char* twin : {"0", "1"}) {
    const std::string root = free_root();
    const Words common{"HOCKET_SIZE=3", root};
    const auto rank = [&](const char* number) { return Words{fmt::format("HOCKET_RANK={}", number), common[0], root}; };
    std::vector<Words> each{rank("0"), rank(twin)};
    if (*twin == '1') each.push_back(rank("1"));
    for (const Ended& end : start_each(bench({"--timeout", "20s"}), each)) {
      expect_refusal(end, fmt::format("two processes are rank {}: one on host ", twin));
      EXPECT_NE(end.err.find(", pid "), end.err.rfind(", pid ")) << end.err;
    }
  }
}

TEST(Refusal, AHostThatNobodyKnowsIsRefusedWithWhoSaidIt) {
  expect_refusal(Process(bench({}), {"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=no-such-host.invalid", "MASTER_PORT=29500"})
                     .wait(seconds(40)),
                 "rank 1: MASTER_ADDR, MASTER_PORT: host 'no-such-host.invalid': ");
  expect_refusal(Process(bench({}), {"HOCKET_RANK=1", "HOCKET_SIZE=2", "HOCKET_ROOT=no-such-host.invalid:29500"})
                     .wait(seconds(40)),
                 "rank 1: HOCKET_ROOT: host 'no-such-host.invalid': ");
}

TEST(Refusal, ALauncherThatDoesNotFitAPlanIsToldHow) {
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("hocket-refusal-{}.hkt", ::getpid())).string();
  const Ended planned =
      Process({HOCKET_BINARY, "plan", "all_reduce", "--topo", "ring:4", "--algo", "ring", "-o", file}, {})
          .wait(seconds(60));
  ASSERT_EQ(planned.status, 0) << planned.err;
  const Words run{HOCKET_BINARY, "run", file};
  expect_refusal(Process(run, {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=3"}).wait(seconds(20)),
                 file +
                     " has 4 ranks, but Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) says rank 0 of 3: it "
                     "takes -n 4");
  expect_refusal(Process(run, {"WORLD_SIZE=4"}).wait(seconds(20)), "WORLD_SIZE is set but RANK");
  expect_refusal(
      Process({HOCKET_BINARY, "run", file, "--transport", "inproc"}, {"PMI_RANK=0", "PMI_SIZE=4"}).wait(seconds(20)),
      "--transport inproc runs all ranks in one process, but PMI (PMI_RANK, PMI_SIZE) says rank 0 of 4");
  const Words ranks{HOCKET_BINARY, "run", file, "--timeout", "20s", "--size", "1MiB"};
  Words odd = ranks;
  odd.back() = "2MiB";
  std::vector<std::unique_ptr<Process>> each;
  each.reserve(4);
  for (int r = 0; r < 4; ++r) {
    each.push_back(std::make_unique<Process>(
        r == 2 ? odd : ranks, Words{fmt::format("HOCKET_RANK={}", r), "HOCKET_SIZE=4", "HOCKET_LOCAL_SIZE=4",
                                    fmt::format("HOCKET_JOB=refusal-{}", ::getpid())}));
  }
  for (const auto& rank : each) {
    const Ended end = rank->wait(seconds(60));
    expect_refusal(end, "has --size 2MiB");
    EXPECT_NE(end.err.find("has --size 1MiB"), std::string::npos) << end.err;
  }
  std::filesystem::remove(file);
}

TEST(Refusal, SizesSpelledInTwoWaysAreTheSame) {
  const Words job{"HOCKET_SIZE=2", "HOCKET_LOCAL_SIZE=2", fmt::format("HOCKET_JOB=refusal-same-{}", ::getpid())};
  Process zero(bench({"-f", "2"}), {"HOCKET_RANK=0", job[0], job[1], job[2]});
  Words words = bench({"-f", "2"});
  std::replace(words.begin(), words.end(), std::string("1K"), std::string("1024"));
  Process one(words, {"HOCKET_RANK=1", job[0], job[1], job[2]});
  EXPECT_EQ(zero.wait(seconds(60)).status, 0);
  const Ended end = one.wait(seconds(60));
  EXPECT_EQ(end.status, 0) << end.err;
}

TEST(Refusal, ALimitOfFilesIsAnObstacleToMemoryAndNoSignal) {
  const auto limited = [](const std::string& words) {
    const std::string command =
        fmt::format("ulimit -f 100; exec {} bench all_reduce -b 1K -e 1K -n 2 {}", HOCKET_BINARY, words);
    return Process({"/bin/bash", "-c", command}, {}).wait(seconds(60));
  };
  for (const char* ranks : {"1", "2"}) {
    const Ended end = limited(fmt::format("--ranks {}", ranks));
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_NE(end.out.find("transport: tcp"), std::string::npos) << end.out;
  }
  const Ended end = limited("--ranks 2 --transport shm");
  EXPECT_EQ(end.status, 2) << end.err;
  EXPECT_NE(end.err.find("files of this process may have 102400 (ulimit -f)"), std::string::npos) << end.err;
}

TEST(Refusal, AFileThatWouldBeTooLargeIsSaidAndNotLeft) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("hocket-too-large-{}.json", ::getpid());
  for (const char* words : {"bench all_reduce --ranks 2 -b 8 -e 8 -n 1 -J", "plan all_reduce --topo ring:4 -o",
                            "topo ring:4 --format hocket-yaml -o", "topo probe --ranks 2 --format hocket-yaml -o"}) {
    const std::string command = fmt::format("ulimit -f 0; exec {} {} {}", HOCKET_BINARY, words, file.string());
    expect_refusal(Process({"/bin/bash", "-c", command}, {}).wait(seconds(60)), "File too large");
    EXPECT_FALSE(std::filesystem::exists(file)) << words;
  }
}

TEST(Refusal, WhatEveryRankSaysIsPrintedOnce) {
  // Each rank for itself finds that the user's limit is below what the machine has.
  const std::string command =
      fmt::format("ulimit -v 1500000; exec {} bench all_reduce --ranks 2 -b 1G -e 1G", HOCKET_BINARY);
  expect_refusal(Process({"/bin/bash", "-c", command}, {}).wait(seconds(60)), "");
}

TEST(Ending, ASignalToTheParentEndsItAndIsSeenByTheShell) {
  for (const int number : {SIGINT, SIGTERM}) {
    Process job(bench({"--ranks", "2", "-N", "0"}), {});
    ASSERT_TRUE(job.until<int>(seconds(30), [&]() -> std::optional<int> {
      return job.out().find("(B)") == std::string::npos ? std::nullopt : std::optional(1);
    }));
    job.signal(number);
    const Ended end = job.wait(seconds(20));
    EXPECT_EQ(end.signal, number);
    EXPECT_EQ(end.err, "");
    EXPECT_FALSE(job.group_alive());
  }
}

TEST(Ending, AReaderThatLeavesIsNoLoss) {
  for (const char* transport : {"shm", "tcp"}) {
    const std::string command = fmt::format("{} bench all_reduce --ranks 3 -b 8 -e 64K -f 2 -n 50 -N 0 --transport {}",
                                            HOCKET_BINARY, transport);
    const Ended end =
        Process({"/bin/bash", "-c", command + " | head -1; echo \"status ${PIPESTATUS[0]}\""}, {}).wait(seconds(30));
    EXPECT_EQ(end.err, "");
    EXPECT_NE(end.out.find("\nstatus 141\n"), std::string::npos) << end.out;
  }
}

}  // namespace
}  // namespace hocket
