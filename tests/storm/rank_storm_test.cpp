// Real processes over loopback: every collective with awkward counts, ranks that disagree in every way, killed and
// stopped ranks, garbage on the ports, launchers. What is asserted is what ranks say and how they end, and for a kill
// that they end at all within the limit of the case; nothing may be left behind.
// HOCKET_KILLS and HOCKET_FREEZES set how many ranks are killed and stopped (here 20 and 1), HOCKET_REPORT_LIMIT_MS
// makes a survivor that reports later than that after a kill fail. What was measured is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "net/socket.h"
#include "support/left_behind.h"
#include "support/process.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::Ended;
using test::Process;

using Words = std::vector<std::string>;

/// "mixed": the first two ranks are on a host of their own, up to three others on another.
Words bench(std::initializer_list<std::string> more, const std::string& transport = "auto") {
  const bool mixed = transport == "mixed";
  Words words;
  if (mixed) words = {"/usr/bin/env", "HOCKET_HOSTID=one,one,other,other,other"};
  words.insert(words.end(), {HOCKET_BINARY, "bench"});
  words.insert(words.end(), more);
  words.insert(words.end(), {"--transport", mixed ? "auto" : transport});
  return words;
}

const auto kTransports = testing::Values("shm", "tcp");
const auto kMixtures = testing::Values("shm", "tcp", "mixed");

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class StormCollectives : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(StormCollectives, AwkwardCountsAreRight) {
  const auto [kind, transport] = GetParam();
  for (const char* ranks : {"1", "2", "3", "5"}) {
    // Counts below, at and above the ranks, odd and long, in bytes of i8: counts and sizes are the same.
    for (const auto& [first, last] : {std::pair("0", "9"), std::pair("257", "257"), std::pair("100003", "100003")}) {
      const Ended end = test::run(
          bench({kind, "--ranks", ranks, "-b", first, "-e", last, "-i", "1", "-n", "1", "-d", "int8"}, transport));
      ASSERT_EQ(end.status, 0) << ranks << " ranks, " << first << " B\n" << end.out << end.err;
      ASSERT_NE(end.out.find("Out of bounds values : 0 OK"), std::string::npos) << end.out;
    }
  }
  const Ended end = test::run(
      bench({kind, "--ranks", "3", "-b", "1000", "-e", "1000", "-n", "1", "-d", "all", "-o", "all"}, transport));
  EXPECT_EQ(end.status, 0) << end.out << end.err;
}

TEST_P(StormCollectives, LongVectorsAreRight) {
  const auto [kind, transport] = GetParam();
  const Ended end = test::run(bench({kind, "--ranks", "4", "-b", "9M", "-e", "9M", "-n", "2"}, transport));
  EXPECT_EQ(end.status, 0) << end.out << end.err;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, StormCollectives,
    testing::Combine(testing::Values("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all"),
                     kMixtures),
    [](const auto& param) { return fmt::format("{}_{}", std::get<0>(param.param), std::get<1>(param.param)); });

/// Ranks started one by one, as a launcher does, each with words of its own.
std::vector<Ended> run_ranks(const std::vector<Words>& each, const std::string& job) {
  std::vector<std::unique_ptr<Process>> ranks;
  for (std::size_t r = 0; r < each.size(); ++r) {
    ranks.push_back(std::make_unique<Process>(
        each[r], Words{fmt::format("HOCKET_RANK={}", r), fmt::format("HOCKET_SIZE={}", each.size()),
                       fmt::format("HOCKET_LOCAL_SIZE={}", each.size()), "HOCKET_JOB=" + job}));
  }
  std::vector<Ended> ends;
  ends.reserve(ranks.size());
  for (const auto& rank : ranks) ends.push_back(rank->wait(seconds(60)));
  return ends;
}

/// Words of rank 1 that differ from the others'.
struct Disagreement {
  const char* name;
  Words odd;   // what rank 1 adds
  Words here;  // what the error must say
};

