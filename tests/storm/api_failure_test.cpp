// Real processes through the C++ interface that go wrong: ranks that disagree, abort, a lost rank and those that are
// left, deadlines, wrong arguments, forked children; and descriptors after many communicators.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::connect;
using test::expect_well;
using test::RankEnd;
using test::run_forked;

/// What rank 1 of three calls instead, and what every error must name.
struct OddCall {
  const char* name;
  void (*change)(Call& call);
  std::vector<std::string> named;
};

const std::vector<OddCall>& odd_calls() {
  static const std::vector<OddCall> all{
      {"count", [](Call& c) { c.count += 1; }, {"count"}},
      {"dtype", [](Call& c) { c.type = DataType::kI32; }, {"dtype", "f32", "i32"}},
      {"op", [](Call& c) { c.reduction = ReduceOp::kMax; }, {"operator", "sum", "max"}},
      {"root", [](Call& c) { c.root = 1; }, {"root"}},
      {"operation", [](Call& c) { c.operation = Operation::kBarrier; }, {"rank 1"}},
  };
  return all;
}

class ApiMismatch : public testing::TestWithParam<std::tuple<Operation, int, const char*>> {};

TEST_P(ApiMismatch, IsNamedOnEveryRank) {
  const auto [operation, index, transport] = GetParam();
  const OddCall& odd = odd_calls()[static_cast<std::size_t>(index)];
  const bool rooted = operation == Operation::kBroadcast || operation == Operation::kReduce ||
                      operation == Operation::kGather || operation == Operation::kScatter;
  const bool combining =
      operation == Operation::kAllReduce || operation == Operation::kReduceScatter || operation == Operation::kReduce;
  if (std::string_view(odd.name) == "root" && !rooted) return;
  if (std::string_view(odd.name) == "op" && !combining) return;
  const std::vector<RankEnd> ends = run_forked(3, [&odd, operation, transport](std::uint32_t rank) -> std::string {
    ::setenv("HOCKET_TRANSPORT", transport, 1);  // NOLINT(concurrency-mt-unsafe): one thread
    auto comm = connect();
    SAY_ERROR(comm);
    std::vector<float> in(64, 1.0F);
    std::vector<float> out(64);
    Call call{.operation = operation, .input = in.data(), .output = out.data(), .count = 8};
    if (rank == 1) odd.change(call);
    SAY_ERROR(comm->run(call));
    SAY_ERROR(comm->barrier());  // a rank that depends on nobody may be through with the call itself
    return "success";
  });
  for (const RankEnd& end : ends) {
    EXPECT_NE(end.said, "success");
    EXPECT_NE(end.said, "");
    EXPECT_NE(end.said.find("rank 1"), std::string::npos) << end.said;
    for (const std::string& word : odd.named) EXPECT_NE(end.said.find(word), std::string::npos) << end.said;
  }
}

INSTANTIATE_TEST_SUITE_P(Matrix, ApiMismatch,
                         testing::Combine(testing::Values(Operation::kAllReduce, Operation::kReduceScatter,
                                                          Operation::kAllGather, Operation::kBroadcast,
                                                          Operation::kReduce, Operation::kAllToAll, Operation::kGather,
                                                          Operation::kScatter),
                                          testing::Range(0, 5), testing::Values("shm", "tcp")));

TEST(ApiFailure, CallsThatNoUserMadeAreNamedAfterTheirPurpose) {
  const std::vector<RankEnd> ends = run_forked(2, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == 0) SAY_ERROR(comm->split(0, 0));
    SAY_ERROR(comm->barrier());
    return "success";
  });
  const std::string& split = ends[0].said;
  EXPECT_NE(split.find("on call 2: operation all_gather here, barrier there (here: "), std::string::npos) << split;
  EXPECT_NE(split.find(" (a part of split)"), std::string::npos) << split;
  EXPECT_NE(ends[1].said.find("call 2, barrier"), std::string::npos) << ends[1].said;
}

