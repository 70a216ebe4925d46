// Standard streams that are closed or full: what could not be said changes neither how a tool ends nor its exit status,
// and no socket of a job takes the place of one.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "support/process.h"

namespace hocket {
namespace {

using std::chrono::seconds;
using test::Ended;
using test::Process;

/// `words` after the program's name, with redirections as a shell knows them.
Process hocket_in_shell(const std::string& words) {
  return {{"/bin/sh", "-c", std::string("exec ") + HOCKET_BINARY + " " + words}, {"HOCKET_DEBUG=3"}};
}

TEST(Streams, AStderrThatTakesNothingChangesNoStatus) {
  const std::vector<std::pair<std::string, int>> cases{
      {"pln", 2},
      {"plan --nosuch", 2},
      {"plan all_reduce", 2},
      {"verify nothing.hkt", 2},
      {"doctor nothing.hkt", 2},
      {"plan all_reduce --topo ring:3 --size 1000001B", 0},
      {"bench all_reduce --ranks 2 -b 8B", 2},
      {"bench all_reduce --ranks 2 -b 8 -e 8", 0},
      {"topo probe --ranks 1", 2},
  };
  for (const auto& [words, status] : cases) {
    for (const char* redirection : {" 2>/dev/full", " 2>&-"}) {
      const Ended end = hocket_in_shell(words + redirection).wait(seconds(60));
      EXPECT_EQ(end.signal, 0) << words << redirection;
      EXPECT_EQ(end.status, status) << words << redirection << end.out;
    }
  }
}

TEST(Streams, AKilledRankThatCannotBeNamedIsStillAFailureOfAPeer) {
  Process job = hocket_in_shell("bench all_reduce --ranks 2 -b 8 -e 8 -n 100000000 2>/dev/full");
  const auto process = job.until<int>(seconds(30), [&job]() -> std::optional<int> {
    const std::string out = job.out();
    const std::size_t at = out.find("Rank   1 Pid ");
    if (at == std::string::npos || out.find("(B)") == std::string::npos) return std::nullopt;
    return std::atoi(out.c_str() + at + 13);
  });
  ASSERT_TRUE(process) << job.out();
  ASSERT_EQ(::kill(*process, SIGKILL), 0);
  EXPECT_EQ(job.wait(seconds(30)).status, 3);
}

TEST(Streams, RanksMeetWithoutStandardInput) {
  for (const char* redirection : {" 0<&-", " 0<&- 2>&-"}) {
    for (const char* words : {"bench all_reduce --ranks 2 -b 8 -e 8",
                              "bench all_reduce --ranks 3 -b 8 -e 8 "
                              "--transport tcp"}) {
      const Ended end = hocket_in_shell(std::string(words) + redirection).wait(seconds(60));
      EXPECT_EQ(end.status, 0) << words << redirection << end.err;
      EXPECT_NE(end.out.find("concluded"), std::string::npos) << words << redirection << end.out;
    }
  }
}

TEST(Streams, WhatAClosedStdoutLacksIsNoSuccess) {
  for (const char* redirection : {" 1>&-", " 1>/dev/full", " 0<&- 1>&-"}) {
    const Ended end = hocket_in_shell(std::string("plan all_reduce --topo ring:3") + redirection).wait(seconds(60));
    EXPECT_EQ(end.status, 2) << redirection << end.err;
    EXPECT_NE(end.err.find("hocket: cannot write to stdout: "), std::string::npos) << redirection << end.err;
  }
}

}  // namespace
}  // namespace hocket
