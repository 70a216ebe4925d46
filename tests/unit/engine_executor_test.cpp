#include "engine/executor.h"

#include <gtest/gtest.h>

#include <optional>

#include "support/small_schedules.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using test::rough_inputs;
using test::small_integer_inputs;

constexpr std::byte kCanary{0x5c};
constexpr std::size_t kRoom = 64;

Plan plan_of(Result<Schedule> schedule, std::int64_t count, DataType type, ReduceOp op, std::int64_t segment) {
  EXPECT_TRUE(schedule.has_value()) << schedule.error().text;
  auto verified = prove(std::move(*schedule));
  EXPECT_TRUE(verified.has_value()) << verified.error().text;
  const BoundCollective what{verified->schedule().collective(), count, type, op};
  auto plan = Plan::bind(std::move(*verified), what, {segment});
  EXPECT_TRUE(plan.has_value()) << plan.error().text;
  return std::move(*plan);
}

/// Caller's memory around which canaries stand, at any alignment.
struct Outputs {
  Outputs(const Plan& plan, std::size_t misalignment) : shift(misalignment) {
    const auto bytes = static_cast<std::size_t>(plan.output_bytes().count);
    memory.assign(plan.what().collective.ranks, RankBytes(bytes + 2 * kRoom, kCanary));
  }
  [[nodiscard]] std::byte* at(std::uint32_t rank) { return memory[rank].data() + kRoom + shift; }
  /// What the rank got, "canary" when something outside was touched.
  [[nodiscard]] std::optional<RankBytes> result(const Plan& plan, std::uint32_t rank) const {
    const auto bytes = static_cast<std::size_t>(output_count(plan.what(), rank) * size_of(plan.what().type));
    const RankBytes& all = memory[rank];
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool inside = i >= kRoom + shift && i < kRoom + shift + bytes;
      if (!inside && all[i] != kCanary) return std::nullopt;
    }
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(kRoom + shift);
    return RankBytes(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  }
  std::size_t shift;
  std::vector<RankBytes> memory;
};

/// An empty string, or the first rank whose bytes differ from `want`.
std::string difference(const Plan& plan, const Outputs& outputs, const std::vector<RankBytes>& want) {
  for (std::uint32_t r = 0; r < want.size(); ++r) {
    const auto got = outputs.result(plan, r);
    if (!got) return fmt::format("rank {} wrote outside its output", r);
    if (*got != want[r]) return fmt::format("rank {} has wrong data", r);
  }
  return "";
}

std::string run_and_compare(const Plan& plan, const std::vector<RankBytes>& inputs, ExecuteOptions options,
                            std::size_t shift) {
  Outputs outputs(plan, shift);
  std::vector<RankBuffers> buffers;
  for (std::uint32_t r = 0; r < inputs.size(); ++r) buffers.push_back({inputs[r].data(), outputs.at(r)});
  const auto report = execute(plan, buffers, options);
  if (!report) return report.error().text;
  const auto want = interpret(plan, inputs);
  return want ? difference(plan, outputs, *want) : want.error().text;
}

std::vector<Result<Schedule>> shapes(std::uint32_t n) {
  std::vector<Result<Schedule>> all;
  all.push_back(test::ring_all_reduce(n, 2));
  all.push_back(test::tree_broadcast(n, n / 2));
  all.push_back(test::tree_reduce(n, n - 1));
  all.push_back(test::direct_all_to_all(n));
  all.push_back(test::ring_all_gather(n));
  all.push_back(test::direct_reduce_scatter(n));
  all.push_back(test::doubling_all_reduce(n));
  return all;
}

TEST(EngineCut, FollowsThePlan) {
  const Plan plan = plan_of(test::ring_all_reduce(2, 1), 1001, DataType::kF32, ReduceOp::kSum, 52);
  for (OpId id = 0; id < plan.schedule().ops().size(); ++id) {
    const Cut cut(plan.bytes(id), 4, plan.segments(id));
    for (std::uint32_t s = 0; s <= cut.segments(); ++s) {
      ASSERT_EQ(cut.begin(s), plan.segment_begin(plan.bytes(id), s, cut.segments()));
    }
  }
}

TEST(EngineExecutor, EveryShapeGivesTheInterpretersBits) {
  Random random(7);
  for (std::uint32_t n = 1; n <= 5; ++n) {
    for (auto& schedule : shapes(n)) {
      const std::uint32_t ranks = schedule.value().collective().ranks;
      const std::int64_t count = 12 * ranks * static_cast<std::int64_t>(1 + random.below(30));
      const auto type = static_cast<DataType>(random.below(kDataTypes));
      const auto op = static_cast<ReduceOp>(random.below(kReduceOps));
      const Plan plan = plan_of(std::move(schedule), count, type, op, 64);
      for (const std::uint32_t threads : {0U, 1U, 2U}) {
        const auto inputs = rough_inputs(plan.what(), random);
        EXPECT_EQ(run_and_compare(plan, inputs, {.threads = threads}, random.below(17)), "")
            << plan.schedule().algorithm() << " ranks " << ranks << " " << name_of(type) << " " << name_of(op);
      }
    }
  }
}