TEST(ApiFailure, WhatRanksAgreeOnNamesThemAndTheCallOnce) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    std::vector<float> in(24, 1.0F);
    std::vector<float> out(24);
    Call call{.operation = Operation::kGather, .input = in.data(), .output = out.data(), .count = 8};
    if (rank == 1) call.operation = Operation::kScatter;
    auto first = comm->start(call);
    auto second = comm->start(call);
    const Result<void> later = second ? second->wait() : tl::unexpected<Error>(second.error());
    if (later) return "success";
    const std::string& words = later.error().text;
    if (words.find("(a part of ") != words.rfind("(a part of ")) return words;
    SAY_ERROR(first);
    SAY_ERROR(first->wait());
    return "success";
  });
  for (std::uint32_t r = 0; r < 3; ++r) {
    const std::string& said = ends[r].said;
    EXPECT_NE(said.find(" disagree on call 2: operation (here: "), std::string::npos) << said;
    for (const std::uint32_t named : {1U, r == 1 ? 0U : r})
      EXPECT_NE(said.find(fmt::format("rank {} (host ", named)), std::string::npos) << said;
    EXPECT_NE(said.find("(a part of "), std::string::npos) << said;
    EXPECT_EQ(said.find("(a part of "), said.rfind("(a part of ")) << said;
  }
}

TEST(ApiFailure, RanksThatWereGivenDifferentTopologiesAreToldWhereFrom) {
  const std::vector<RankEnd> ends = run_forked(4, [](std::uint32_t rank) -> std::string {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a fresh child has one thread
    ::setenv("HOCKET_TOPO_FILE", rank == 1 ? "full:4" : "ring:4", 1);
    auto comm = connect();
    SAY_ERROR(comm);
    std::vector<float> values(1 << 16, 1.0F);
    SAY_ERROR(comm->all_reduce(values.data(), values.data(), 1 << 16, DataType::kF32));
    SAY_ERROR(comm->barrier());
    return "success";
  });
  for (const RankEnd& end : ends) EXPECT_NE(end.said.find("HOCKET_TOPO_FILE"), std::string::npos) << end.said;
}

TEST(ApiFailure, AbortFromAnotherThreadEndsAllRanks) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    float value = 1;
    if (rank == 0) {
      std::thread other([&comm] {
        std::this_thread::sleep_for(milliseconds(100));
        comm->abort("enough");
      });
      const auto result = comm->all_reduce(&value, &value, 1, DataType::kF32);
      other.join();
      if (result) return "success";
      if (!comm->failure() || comm->barrier()) return "it has not stayed failed";
      return result.error().text;
    }
    if (rank == 1) std::this_thread::sleep_for(milliseconds(200));
    SAY_ERROR(comm->all_reduce(&value, &value, 1, DataType::kF32));
    return "success";
  });
  for (const RankEnd& end : ends) EXPECT_NE(end.said.find("enough"), std::string::npos) << end.said;
}

/// Rank 0 has no connection yet of which an abort could be heard; rank 1 does not come.
TEST(ApiFailure, AbortIsHeardWhileAMessageWaitsForItsPeer) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    const auto began = std::chrono::steady_clock::now();
    if (rank == 0) {
      float value = 1;
      const auto result = comm->send(&value, 1, DataType::kF32, 1);
      const bool soon = std::chrono::steady_clock::now() - began < milliseconds(2000);
      return (result ? "success" : result.error().text) + (soon ? ", soon" : ", late");
    }
    std::this_thread::sleep_for(milliseconds(rank == 1 ? 3000 : 300));
    if (rank == 2) comm->abort("enough");
    return "enough, soon";
  });
  for (const RankEnd& end : ends) EXPECT_NE(end.said.find("enough"), std::string::npos) << end.said;
  EXPECT_TRUE(ends[0].said.ends_with(", soon")) << ends[0].said;
}

/// One that leaves in order is none of their business.
TEST(ApiFailure, ARankThatLeavesEndsNoMessageOfOthersThatWaits) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == 2) return "success";
    float value = 1;
    if (rank == 1) {
      std::this_thread::sleep_for(milliseconds(1000));
      SAY_ERROR(comm->receive(&value, 1, DataType::kF32, 0));
      return "success";
    }
    SAY_ERROR(comm->send(&value, 1, DataType::kF32, 1));
    return "success";
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.said, "success");
}

/// Whoever looks whether a message still makes sense leaves the calls that others have begun alone.
TEST(ApiFailure, WhoWaitsForAMessageLosesNothingOfACallThatOthersHaveBegun) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    std::vector<float> values(100'000, 1);
    SAY_ERROR(comm->barrier());
    if (rank == 1) std::this_thread::sleep_for(milliseconds(500));
    if (rank == 0) SAY_ERROR(comm->send(values.data(), 1, DataType::kF32, 1));
    if (rank == 1) SAY_ERROR(comm->receive(values.data(), 1, DataType::kF32, 0));
    Call call{.operation = Operation::kAllReduce, .input = values.data(), .output = values.data(), .count = 100'000};
    call.timeout = milliseconds(5000);
    SAY_ERROR(comm->run(call));
    return values.back() == 3 ? "right" : "wrong";
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.said, "right");
}

