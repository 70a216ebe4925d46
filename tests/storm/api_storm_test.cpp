// Real processes through the C++ interface: every operation, dtype and operator against the serial reference, in place
// and out of place, at any alignment; several calls under way; parts of communicators.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "engine/reference.h"
#include "support/api_ranks.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using test::connect;
using test::expect_well;
using test::run_forked;

/// 1, 2 or 3 in the type, by rank and place: sums and products of few ranks are exact.
RankBytes values(const BoundCollective& what, std::uint32_t rank) {
  RankBytes bytes(static_cast<std::size_t>(input_count(what, rank) * size_of(what.type)));
  const auto element = static_cast<std::size_t>(size_of(what.type));
  constexpr std::uint16_t kHalf[3] = {0x3c00, 0x4000, 0x4200};
  constexpr std::uint16_t kBrain[3] = {0x3f80, 0x4000, 0x4040};
  for (std::size_t i = 0; i * element < bytes.size(); ++i) {
    const std::size_t which = (i * 7 + rank * 5 + i / 3) % 3;
    const auto put = [&](auto value) { std::memcpy(bytes.data() + i * element, &value, sizeof(value)); };
    switch (what.type) {
      case DataType::kF16:
        put(kHalf[which]);
        break;
      case DataType::kBf16:
        put(kBrain[which]);
        break;
      case DataType::kF32:
        put(static_cast<float>(which + 1));
        break;
      case DataType::kF64:
        put(static_cast<double>(which + 1));
        break;
      default: {
        const std::uint64_t whole = which + 1;
        std::memcpy(bytes.data() + i * element, &whole, element);
      }
    }
  }
  return bytes;
}

constexpr std::array kPlanned{Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather,
                              Operation::kBroadcast, Operation::kReduce,        Operation::kAllToAll};
constexpr std::array kKinds{CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                            CollectiveKind::kBroadcast, CollectiveKind::kReduce,        CollectiveKind::kAllToAll};

struct Case {
  std::size_t kind = 0;
  DataType type = DataType::kF32;
  ReduceOp op = ReduceOp::kSum;
  std::int64_t count = 0;
  bool in_place = false;
  std::size_t shift = 0;  // bytes off alignment
};

constexpr std::byte kUntouched{0x5a};

/// Runs one case and compares with the reference; what is nobody's output must not change.
std::string check_case(Communicator& comm, const Case& c) {
  const CollectiveKind kind = kKinds[c.kind];
  const std::uint32_t root = is_rooted(kind) ? (comm.size() - 1) : 0;
  const std::int64_t whole = c.count * (is_blocked(kind) ? comm.size() : 1);
  const BoundCollective what{{kind, comm.size(), root}, whole, c.type, reduces(kind) ? c.op : ReduceOp::kSum};
  std::vector<RankBytes> inputs;
  for (std::uint32_t r = 0; r < comm.size(); ++r) inputs.push_back(values(what, r));
  const RankBytes& mine = inputs[comm.rank()];
  const RankBytes expected = reference_result(what, inputs).value()[comm.rank()];
  RankBytes in(mine.size() + 64, kUntouched);
  const auto most = static_cast<std::size_t>(what.bytes().count);
  RankBytes out(most + 64, kUntouched);
  std::byte* output = out.data() + c.shift;
  std::byte* input = in.data() + c.shift;
  if (c.in_place) {
    input = output;
    if (kind == CollectiveKind::kAllGather) input += mine.size() * comm.rank();
    if (kind == CollectiveKind::kReduceScatter) output += expected.size() * comm.rank();
  }
  std::copy(mine.begin(), mine.end(), input);
  SAY_ERROR(comm.run({.operation = kPlanned[c.kind],
                      .input = input,
                      .output = output,
                      .count = c.count,
                      .type = c.type,
                      .reduction = c.op,
                      .root = root}));
  const auto where = fmt::format("{} of {} {} {}, in place {}, shift {}", name_of(kind), c.count, name_of(c.type),
                                 name_of(c.op), c.in_place, c.shift);
  if (!std::equal(expected.begin(), expected.end(), output)) return "wrong data: " + where;
  if (expected.empty() && !c.in_place &&
      std::any_of(out.begin(), out.end(), [](std::byte b) { return b != kUntouched; }))
    return "an output that is not this rank's was touched: " + where;
  return {};
}

std::string check_all(Communicator& comm) {
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    for (int type = 0; type < kDataTypes; ++type) {
      for (int op = 0; op < (reduces(kKinds[kind]) ? kReduceOps : 1); ++op) {
        for (const std::int64_t count : {0, 1, 37}) {
          Case c{kind, static_cast<DataType>(type), static_cast<ReduceOp>(op), count, count == 37, 0};
          if (std::string said = check_case(comm, c); !said.empty()) return said;
          c.in_place = !c.in_place && kKinds[kind] != CollectiveKind::kAllToAll;
          c.shift = 3;
          if (std::string said = check_case(comm, c); !said.empty()) return said;
        }
      }
    }
  }
  return {};
}

class ApiOperations : public testing::TestWithParam<int> {};

TEST_P(ApiOperations, EveryTypeAndOperatorIsRight) {
  expect_well(run_forked(static_cast<std::uint32_t>(GetParam()), [](std::uint32_t) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    return check_all(*comm);
  }));
}