TEST(EngineExecutor, EveryTypeAndOperatorAgreesWithTheDefinition) {
  Random random(11);
  for (int type = 0; type < kDataTypes; ++type) {
    for (int op = 0; op < kReduceOps; ++op) {
      for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{37}}) {
        const Plan plan =
            plan_of(test::ring_all_reduce(3, 1), count, static_cast<DataType>(type), static_cast<ReduceOp>(op), 8);
        const auto inputs = small_integer_inputs(plan.what(), random);
        ASSERT_EQ(run_and_compare(plan, inputs, {}, 1), "");
        EXPECT_EQ(interpret(plan, inputs).value(), reference_result(plan.what(), inputs).value())
            << name_of(plan.what().type) << " " << name_of(plan.what().op) << " count " << count;
      }
    }
  }
}

TEST(EngineExecutor, WorksInPlaceWhetherTheScheduleCanOrNot) {
  Random random(3);
  for (auto& schedule : shapes(4)) {
    const Plan plan = plan_of(std::move(schedule), 16 * 12, DataType::kI32, ReduceOp::kSum, 32);
    const auto inputs = small_integer_inputs(plan.what(), random);
    const auto want = reference_result(plan.what(), inputs).value();
    std::vector<RankBytes> memory(4, RankBytes(static_cast<std::size_t>(plan.what().bytes().count)));
    std::vector<RankBuffers> buffers;
    for (std::uint32_t r = 0; r < 4; ++r) {
      std::byte* input = memory[r].data() + plan.input_base(r);
      std::copy(inputs[r].begin(), inputs[r].end(), input);
      buffers.push_back({input, memory[r].data() + plan.output_base(r)});
    }
    const auto report = execute(plan, buffers);
    ASSERT_TRUE(report.has_value()) << report.error().text;
    for (std::uint32_t r = 0; r < 4; ++r) {
      const auto begin = memory[r].begin() + plan.output_base(r);
      EXPECT_TRUE(std::equal(want[r].begin(), want[r].end(), begin)) << plan.schedule().algorithm() << " rank " << r;
    }
  }
}

TEST(EngineExecutor, RunsAgainWithOtherBuffersAndManyRanksOnFewThreads) {
  Random random(5);
  const Plan plan = plan_of(test::ring_all_reduce(64, 1), 640, DataType::kF32, ReduceOp::kSum, 16);
  auto executor = Executor::create(plan, {.threads = 2});
  ASSERT_TRUE(executor.has_value());
  for (int i = 0; i < 20; ++i) {
    const auto inputs = rough_inputs(plan.what(), random);
    Outputs outputs(plan, 0);
    std::vector<RankBuffers> buffers;
    for (std::uint32_t r = 0; r < 64; ++r) buffers.push_back({inputs[r].data(), outputs.at(r)});
    const auto ok = (*executor)->run(buffers);
    ASSERT_TRUE(ok.has_value()) << ok.error().text;
    ASSERT_EQ(difference(plan, outputs, interpret(plan, inputs).value()), "") << "run " << i;
    EXPECT_EQ((*executor)->report().ops, plan.schedule().ops().size());
  }
}

TEST(EngineExecutor, ManyShortRunsEndEvenWithSleepAtOnce) {
  Random random(6);
  const Plan plan = plan_of(test::doubling_all_reduce(4), 8, DataType::kI64, ReduceOp::kMax, 16);
  auto executor = Executor::create(plan, {.threads = 4, .spins_max = 1});
  const auto inputs = small_integer_inputs(plan.what(), random);
  const auto want = reference_result(plan.what(), inputs).value();
  for (int i = 0; i < 2000; ++i) {
    Outputs outputs(plan, 0);
    std::vector<RankBuffers> buffers;
    for (std::uint32_t r = 0; r < 4; ++r) buffers.push_back({inputs[r].data(), outputs.at(r)});
    ASSERT_TRUE((*executor)->run(buffers).has_value());
    ASSERT_EQ(difference(plan, outputs, want), "");
  }
}

TEST(EngineExecutor, MissingBuffersAreNamed) {
  const Plan plan = plan_of(test::tree_reduce(2, 1), 4, DataType::kI32, ReduceOp::kSum, 32);
  std::vector<std::int32_t> memory(4);
  std::vector<RankBuffers> buffers{{memory.data(), nullptr}, {memory.data(), nullptr}};
  const auto no_output = execute(plan, buffers);
  ASSERT_FALSE(no_output.has_value());
  EXPECT_EQ(no_output.error().text, "rank 1: no output buffer");  // rank 0 is not the root and needs none
  EXPECT_FALSE(execute(plan, std::span(buffers).first(1)).has_value());
}