TEST(ApiFailure, RanksThatNeverSleepNoticeALostOne) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect(ProgressMode::kDedicated);
    SAY_ERROR(comm);
    if (rank == 2) std::this_thread::sleep_for(milliseconds(100));
    if (rank == 2) ::raise(SIGKILL);
    int value = 1;
    const auto result = comm->all_reduce(&value, &value, 1, DataType::kI32);
    return result ? "success" : result.error().text;
  });
  for (const std::uint32_t r : {0U, 1U}) EXPECT_NE(ends[r].said.find("lost rank 2"), std::string::npos) << ends[r].said;
}

TEST(ApiFailure, SurvivorsGoOnWithoutTheLostRank) {
  const std::vector<RankEnd> ends = run_forked(4, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    int value = 1;
    SAY_ERROR(comm->all_reduce(&value, &value, 1, DataType::kI32));
    // Not while others are still in the first call, where its death is an error too.
    if (rank == 2) std::this_thread::sleep_for(milliseconds(300));
    if (rank == 2) ::raise(SIGKILL);
    const auto failed = comm->all_reduce(&value, &value, 1, DataType::kI32);
    if (failed) return "success without rank 2";
    if (failed.error().text.find("lost rank 2") == std::string::npos) return failed.error().text;
    const std::vector<std::uint32_t> lost{2};
    auto left = comm->shrink(lost);
    SAY_ERROR(left);
    value = 1;
    SAY_ERROR(left->all_reduce(&value, &value, 1, DataType::kI32));
    return value == 3 && left->size() == 3 ? "" : "wrong sum among the survivors";
  });
  for (const std::uint32_t r : {0U, 1U, 3U}) EXPECT_EQ(ends[r].said, "") << r;
}

TEST(ApiFailure, HostsOfOneNameAreNoOneHost) {
  const std::string folder = testing::TempDir() + "place_of_rank_2";
  std::filesystem::create_directory(folder);
  const std::string root = fmt::format("file:{}place_root_{}", testing::TempDir(), ::getpid());
  const std::vector<RankEnd> ends = run_forked(4, [&](std::uint32_t rank) -> std::string {
    ::setenv("HOCKET_ROOT", root.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): a fresh child has one thread
    // As in a container of its own.
    if (rank == 2) ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): the same
    auto comm = connect();
    SAY_ERROR(comm);
    const std::vector<std::uint32_t> lost{0};
    if (rank == 0) return {};
    auto left = comm->shrink(lost);
    SAY_ERROR(left);
    return "met";
  });
  for (const std::uint32_t r : {1U, 2U, 3U}) {
    EXPECT_NE(ends[r].said.find(" have another folder for private files each: make a communicator with rank, size"),
              std::string::npos)
        << ends[r].said;
    EXPECT_NE(ends[r].said.find(": rank 1 (host "), std::string::npos) << ends[r].said;
    EXPECT_NE(ends[r].said.find(" and rank 2 (host "), std::string::npos) << ends[r].said;
  }
  std::filesystem::remove_all(folder);
}

TEST(ApiFailure, AWrongArgumentLeavesTheCommunicatorWhole) {
  expect_well(run_forked(2, [](std::uint32_t) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    float value = 1;
    if (comm->all_reduce(&value, &value, -1, DataType::kF32)) return "count -1 passed";
    if (comm->all_reduce(nullptr, &value, 1, DataType::kF32)) return "a missing input passed";
    if (comm->broadcast(&value, 1, DataType::kF32, 2)) return "root 2 of 2 passed";
    if (comm->send(&value, 1, DataType::kF32, 7)) return "rank 7 of 2 passed";
    SAY_ERROR(comm->all_reduce(&value, &value, 1, DataType::kF32));
    return value == 2.0F ? "" : "wrong data";
  }));
}

TEST(ApiFailure, DeadlinesOfACallAndItsDescriptionAreNamed) {
  const std::vector<RankEnd> ends = run_forked(2, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == 1) std::this_thread::sleep_for(seconds(2));
    float value = 1;
    SAY_ERROR(comm->run({.input = &value,
                         .output = &value,
                         .count = 1,
                         .description = "bucket 7",
                         .timeout = rank == 0 ? milliseconds(300) : milliseconds(0)}));
    return "success";
  });
  EXPECT_NE(ends[0].said.find("not done within 300 ms"), std::string::npos) << ends[0].said;
  EXPECT_NE(ends[0].said.find("bucket 7"), std::string::npos) << ends[0].said;
  EXPECT_NE(ends[1].said, "success");
}

