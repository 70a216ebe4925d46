// Real processes that exchange messages through the C++ interface: sends and receives, and what is made of them; over
// memory, over TCP, and over both. Which way each pair of ranks has taken is checked too.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/api_ranks.h"
#include "support/message_ways.h"

namespace hocket {
namespace {

using test::connect;
using test::expect_well;
using test::MessageWay;
using test::RankEnd;
using test::run_on_way;

class ApiMessages : public testing::TestWithParam<MessageWay> {};

/// Block r of rank `of` as ints: distinct everywhere.
int element(std::uint32_t of, std::uint32_t block, int i) { return static_cast<int>(of * 10000 + block * 100) + i; }

TEST_P(ApiMessages, GatherAndScatter) {
  expect_well(run_on_way(4, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    constexpr int kCount = 50;
    for (std::uint32_t root = 0; root < 4; ++root) {
      std::vector<int> mine(kCount);
      for (int i = 0; i < kCount; ++i) mine[static_cast<std::size_t>(i)] = element(rank, 0, i);
      std::vector<int> all(4 * kCount, -1);
      SAY_ERROR(comm->run({.operation = Operation::kGather,
                           .input = mine.data(),
                           .output = all.data(),
                           .count = kCount,
                           .type = DataType::kI32,
                           .root = root}));
      for (std::uint32_t r = 0; r < 4; ++r) {
        for (int i = 0; i < kCount; ++i) {
          const int expected = rank == root ? element(r, 0, i) : -1;
          if (all[r * kCount + static_cast<std::size_t>(i)] != expected) return "gather is wrong";
        }
      }
      for (std::uint32_t r = 0; r < 4; ++r) {
        for (int i = 0; i < kCount; ++i) all[r * kCount + static_cast<std::size_t>(i)] = element(root, r, i);
      }
      SAY_ERROR(comm->run({.operation = Operation::kScatter,
                           .input = rank == root ? all.data() : nullptr,
                           .output = mine.data(),
                           .count = kCount,
                           .type = DataType::kI32,
                           .root = root}));
      for (int i = 0; i < kCount; ++i) {
        if (mine[static_cast<std::size_t>(i)] != element(root, rank, i)) return "scatter is wrong";
      }
    }
    return {};
  }));
}

TEST_P(ApiMessages, UnevenBlocks) {
  expect_well(run_on_way(3, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    // Rank r contributes 2r elements; blocks lie apart.
    const std::vector<std::int64_t> counts{0, 2, 4};
    const std::vector<std::int64_t> offsets{0, 1, 5};
    std::vector<int> mine(4, 0);
    for (int i = 0; i < 4; ++i) mine[static_cast<std::size_t>(i)] = element(rank, 0, i);
    std::vector<int> all(10, -1);
    SAY_ERROR(comm->run({.operation = Operation::kAllGatherV,
                         .input = mine.data(),
                         .output = all.data(),
                         .type = DataType::kI32,
                         .receive = {counts, offsets}}));
    const std::vector<int> gathered{-1,
                                    element(1, 0, 0),
                                    element(1, 0, 1),
                                    -1,
                                    -1,
                                    element(2, 0, 0),
                                    element(2, 0, 1),
                                    element(2, 0, 2),
                                    element(2, 0, 3),
                                    -1};
    if (all != gathered) return "all_gather_v is wrong";
    // Rank r sends r + p elements to rank p.
    std::vector<std::int64_t> send;
    std::vector<std::int64_t> at;
    std::vector<int> out(30, 0);
    for (std::uint32_t p = 0; p < 3; ++p) {
      send.push_back(rank + p);
      at.push_back(10 * p);
      for (int i = 0; i < 10; ++i) out[10 * p + static_cast<std::size_t>(i)] = element(rank, p, i);
    }
    std::vector<int> in(30, -1);
    SAY_ERROR(comm->run({.operation = Operation::kAllToAllV,
                         .input = out.data(),
                         .output = in.data(),
                         .type = DataType::kI32,
                         .send = {send, at},
                         .receive = {send, at}}));
    for (std::uint32_t p = 0; p < 3; ++p) {
      for (std::uint32_t i = 0; i < 10; ++i) {
        const int expected = i < rank + p ? element(p, rank, static_cast<int>(i)) : -1;
        if (in[10 * p + i] != expected) return "all_to_all_v is wrong";
      }
    }
    return {};
  }));
}