// Faults of the world, planted between engine and transport.
struct Saboteur : Transport {
  explicit Saboteur(Transport& real) : inner(&real) {}
  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
    inner->offer(send, segments, memory);
  }
  const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) override {
    return inner->bytes(receive, segment);
  }
  void acknowledge(const MessageEnd& receive, std::uint32_t segment) override { inner->acknowledge(receive, segment); }
  bool poll(TransportEvents& events) override { return inner->poll(events); }
  Transport* inner;
};

struct DropsAnAcknowledgement : Saboteur {
  using Saboteur::Saboteur;
  void acknowledge(const MessageEnd& receive, std::uint32_t segment) override {
    if (segment != 1) inner->acknowledge(receive, segment);
  }
};

struct DropsAnOffer : Saboteur {
  using Saboteur::Saboteur;
  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
    if (segments.count > 1) segments.count -= 1;
    inner->offer(send, segments, memory);
  }
};

struct ReadsTheWrongSegment : Saboteur {
  using Saboteur::Saboteur;
  const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) override {
    return inner->bytes(receive, segment == 1 ? 0 : segment);
  }
};

struct AcknowledgesTwice : Saboteur {
  using Saboteur::Saboteur;
  void acknowledge(const MessageEnd& receive, std::uint32_t segment) override {
    inner->acknowledge(receive, segment);
    inner->acknowledge(receive, segment);
  }
};

template <class Fault>
std::string run_with(Code* code = nullptr) {
  Random random(9);
  const Plan plan = plan_of(test::ring_all_reduce(2, 1), 64, DataType::kI32, ReduceOp::kSum, 16);
  const auto inputs = rough_inputs(plan.what(), random);
  ExecuteOptions options{.timeout = milliseconds(200)};
  options.wrap = [](std::uint32_t rank, Transport& inner) -> std::unique_ptr<Transport> {
    if (rank != 1) return nullptr;
    return std::make_unique<Fault>(inner);
  };
  Outputs outputs(plan, 0);
  std::vector<RankBuffers> buffers;
  for (std::uint32_t r = 0; r < 2; ++r) buffers.push_back({inputs[r].data(), outputs.at(r)});
  const auto report = execute(plan, buffers, options);
  if (code != nullptr) *code = report ? Code::kInternal : report.error().code;
  return report ? difference(plan, outputs, interpret(plan, inputs).value()) : report.error().text;
}

TEST(EnginePlanted, TransportFaultsAreFoundAndNamed) {
  EXPECT_EQ(run_with<Saboteur>(), "");
  Code code = Code::kInternal;
  const std::string lost_ack = run_with<DropsAnAcknowledgement>(&code);
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_NE(lost_ack.find("limit 200 ms"), std::string::npos) << lost_ack;
  EXPECT_NE(lost_ack.find("segments"), std::string::npos) << lost_ack;
  EXPECT_NE(run_with<DropsAnOffer>(&code), "");
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_EQ(run_with<ReadsTheWrongSegment>().find("wrong data"), std::string("rank 0 has ").size());
  EXPECT_NE(run_with<AcknowledgesTwice>(&code), "");
  EXPECT_EQ(code, Code::kMalformed);
}

TEST(EngineExecutor, AbortFromAnotherThreadEndsTheRunAndTheNextOneWorks) {
  const Plan plan = plan_of(test::ring_all_reduce(4, 1), 64, DataType::kI32, ReduceOp::kSum, 16);
  std::atomic<bool> broken{true};
  ExecuteOptions options{.timeout = std::chrono::seconds(20)};
  struct Mute : Saboteur {
    Mute(Transport& real, const std::atomic<bool>& muted) : Saboteur(real), on(&muted) {}
    void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
      if (!on->load()) inner->offer(send, segments, memory);
    }
    const std::atomic<bool>* on;
  };
  options.wrap = [&broken](std::uint32_t, Transport& inner) { return std::make_unique<Mute>(inner, broken); };
  auto executor = Executor::create(plan, options);
  std::vector<std::int32_t> memory(64, 1);
  std::vector<std::vector<std::int32_t>> outputs(4, std::vector<std::int32_t>(64));
  std::vector<RankBuffers> buffers;
  for (auto& output : outputs) buffers.push_back({memory.data(), output.data()});
  std::jthread aborter([&] {
    std::this_thread::sleep_for(milliseconds(20));
    (*executor)->abort("the user asked");
  });
  const auto aborted = (*executor)->run(buffers);
  ASSERT_FALSE(aborted.has_value());
  EXPECT_EQ(aborted.error().code, Code::kCancelled);
  EXPECT_EQ(aborted.error().text, "aborted: the user asked");
  broken = false;
  const auto again = (*executor)->run(buffers);
  ASSERT_TRUE(again.has_value()) << again.error().text;
  EXPECT_EQ(outputs[3], std::vector<std::int32_t>(64, 4));
}

}  // namespace
}  // namespace hocket