class StormMismatch : public testing::TestWithParam<std::tuple<const char*, int, const char*>> {};

const std::vector<Disagreement>& disagreements() {
  static const std::vector<Disagreement> all{
      {"count", {"-e", "720"}, {"has -e 720", "has -e 360"}},
      {"dtype", {"-d", "int32"}, {"has -d int32", "has -d float"}},
      {"op", {"-o", "max"}, {"has -o max", "has -o sum"}},
      {"root", {"-r", "1"}, {"has -r 1", "has -r 0"}},
      {"skip", {"-n", "1"}, {"has -n 1", "has -n 4"}},
  };
  return all;
}

TEST_P(StormMismatch, IsNamedOnEveryRank) {
  const auto [kind, index, transport] = GetParam();
  const Disagreement& d = disagreements()[static_cast<std::size_t>(index)];
  const bool rooted = std::string_view(kind) == "broadcast" || std::string_view(kind) == "reduce";
  const bool reduces = std::string_view(kind).find("reduce") != std::string_view::npos;
  if ((std::string_view(d.name) == "root" && !rooted) || (std::string_view(d.name) == "op" && !reduces)) return;
  // One algorithm and one segment, so that ranks agree on all but the one thing.
  Words words = bench({kind, "-b", "360", "-e", "360", "-n", "4", "-w", "0", "-c", "0", "--algo", "direct", "--segment",
                       "4KiB", "--timeout", "20s"},
                      transport);
  std::vector<Words> each(3, words);
  for (std::size_t i = 0; i + 1 < d.odd.size(); i += 2) {
    const auto found = std::find(each[1].begin(), each[1].end(), d.odd[i]);
    if (found != each[1].end()) {
      *std::next(found) = d.odd[i + 1];
    } else {
      each[1].insert(each[1].end(), {d.odd[i], d.odd[i + 1]});
    }
  }
  std::size_t named = 0;
  for (const Ended& end : run_ranks(each, fmt::format("storm-{}-{}-{}-{}", ::getpid(), kind, d.name, transport))) {
    EXPECT_EQ(end.status, 2) << end.out << end.err;
    const bool all = std::all_of(d.here.begin(), d.here.end(),
                                 [&](const std::string& w) { return end.err.find(w) != std::string::npos; });
    named += all && end.err.find("rank 1") != std::string::npos ? 1 : 0;
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
  EXPECT_EQ(named, 3U);
}

INSTANTIATE_TEST_SUITE_P(Matrix, StormMismatch,
                         testing::Combine(testing::Values("all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                                          "reduce", "all_to_all"),
                                          testing::Range(0, 5), kTransports),
                         [](const auto& param) {
                           return fmt::format("{}_{}_{}", std::get<0>(param.param),
                                              disagreements()[static_cast<std::size_t>(std::get<1>(param.param))].name,
                                              std::get<2>(param.param));
                         });

/// The process number that the bench's header gives for a rank.
std::optional<int> process_of(const std::string& out, std::uint32_t rank) {
  const std::size_t at = out.find(fmt::format("Rank {:>3} Pid ", rank));
  if (at == std::string::npos || out.find("(B)") == std::string::npos) return std::nullopt;
  return std::atoi(out.c_str() + at + 13);
}

std::size_t lines_with(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

/// The port that the bench's header gives for rank 0.
std::optional<int> port_of(const std::string& out) {
  const std::string words = "rank 0 at 127.0.0.1:";
  const std::size_t at = out.find(words);
  return at == std::string::npos ? std::nullopt : std::optional(std::atoi(out.c_str() + at + words.size()));
}

/// When each survivor's line came after the moment; looks every 200 us, until the job has ended.
std::vector<milliseconds> times_of_reports(Process& job, SteadyTime moment, std::size_t survivors) {
  std::vector<milliseconds> times;
  while (times.size() < survivors && job.running()) {
    const std::size_t seen = lines_with(job.err(), "hocket bench: rank ");
    const auto now = std::chrono::duration_cast<milliseconds>(steady_clock::now() - moment);
    while (times.size() < seen) times.push_back(now);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const auto now = std::chrono::duration_cast<milliseconds>(steady_clock::now() - moment);
  while (times.size() < lines_with(job.err(), "hocket bench: rank ")) times.push_back(now);
  return times;
}

void print_times(const char* transport, std::size_t jobs, std::string_view what, std::vector<milliseconds> times) {
  ASSERT_FALSE(times.empty());
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[std::min(times.size() - 1, static_cast<std::size_t>(share * static_cast<double>(times.size())))]
        .count();
  };
  fmt::print("{}: {} ranks {}, {} reports of survivors: p50 {} ms, p99 {} ms, most {} ms\n", transport, jobs, what,
             times.size(), at(0.5), at(0.99), times.back().count());
}

class StormDeath : public testing::TestWithParam<const char*> {};

TEST_P(StormDeath, EverySurvivorNamesTheKilledRank) {
  const std::uint64_t kills = number_of("HOCKET_KILLS", 20);
  const milliseconds limit(number_of("HOCKET_REPORT_LIMIT_MS", 0));
  const std::set<std::string> shared = test::shared_memory();
  std::vector<milliseconds> times;
  for (std::uint64_t i = 0; i < kills; ++i) {
    const auto victim = static_cast<std::uint32_t>(i % 4);
    Process job(bench({"all_reduce", "--ranks", "4", "-b", "64K", "-e", "1M", "-f", "4", "-n", "1000000"}, GetParam()),
                {});
    const auto process = job.until<int>(seconds(30), [&] { return process_of(job.out(), victim); });
    ASSERT_TRUE(process) << job.out() << job.err();
    const auto port = port_of(job.out());
    ASSERT_TRUE(port) << job.out();
    std::this_thread::sleep_for(milliseconds(i * 37 % 150));
    const SteadyTime killed = steady_clock::now();
    ASSERT_EQ(::kill(*process, SIGKILL), 0);
    const std::vector<milliseconds> reports = times_of_reports(job, killed, 3);
    times.insert(times.end(), reports.begin(), reports.end());
    const Ended end = job.wait(seconds(20));
    const std::string name = fmt::format("lost rank {} (host ", victim);
    EXPECT_EQ(end.status, 3) << end.err;
    EXPECT_EQ(reports.size(), 3U) << end.err;
    EXPECT_EQ(lines_with(end.err, "hocket bench: rank "), 3U) << end.err;
    for (std::uint32_t r = 0; r < 4; ++r) {
      if (r == victim) continue;
      const std::size_t at = end.err.find(fmt::format("hocket bench: rank {} (host ", r));
      ASSERT_NE(at, std::string::npos) << end.err;
      const std::string line = end.err.substr(at, end.err.find('\n', at) - at);
      for (const std::string& word :
           {name, fmt::format("pid {})", *process), std::string("call "), std::string("step ")})
        EXPECT_NE(line.find(word), std::string::npos) << word << " is missing in: " << line;
    }
    if (limit.count() > 0) {
      EXPECT_LE(reports.back(), limit) << end.err;
    }
    EXPECT_FALSE(job.group_alive());
    EXPECT_EQ(test::sockets_at(static_cast<std::uint16_t>(*port)), std::vector<std::string>{});
    EXPECT_EQ(test::shared_memory_since(shared), std::vector<std::string>{});
  }
  print_times(GetParam(), kills, "killed", times);
}

TEST_P(StormDeath, AStoppedRankIsNamedAtTheDeadline) {
  const std::uint64_t freezes = number_of("HOCKET_FREEZES", 1);
  std::vector<milliseconds> times;
  for (std::uint64_t i = 0; i < freezes; ++i) {
    Process job(
        bench({"all_reduce", "--ranks", "4", "-b", "1K", "-e", "1K", "-n", "1000000", "--timeout", "3s"}, GetParam()),
        {});
    const auto process = job.until<int>(seconds(30), [&] { return process_of(job.out(), 2); });
    ASSERT_TRUE(process) << job.err();
    const SteadyTime stopped = steady_clock::now();
    ASSERT_EQ(::kill(*process, SIGSTOP), 0);
    for (const milliseconds time : times_of_reports(job, stopped, 3)) times.push_back(time - seconds(3));
    const Ended end = job.wait(seconds(30));
    EXPECT_EQ(end.status, 3);
    EXPECT_NE(end.err.find("no progress from rank 2 "), std::string::npos) << end.err;
    EXPECT_FALSE(job.group_alive());
  }
  print_times(GetParam(), freezes, "stopped, times after the deadline of 3 s", times);
}

TEST_P(StormDeath, AStoppedRankThatResumesInTimeIsNoFailure) {
  Process job(bench({"all_reduce", "--ranks", "4", "-b", "1K", "-e", "1K", "-n", "20000"}, GetParam()), {});
  const auto process = job.until<int>(seconds(30), [&] { return process_of(job.out(), 2); });
  ASSERT_TRUE(process) << job.err();
  ASSERT_EQ(::kill(*process, SIGSTOP), 0);
  std::this_thread::sleep_for(milliseconds(1500));
  ASSERT_EQ(::kill(*process, SIGCONT), 0);
  const Ended end = job.wait(seconds(60));
  EXPECT_EQ(end.status, 0) << end.err;
}

TEST_P(StormDeath, CtrlCLeavesNothing) {
  Process job(bench({"all_reduce", "--ranks", "4", "-b", "1K", "-e", "1K", "-n", "100000000"}, GetParam()), {});
  ASSERT_TRUE(job.until<int>(seconds(30), [&] { return process_of(job.out(), 3); }));
  job.signal(SIGINT);
  const Ended end = job.wait(seconds(20));
  EXPECT_EQ(end.signal, SIGINT);  // which shells show as 130
  EXPECT_EQ(end.err, "");
  EXPECT_FALSE(job.group_alive());
}

TEST_P(StormDeath, AKilledParentTakesItsRanksAlong) {
  Process job(bench({"all_reduce", "--ranks", "3", "-b", "1K", "-e", "1K", "-n", "100000000"}, GetParam()), {});
  const auto process = job.until<int>(seconds(30), [&] { return process_of(job.out(), 1); });
  ASSERT_TRUE(process);
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(seconds(20)).signal, SIGKILL);
  const SteadyTime deadline = steady_clock::now() + seconds(10);
  while (::kill(*process, 0) == 0 && steady_clock::now() < deadline) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_NE(::kill(*process, 0), 0);
}

INSTANTIATE_TEST_SUITE_P(Over, StormDeath, kMixtures, [](const auto& param) { return std::string(param.param); });

TEST(StormStrangers, GarbageOnThePortWhileAJobRuns) {
  Process job(bench({"all_reduce", "--ranks", "3", "-b", "8", "-e", "64K", "-f", "2", "-n", "300"}), {});
  const auto port = job.until<int>(seconds(30), [&]() -> std::optional<int> {
    const std::string out = job.out();
    return out.find("Rank ") == std::string::npos ? std::nullopt : port_of(out);
  });
  ASSERT_TRUE(port) << job.err();
  std::vector<Descriptor> kept;
  for (int i = 0; i < 300; ++i) {
    const Address address = Address::loopback(AF_INET, static_cast<std::uint16_t>(*port));
    Result<Descriptor> socket = connect_until(address, steady_clock::now() + milliseconds(200));
    if (!socket) break;  // the job has finished
    std::vector<std::byte> garbage(static_cast<std::size_t>(i % 97), static_cast<std::byte>(i));
    [[maybe_unused]] const auto put =
        ::send(socket->get(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (i % 2 == 0) kept.push_back(std::move(*socket));
  }
  EXPECT_GE(kept.size(), 10U);
  const Ended end = job.wait(seconds(60));
  EXPECT_EQ(end.status, 0) << end.err;
}

TEST(StormConnections, SeveralBetweenTwoRanksAreRightAndCountedOnBothSides) {
  for (const char* transport : {"tcp", "mixed"}) {
    const Ended end = test::run(
        bench({"all_reduce", "--ranks", "4", "-b", "1",    "-e",     "1M",   "-f",        "32",   "-n",
               "3",          "-i",      "0", "-d", "int8", "--algo", "ring", "--segment", "4KiB", "--connections",
               "3"},
              transport));
    EXPECT_EQ(end.status, 0) << end.out << end.err;
    EXPECT_NE(end.out.find("Out of bounds values : 0 OK"), std::string::npos) << end.out;
  }
  const std::string root = "HOCKET_ROOT=" + local_address(*listen_at(Address::loopback()))->text();
  const Words words{HOCKET_BINARY, "bench", "all_reduce", "-b", "8", "-e", "8", "--transport", "tcp"};
  Process first(words, {root, "HOCKET_RANK=0", "HOCKET_SIZE=2", "HOCKET_TCP_CONNECTIONS=2"});
  Process second(words, {root, "HOCKET_RANK=1", "HOCKET_SIZE=2"});
  const Ended here = first.wait(seconds(60));
  const Ended there = second.wait(seconds(60));
  EXPECT_EQ(here.status, 2) << here.err;
  EXPECT_NE(here.err.find("rank 0 makes 2 connections to every rank, but rank 1 ("), std::string::npos) << here.err;
  EXPECT_NE(here.err.find(") makes 1"), std::string::npos) << here.err;
  EXPECT_EQ(there.status, 2) << there.err;
  EXPECT_NE(there.err.find("rank 1 makes 1 connections to every rank, but rank 0 ("), std::string::npos) << there.err;
}

TEST(StormLaunch, ByHandAsTorchrunDoes) {
  const std::uint16_t port = local_address(*listen_at(Address::loopback()))->port();
  for (const std::string host : {"127.0.0.1", "localhost", "::ffff:127.0.0.1"}) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (int r = 2; r >= 0; --r) {
      ranks.push_back(
          std::make_unique<Process>(bench({"all_gather", "-b", "1K", "-e", "1K", "-n", "2", "--timeout", "20s"}),
                                    Words{fmt::format("RANK={}", r), "WORLD_SIZE=3", "MASTER_ADDR=" + host,
                                          fmt::format("MASTER_PORT={}", port)}));
    }
    for (const auto& rank : ranks) {
      const Ended end = rank->wait(seconds(60));
      EXPECT_EQ(end.status, 0) << host << "\n" << end.err;
    }
  }
}

TEST(StormLaunch, AFileOfTheUsersLeadsToRank0AndItsFolderStays) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("hocket-storm-root-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string file = (folder / "job").string();
  std::ofstream(file) << "127.0.0.1:1 leftofajobthatdied";  // nobody is there
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::vector<std::unique_ptr<Process>> ranks;
  for (int r = 2; r >= 0; --r) {
    ranks.push_back(std::make_unique<Process>(
        bench({"all_gather", "-b", "1K", "-e", "1K", "-n", "2", "--timeout", "20s"}),
        Words{fmt::format("HOCKET_RANK={}", r), "HOCKET_SIZE=3", "HOCKET_ROOT=file:" + file}));
  }
  for (const auto& rank : ranks) {
    const Ended end = rank->wait(seconds(60));
    EXPECT_EQ(end.status, 0) << end.err;
  }
  EXPECT_TRUE(std::filesystem::is_directory(folder));
  EXPECT_FALSE(std::filesystem::exists(file));
  std::filesystem::remove_all(folder);
  Process nowhere(bench({"all_gather", "--timeout", "5s"}),
                  Words{"HOCKET_RANK=1", "HOCKET_SIZE=2", "HOCKET_ROOT=file:" + folder.string() + "/"});
  const Ended end = nowhere.wait(seconds(20));
  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("names no file"), std::string::npos) << end.err;
}

TEST(StormLaunch, AProbeWritesATopologyThatPlansAreMadeFor) {
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("hocket-probe-{}.yaml", ::getpid())).string();
  for (const char* transport : {"shm", "tcp"}) {
    const Ended probed =
        Process(Words{HOCKET_BINARY, "topo", "probe", "--ranks", "3", "--transport", transport, "-o", file}, Words{})
            .wait(seconds(60));
    EXPECT_EQ(probed.status, 0) << probed.err;
    const Ended shown = Process(Words{HOCKET_BINARY, "topo", file}, Words{}).wait(seconds(20));
    EXPECT_NE(shown.out.find("links        6 directed"), std::string::npos) << shown.out << shown.err;
    const Ended planned =
        Process(Words{HOCKET_BINARY, "plan", "all_reduce", "--topo", file}, Words{}).wait(seconds(60));
    EXPECT_EQ(planned.status, 0) << planned.err;
    std::filesystem::remove(file);
  }
  const Ended alone = Process(Words{HOCKET_BINARY, "topo", "probe"}, Words{}).wait(seconds(20));
  EXPECT_EQ(alone.status, 2);
  EXPECT_NE(alone.err.find("1 is too few"), std::string::npos) << alone.err;
  const Ended read = Process(Words{HOCKET_BINARY, "topo", "ring:3", "--ranks", "3"}, Words{}).wait(seconds(20));
  EXPECT_EQ(read.status, 2);
  EXPECT_NE(read.err.find("goes with the word probe only"), std::string::npos) << read.err;
}

TEST(StormLaunch, ATakenPortIsSaidAtOnce) {
  const Descriptor taken = *listen_at(Address::loopback());
  const Address address = *local_address(taken);
  Process rank(bench({"all_gather", "-b", "1K", "-e", "1K", "--timeout", "60s"}),
               Words{"HOCKET_RANK=0", "HOCKET_SIZE=2", "HOCKET_ROOT=" + address.text()});
  const Ended end = rank.wait(seconds(20));
  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.err, fmt::format("hocket bench: port already used: {}\n", address.text()));
}

