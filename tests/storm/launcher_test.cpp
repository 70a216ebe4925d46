// The launcher of --ranks N among signals: ignored by whoever started it, or sent to one of its ranks. What is asserted
// is that it ends, how soon, by what, and what it says.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

#include "support/process.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::Ended;
using test::Process;

/// A bench in bash, after the commands that set it up.
Process bench_after(const std::string& commands, const std::string& words) {
  return Process({"/bin/bash", "-c", fmt::format("{}; exec {} bench all_reduce {}", commands, HOCKET_BINARY, words)},
                 {});
}

bool has_begun(Process& job) {
  return job
      .until<int>(seconds(30),
                  [&]() -> std::optional<int> {
                    return job.out().find("(B)") == std::string::npos ? std::nullopt : std::optional(1);
                  })
      .has_value();
}

TEST(Launcher, ANoteOnTheSizeIsSaidOnce) {
  const std::string file = testing::TempDir() + "noted_once.hkt";
  const std::vector<std::string> plan{HOCKET_BINARY, "plan", "all_reduce", "--topo", "ring:3", "-o", file};
  ASSERT_EQ(test::Process(plan, {}).wait(std::chrono::seconds(60)).status, 0);
  const auto end =
      test::Process({HOCKET_BINARY, "run", file, "--ranks", "3", "--size", "9B"}, {}).wait(std::chrono::seconds(60));
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err, "note: --size 9B is no multiple of 4B, 8B is taken\n");
  std::filesystem::remove(file);
}

TEST(Launcher, ChildrenAreWaitedForWhereTheyWereIgnoredOnEntry) {
  Process job = bench_after("trap '' CHLD", "--ranks 3 -b 8 -e 8 -n 1");
  const Ended end = job.wait(seconds(30));
  EXPECT_EQ(end.status, 0) << end.err;
}

TEST(Launcher, SignalsIgnoredOnEntryStayIgnored) {
  for (const auto& [name, number] : {std::pair("HUP", SIGHUP), std::pair("INT", SIGINT), std::pair("TERM", SIGTERM)}) {
    for (const char* ranks : {"1", "2"}) {
      Process job = bench_after(fmt::format("trap '' {}", name), fmt::format("--ranks {} -b 8 -e 8 -N 0", ranks));
      ASSERT_TRUE(has_begun(job)) << name;
      job.signal(number);
      std::this_thread::sleep_for(milliseconds(600));
      EXPECT_TRUE(job.running()) << name;
      job.signal(number == SIGTERM ? SIGINT : SIGTERM);
      EXPECT_EQ(job.wait(seconds(20)).signal, number == SIGTERM ? SIGINT : SIGTERM) << name;
      EXPECT_FALSE(job.group_alive());
    }
  }
}

/// Of lines: those that hold the words.
std::ptrdiff_t lines_with(const std::string& text, std::string_view words) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

/// Bash that starts the bench, runs the commands as soon as $c names its three ranks, and ends as the bench does.
Process bench_beside(const std::string& commands) {
  return Process({"/bin/bash", "-c",
                  fmt::format("{} bench all_reduce --ranks 3 -b 8 -e 8 -N 0 >/dev/null & p=$!; c=(); "
                              "while [ ${{#c[@]}} -lt 3 ]; do read -a c < /proc/$p/task/$p/children; done; {}; wait $p",
                              HOCKET_BINARY, commands)},
                 {});
}

TEST(Launcher, ARankKilledBeforeAllHaveMetEndsTheOthersSoonAndIsTheCause) {
  // The third is stopped as soon as it is there, so that no two have met who wait for all.
  Process job = bench_beside("kill -STOP ${c[2]}; kill -KILL ${c[1]}");
  const auto begin = steady_clock::now();
  const Ended end = job.wait(seconds(30));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5500));
  EXPECT_EQ(end.status, 3) << end.err;
  EXPECT_EQ(end.err.find("hocket: rank 1 (pid "), 0) << end.err;
  EXPECT_EQ(lines_with(end.err, "was ended by signal 9"), 1) << end.err;
  EXPECT_EQ(lines_with(end.err, "still there"), 1) << end.err;
  EXPECT_EQ(lines_with(end.err, " 0 ps "), 0) << end.err;
}

TEST(Launcher, RanksThatCannotMissAKilledOneHearOfItFromTheLauncher) {
  for (const int victim : {0, 1}) {  // before it serves, or before it has come
    Process job = bench_beside(fmt::format("kill -KILL ${{c[{}]}}", victim));
    const Ended end = job.wait(seconds(30));
    EXPECT_EQ(end.status, 3) << end.err;
    EXPECT_EQ(lines_with(end.err, fmt::format(" lost rank {} (host ", victim)), 2) << end.err;
    EXPECT_EQ(lines_with(end.err, "still there"), 0) << end.err;
  }
}

TEST(Launcher, RanksThatCannotBeStartedAreTheOnlyLine) {
  const std::string other = ::geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "";
  const std::string limited =
      fmt::format("{}bash -c 'ulimit -u 3; exec {} bench all_reduce --ranks 5'", other, HOCKET_BINARY);
  if (test::run({"/bin/bash", "-c", fmt::format("{} test -x {}", other, HOCKET_BINARY)}).status != 0)
    GTEST_SKIP() << "root has no limit of processes, and nobody else may run " << HOCKET_BINARY;
  const Ended end = test::run({"/bin/bash", "-c", limited});
  EXPECT_EQ(end.status, 2) << end.err;
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  EXPECT_NE(end.err.find("hocket bench: cannot start rank "), std::string::npos) << end.err;
}

}  // namespace
}  // namespace hocket