TEST(ApiFailure, WhoIsToldOfACallDoesNotSayItAgain) {
  const std::vector<RankEnd> ends = run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    if (rank == 2) std::this_thread::sleep_for(seconds(2));
    float value = 1;
    SAY_ERROR(comm->run(
        {.input = &value, .output = &value, .count = 1, .timeout = rank == 0 ? milliseconds(1500) : milliseconds(0)}));
    return "success";
  });
  const std::string& said = ends[1].said;
  EXPECT_NE(said.find(") was told: rank 0 (host "), std::string::npos) << said;
  for (const char* once : {"): not done within 1.5 s", "no progress from rank 2", "all_reduce of 1 f32 sum"}) {
    EXPECT_NE(said.find(once), std::string::npos) << said;
    EXPECT_EQ(said.find(once), said.rfind(once)) << said;
  }
  EXPECT_NE(said.find("; here: step "), std::string::npos) << said;
}

TEST(ApiForked, AChildIsRefusedAndDisturbsNobody) {
  expect_well(run_forked(2, [](std::uint32_t) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 1;
      {
        const Communicator inherited = std::move(*comm);
        Communicator& used = const_cast<Communicator&>(inherited);
        const auto refused = used.barrier();
        if (!refused && refused.error().text.find("forked child") != std::string::npos) status = 0;
      }
      ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return "the child was not refused";
    for (int i = 0; i < 10; ++i) SAY_ERROR(comm->barrier());
    return {};
  }));
}

/// A child that lives on for that long, with nothing of the test.
void fork_sleeper(seconds time) {
  if (::fork() != 0) return;
  for (int i = 0; i < 1024; ++i) {  // what a rank says ends with the rank
    struct stat status {};
    if (::fstat(i, &status) == 0 && S_ISFIFO(status.st_mode)) ::close(i);
  }
  std::this_thread::sleep_for(time);
  ::_exit(0);
}

class ApiFork : public testing::TestWithParam<test::MessageWay> {};

TEST_P(ApiFork, AChildThatLivesOnDoesNotHideTheDeathOfItsRank) {
  const test::HeardRun run = test::run_heard(4, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    float value = 1;
    if (rank == 1) SAY_ERROR(comm->send(&value, 1, DataType::kF32, 2));
    if (rank == 2) SAY_ERROR(comm->receive(&value, 1, DataType::kF32, 1));
    SAY_ERROR(comm->barrier());
    if (rank == 1) {
      std::this_thread::sleep_for(milliseconds(200));  // the others are through with the barrier
      fork_sleeper(seconds(6));
      ::raise(SIGKILL);
    }
    const auto began = std::chrono::steady_clock::now();
    const auto result = rank == 2 ? comm->receive(&value, 1, DataType::kF32, 1) : comm->barrier();
    const bool soon = std::chrono::steady_clock::now() - began < seconds(2);
    return (result ? "success" : result.error().text) + (soon ? ", soon" : ", late");
  });
  for (const std::uint32_t r : {0U, 2U, 3U}) {
    const std::string& said = run.ends[r].said;
    EXPECT_NE(said.find("lost rank 1"), std::string::npos) << said;
    EXPECT_NE(said.find(", soon"), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(Over, ApiFork, testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(ApiLeaks, DescriptorsAndThreadsAreConstant) {
  expect_well(run_forked(2, [](std::uint32_t) -> std::string {
    std::size_t before = 0;
    for (int i = 0; i < 12; ++i) {
      auto comm = connect();
      SAY_ERROR(comm);
      float value = 1;
      SAY_ERROR(comm->all_reduce(&value, &value, 1, DataType::kF32));
      const std::array calls{
          Call{.operation = Operation::kSend, .input = &value, .count = 1, .root = 1 - comm->rank()},
          Call{.operation = Operation::kReceive, .output = &value, .count = 1, .root = 1 - comm->rank()}};
      SAY_ERROR(comm->run_group(calls));
      auto twin = comm->dup();
      SAY_ERROR(twin);
      { const Communicator gone = std::move(*comm); }
      SAY_ERROR(twin->barrier());
      { const Communicator gone = std::move(*twin); }
      if (i == 1) before = test::open_descriptors();
    }
    const std::size_t after = test::open_descriptors();
    return after == before ? "" : fmt::format("{} descriptors, {} before", after, before);
  }));
}

}  // namespace
}  // namespace hocket