TEST(StormLaunch, RanksThatDoNotComeAreNamed) {
  Process rank(bench({"all_gather", "-b", "1K", "-e", "1K", "--timeout", "1s"}),
               Words{"HOCKET_RANK=0", "HOCKET_SIZE=4", "HOCKET_LOCAL_SIZE=4",
                     fmt::format("HOCKET_JOB=storm-alone-{}", ::getpid())});
  const Ended end = rank.wait(seconds(30));
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.err, "hocket bench: rank 0: of 4 ranks these have not come in time: 1, 2, 3\n");
}

TEST(StormLaunch, RanksThatWantDifferentTransportsAreRefused) {
  const Words base = bench({"all_gather", "-b", "1K", "-e", "1K", "-n", "1", "--timeout", "20s"}, "shm");
  std::vector<Words> each(3, base);
  each[2].back() = "tcp";
  for (const Ended& end : run_ranks(each, fmt::format("storm-wish-{}", ::getpid()))) {
    EXPECT_NE(end.status, 0);
    EXPECT_NE(end.err.find("wants transport"), std::string::npos) << end.err;
  }
}

TEST(StormLaunch, FlagsThatContradictAreRefused) {
  Process rank(bench({"all_gather", "--ranks", "3"}), Words{"HOCKET_RANK=0", "HOCKET_SIZE=4"});
  EXPECT_EQ(rank.wait(seconds(20)).err,
            "hocket bench: --ranks 3 but hocket (HOCKET_RANK, HOCKET_SIZE) says rank 0 of 4\n");
}

}  // namespace
}  // namespace hocket