TEST_P(ApiMessages, GroupsTakeSendsAndReceivesInAnyOrder) {
  expect_well(run_on_way(4, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::vector<int>> in(4, std::vector<int>(30'000));
      std::vector<std::vector<int>> out(4, std::vector<int>(30'000, 0));
      std::vector<Call> calls;
      for (std::uint32_t p = 0; p < 4; ++p) {
        std::fill(out[p].begin(), out[p].end(), element(rank, p, round));
        calls.push_back({.operation = Operation::kSend,
                         .input = out[p].data(),
                         .count = 30'000,
                         .type = DataType::kI32,
                         .root = p});
      }
      for (std::uint32_t p = 4; p > 0; --p) {
        calls.push_back({.operation = Operation::kReceive,
                         .output = in[p - 1].data(),
                         .count = 30'000,
                         .type = DataType::kI32,
                         .root = p - 1});
      }
      SAY_ERROR(comm->run_group(calls));
      for (std::uint32_t p = 0; p < 4; ++p) {
        if (in[p] != std::vector<int>(30'000, element(p, rank, round))) return "a message is wrong";
      }
    }
    return {};
  }));
}

TEST_P(ApiMessages, AGroupOfTooManyMessagesBeginsNothing) {
  expect_well(run_on_way(2, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    std::vector<int> memory(300);
    std::vector<Call> calls;
    for (int& each : memory) {
      Call call{.count = 1, .type = DataType::kI32, .root = 1 - rank};
      call.operation = rank == 0 ? Operation::kSend : Operation::kReceive;
      if (rank == 0) call.input = &each;
      if (rank == 1) call.output = &each;
      each = rank == 0 ? static_cast<int>(calls.size()) : -1;
      calls.push_back(call);
    }
    const Result<void> all = comm->run_group(calls);
    if (all || all.error().text.find("300 calls") == std::string::npos) return "300 messages at once are not refused";
    SAY_ERROR(comm->run_group(std::span(calls).first(256)));
    SAY_ERROR(comm->run_group(std::span(calls).subspan(256)));
    for (int i = 0; i < 300; ++i) {
      if (memory[static_cast<std::size_t>(i)] != i) return "a message is wrong";
    }
    return {};
  }));
}

TEST_P(ApiMessages, CountsThatDifferAreNamedOnBothSides) {
  const std::vector<RankEnd> ends = run_on_way(2, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    std::vector<int> memory(10);
    SAY_ERROR(rank == 0 ? comm->send(memory.data(), 5, DataType::kI32, 1)
                        : comm->receive(memory.data(), 6, DataType::kI32, 0));
    SAY_ERROR(comm->barrier());
    return "success";
  });
  for (const RankEnd& end : ends) EXPECT_NE(end.said.find("count"), std::string::npos) << end.said;
  EXPECT_EQ(ends[0].said.find("rank 0 has received"), std::string::npos) << ends[0].said;
  EXPECT_EQ(ends[1].said.find("rank 1 has sent"), std::string::npos) << ends[1].said;
}

TEST_P(ApiMessages, LongAndShortOnesOneAfterAnother) {
  expect_well(run_on_way(4, GetParam(), [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    // 0 <-> 1 and 2 <-> 3, and where the ways are mixed 1 <-> 2 also goes between hosts.
    for (const std::int64_t count : {1, 0, 4000, 700'001, 3, 262'144, 700'001}) {
      for (std::uint32_t from = 0; from < 3; ++from) {
        if (rank != from && rank != from + 1) continue;
        std::vector<int> memory(static_cast<std::size_t>(count), rank == from ? element(from, 1, 7) : -1);
        if (rank == from) {
          SAY_ERROR(comm->send(memory.data(), count, DataType::kI32, from + 1));
        } else {
          SAY_ERROR(comm->receive(memory.data(), count, DataType::kI32, from));
        }
        if (memory != std::vector<int>(static_cast<std::size_t>(count), element(from, 1, 7))) return "wrong data";
      }
    }
    return {};
  }));
}

INSTANTIATE_TEST_SUITE_P(Over, ApiMessages, testing::Values(test::kMemoryWay, test::kTcpWay, test::kMixedWay),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace hocket