TEST_P(ApiOperations, LongVectorsAreRight) {
  expect_well(run_forked(static_cast<std::uint32_t>(GetParam()), [](std::uint32_t) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      std::string said = check_case(*comm, {kind, DataType::kF32, ReduceOp::kSum, 700'001, false, 1});
      if (said.empty()) said = check_case(*comm, {kind, DataType::kI64, ReduceOp::kAvg, 100'003, false, 0});
      if (!said.empty()) return said;
    }
    return {};
  }));
}

INSTANTIATE_TEST_SUITE_P(Ranks, ApiOperations, testing::Values(1, 2, 3, 5));

class ApiProgress : public testing::TestWithParam<ProgressMode> {};

TEST_P(ApiProgress, SeveralCallsAreUnderWayAndKeepTheirOrder) {
  expect_well(run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect(GetParam());
    SAY_ERROR(comm);
    constexpr int kCalls = 40;
    std::vector<std::vector<std::int64_t>> memory(kCalls, std::vector<std::int64_t>(5000, rank + 1));
    std::vector<Work> works;
    for (auto& m : memory) {
      auto work = comm->start({.operation = Operation::kAllReduce,
                               .input = m.data(),
                               .output = m.data(),
                               .count = 5000,
                               .type = DataType::kI64});
      SAY_ERROR(work);
      works.push_back(std::move(*work));
    }
    // A blocking call goes after all of them.
    std::int64_t last = 1;
    SAY_ERROR(comm->all_reduce(&last, &last, 1, DataType::kI64));
    if (last != 3) return "the last is wrong";
    for (int i = kCalls - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      auto over = works[at].test();
      SAY_ERROR(over);
      if (!*over) return "a call before a finished one is not over";
      if (memory[at] != std::vector<std::int64_t>(5000, 6)) return "wrong data";
    }
    return {};
  }));
}

TEST_P(ApiProgress, TestMakesOrSeesProgress) {
  expect_well(run_forked(2, [](std::uint32_t rank) -> std::string {
    auto comm = connect(GetParam());
    SAY_ERROR(comm);
    if (rank == 1) std::this_thread::sleep_for(milliseconds(50));
    float value = 1;
    auto work = comm->start({.input = &value, .output = &value, .count = 1});
    SAY_ERROR(work);
    for (;;) {
      auto over = work->test();
      SAY_ERROR(over);
      if (*over) break;
    }
    return value == 2.0F ? "" : "wrong data";
  }));
}

TEST_P(ApiProgress, PersistentCallsRunAgainAndAgain) {
  expect_well(run_forked(2, [](std::uint32_t) -> std::string {
    auto comm = connect(GetParam());
    SAY_ERROR(comm);
    auto call = comm->prepare({.operation = Operation::kAllReduce, .count = 100, .type = DataType::kI32});
    SAY_ERROR(call);
    for (int i = 0; i < 20; ++i) {
      std::vector<int> memory(100, i);
      SAY_ERROR(call->run(memory.data(), memory.data()));
      auto work = call->start(memory.data(), memory.data());
      SAY_ERROR(work);
      SAY_ERROR(work->wait());
      if (memory != std::vector<int>(100, 4 * i)) return "wrong data";
    }
    return {};
  }));
}

INSTANTIATE_TEST_SUITE_P(Modes, ApiProgress,
                         testing::Values(ProgressMode::kShared, ProgressMode::kDedicated, ProgressMode::kCaller));

TEST(ApiReductions, PreMultipliedSums) {
  expect_well(run_forked(3, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    const Reduction by = Reduction::premultiplied_sum(rank + 1);
    std::vector<float> real(100, 2);
    std::vector<std::uint8_t> small(100, 3);
    SAY_ERROR(comm->all_reduce(real.data(), real.data(), 100, DataType::kF32, by));
    SAY_ERROR(comm->all_reduce(small.data(), small.data(), 100, DataType::kU8, by));
    if (real != std::vector<float>(100, 12)) return "wrong f32";
    if (small != std::vector<std::uint8_t>(100, 18)) return "wrong u8";
    Reduction wrong = by;
    wrong.op = ReduceOp::kMax;
    if (comm->all_reduce(real.data(), real.data(), 100, DataType::kF32, wrong)) return "a scaled max is no sum";
    return {};
  }));
}

TEST(ApiParts, SplitDupAndPartsOfParts) {
  expect_well(run_forked(5, [](std::uint32_t rank) -> std::string {
    auto comm = connect();
    SAY_ERROR(comm);
    // Odd and even ranks, in descending order; rank 4 gets none.
    std::optional<std::uint32_t> color;
    if (rank < 4) color = rank % 2;
    auto part = comm->split(color, -static_cast<std::int64_t>(rank));
    SAY_ERROR(part);
    if (part->has_value() != (rank < 4)) return "the wrong ranks got a part";
    if (*part) {
      if ((*part)->size() != 2 || (*part)->rank() != (rank < 2 ? 1U : 0U)) return "wrong place in the part";
      int sum = static_cast<int>(rank);
      SAY_ERROR((*part)->all_reduce(&sum, &sum, 1, DataType::kI32));
      if (sum != (rank % 2 == 0 ? 2 : 4)) return "wrong sum in the part";
      auto twin = (*part)->dup();
      SAY_ERROR(twin);
      SAY_ERROR(twin->barrier());
    }
    SAY_ERROR(comm->barrier());
    return {};
  }));
}

}  // namespace
}  // namespace hocket
