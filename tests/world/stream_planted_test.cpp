// Planted bugs of the engine, the stream protocol and its shell, one at a time and at every rank: the judge of the
// world of streams must find each within the seeds. Each is named after what it does wrong.
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <set>

#include "support/stream_world.h"

namespace hocket {
namespace {

using test::draw_stream_case;
using test::judge;
using test::LeavingFrame;
using test::PlantedBug;
using test::run_streams;
using test::StreamBug;
using test::StreamScenario;

constexpr std::uint64_t kSeeds = 700;  // as many as the world has without bugs

// Between engine and protocol.

/// A send's memory is the engine's again when it is offered, not when it is sent or taken.
struct FreesSendsWhenOffered : StreamBug {
  void begin() override { early.clear(); }
  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
    StreamBug::offer(send, segments, memory);
    early.emplace_back(send.op, segments.count);
  }
  bool poll(TransportEvents& engine) override {
    const bool moved = StreamBug::poll(engine) || !early.empty();
    for (const auto& [op, segments] : std::exchange(early, {})) engine_->acknowledged(op, segments);
    return moved;
  }
  void acknowledged(OpId /*send*/, std::uint32_t /*segments*/) override {}
  std::vector<std::pair<OpId, std::uint32_t>> early;
};

/// Bytes land in the result although ops before theirs still use the place.
struct LandsTooEarly : StreamBug {
  std::byte* landing(OpId receive, std::uint32_t segment) override {
    const ProgramOp& op = engine_->program().op(receive);
    if (op.kind != OpKind::kRecv || op.target.buffer != Buffer::kOutput) return StreamBug::landing(receive, segment);
    return output_ + op.target.offset + op.end.cut.begin(segment);
  }
};

/// A segment counts as used when it arrives: its slot is free again, or its lender is thanked.
struct IsThroughWithSegmentsThatArrive : StreamBug {
  void begin() override { count.clear(); }
  void arrived(OpId receive, std::uint32_t segments) override {
    StreamBug::arrived(receive, segments);
    for (std::uint32_t i = 0; i < segments; ++i)
      protocol_->acknowledge(engine_->program().op(receive).end, count[receive]++);
  }
  void acknowledge(const MessageEnd& /*receive*/, std::uint32_t /*segment*/) override {}
  std::map<OpId, std::uint32_t> count;
};

/// Of segments that arrive between two turns only the first wakes its op.
struct ForgetsArrivalsThatComeTogether : StreamBug {
  void begin() override { fresh.clear(); }
  void arrived(OpId receive, std::uint32_t segments) override {
    if (fresh.insert(receive).second) StreamBug::arrived(receive, segments);
  }
  bool poll(TransportEvents& engine) override {
    fresh.clear();
    return StreamBug::poll(engine);
  }
  std::set<OpId> fresh;
};

/// A staged send leaves from its source, which the ops after it overwrite.
struct SendsStagedFromTheSource : StreamBug {
  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
    const ProgramOp& op = engine_->program().op(send.op);
    const bool instead = op.staged && memory != nullptr && op.source.buffer == Buffer::kOutput;
    StreamBug::offer(send, segments, instead ? output_ + op.source.offset : memory);
  }
};

// In the protocol and its shell.

/// A call ends before the peers have taken what they were lent.
struct EndsBeforeLoansAreTaken : StreamBug {
  [[nodiscard]] bool call_may_end(bool /*flushed*/, bool all_sent) const override { return all_sent; }
};

/// A call ends before what was offered has left.
struct EndsBeforeAllIsSent : StreamBug {
  [[nodiscard]] bool call_may_end(bool /*flushed*/, bool /*all_sent*/) const override { return true; }
};

/// A call whose messages are shown ends when its own is.
struct EndsBeforeAllHaveShown : StreamBug {
  [[nodiscard]] bool have_shown(bool /*all*/) const override { return true; }
};

/// What a peer shows of another call is not there yet.
struct WaitsForWhoIsInAnotherCall : StreamBug {
  [[nodiscard]] bool looks_at_boards() const override { return false; }
};

/// A lent segment is read where the one before it lies.
struct ReadsTheLoanBefore : StreamBug {
  [[nodiscard]] const std::byte* lent_from(const std::byte* where, std::uint32_t segment,
                                           std::size_t bytes) const override {
    return segment == 0 ? where : where - bytes;
  }
};

/// What peers have bounced is looked for in the area of rank 0.
struct ReadsTheAreaOfRank0 : StreamBug {
  [[nodiscard]] std::uint32_t area_of(std::uint32_t /*rank*/) const override { return 0; }
};

/// What was held because its peer was a call ahead is taken up on the first stream to each peer only.
struct LeavesFurtherStreamsHeld : StreamBug {
  [[nodiscard]] bool resumes(std::uint32_t stream) const override {
    return engine_ == nullptr || stream < engine_->program().plan().what().collective.ranks;
  }
};

/// The end of a connection is nothing to report.
struct TakesAnEndForSilence : StreamBug {
  [[nodiscard]] bool sees_the_end(std::uint32_t /*stream*/) const override { return false; }
};

/// Whose stream ends without a word is the dead rank, although it may only have heard of a death.
struct BlamesTheFirstThatIsGone : StreamBug {
  [[nodiscard]] bool judges_at_once() const override { return true; }
};

/// A write that took a part counts as whole.
struct TakesAPartOfAWriteForAll : StreamBug {
  [[nodiscard]] std::size_t written(std::size_t /*moved*/, std::size_t wanted) const override { return wanted; }
};

/// Messages leave on another lane than their receiver expects.
struct TakesAnotherLane : StreamBug {
  MessageProgram announced(MessageProgram program) override {
    for (MessageOp& op : program.ops)
      if (op.role == MessageOp::Role::kSend) ++op.end.lane;
    return program;
  }
};

/// Where a lane has two connections the sender counts its turns from one.
struct TakesAnotherTurn : StreamBug {
  MessageProgram announced(MessageProgram program) override {
    for (MessageOp& op : program.ops)
      if (op.role == MessageOp::Role::kSend) ++op.end.turn;
    return program;
  }
};

/// What ranks compare leaves out the operator and the plan.
struct ComparesNoOperator : StreamBug {
  MessageProgram announced(MessageProgram program) override {
    program.what.op = ReduceOp::kSum;
    program.plan = {};
    return program;
  }
};

// In the frames that leave.

struct SendsNoHello : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    if (frame.header.kind != FrameKind::kHello) StreamBug::leave(stream, std::move(frame), wire);
  }
};

/// The mark that stands for a hello like the one before is lost.
struct LosesItsGreeting : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    frame.header.greets = false;
    StreamBug::leave(stream, std::move(frame), wire);
  }
};

/// Every call greets as if it were like the one before.
struct GreetsAlways : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    if (frame.header.kind == FrameKind::kHello && frame.header.sequence > 1) {
      frame.header.greets = true;
      frame.payload.clear();
    }
    StreamBug::leave(stream, std::move(frame), wire);
  }
};

/// Segments carry the fingerprint of the first call for ever.
struct KeepsAStaleFingerprint : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    if (frame.header.kind == FrameKind::kSegment)
      frame.header.fingerprint = first.try_emplace(stream, frame.header.fingerprint).first->second;
    StreamBug::leave(stream, std::move(frame), wire);
  }
  std::map<std::uint32_t, Fingerprint> first;
};

/// The first two segments of a message leave in the wrong order.
struct SwapsSegments : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    const FrameHeader& h = frame.header;
    const bool early = h.kind == FrameKind::kSegment && h.segment == 0 && segments_of(h.op) > 1;
    if (early && !held.contains(stream)) {
      held.emplace(stream, std::move(frame));
      return;
    }
    const auto before = held.find(stream);
    const bool follows = before != held.end() && h.kind == FrameKind::kSegment && h.op == before->second.header.op;
    StreamBug::leave(stream, std::move(frame), wire);
    if (!follows) return;
    wire.push_back(std::move(before->second));
    held.erase(before);
  }
  /// Of the message that ends in that op of a peer.
  [[nodiscard]] std::uint32_t segments_of(OpId match) const {
    for (const ProgramOp& op : engine_->program().ops())
      if (op.end.match == match) return op.end.cut.segments();
    return 0;
  }
  std::map<std::uint32_t, LeavingFrame> held;
};

/// Every third segment leaves twice.
struct RepeatsSegments : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    if (frame.header.kind == FrameKind::kSegment && ++count % 3 == 0) wire.push_back(frame);
    StreamBug::leave(stream, std::move(frame), wire);
  }
  int count = 0;
};

/// A lender is thanked twice for the same segments.
struct ThanksTwice : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    if (frame.header.kind == FrameKind::kConsumed) wire.push_back(frame);
    StreamBug::leave(stream, std::move(frame), wire);
  }
};

/// Of the thanks for the segments of one message only the last is said.
struct ThanksOncePerMessage : StreamBug {
  void begin() override { thanked.clear(); }
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    const bool again = frame.header.kind == FrameKind::kConsumed && !thanked.insert(frame.header.op).second;
    if (!again) StreamBug::leave(stream, std::move(frame), wire);
  }
  std::set<OpId> thanked;
};

struct KeepsItsErrorToItself : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    if (frame.header.kind != FrameKind::kAbort) StreamBug::leave(stream, std::move(frame), wire);
  }
};

/// A rank that was told of an error passes on that it has failed, and not why.
struct PassesOnNoCause : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    constexpr std::string_view kWords = "it has failed";
    const auto words = std::as_bytes(std::span(kWords));
    if (frame.header.kind == FrameKind::kAbort) frame.payload.assign(words.begin(), words.end());
    StreamBug::leave(stream, std::move(frame), wire);
  }
};

/// Who leaves says goodbye as of the call before.
struct SaysGoodbyeOfTheCallBefore : StreamBug {
  void leave(std::uint32_t stream, LeavingFrame frame, std::vector<LeavingFrame>& wire) override {
    if (frame.header.kind == FrameKind::kBye) --frame.header.sequence;
    StreamBug::leave(stream, std::move(frame), wire);
  }
};

struct Plant {
  const char* name;
  StreamScenario scenario;
  PlantedBug bug;
};

void PrintTo(const Plant& p, std::ostream* out) { *out << p.name; }

template <class Bug>
Plant plant(const char* name, StreamScenario scenario = StreamScenario::kClean,
            std::optional<std::uint64_t> lend_one_of = {}, std::optional<bool> bounces = {}) {
  return {name, scenario, {[] { return std::make_unique<Bug>(); }, lend_one_of, bounces}};
}

/// What the judge says first, with its seed; empty when it finds nothing.
std::string found(const PlantedBug& bug, StreamScenario scenario, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const test::SimulatedCase c = draw_stream_case(scenario, seed);
    const std::string wrong = judge(scenario, c, run_streams(scenario, c, bug));
    if (!wrong.empty()) return fmt::format("seed {}: {}", seed, wrong);
  }
  return "";
}

class StreamPlanted : public testing::TestWithParam<Plant> {};

TEST_P(StreamPlanted, IsFound) {
  const std::string how = found(GetParam().bug, GetParam().scenario, kSeeds);
  EXPECT_NE(how, "") << GetParam().name << " was not found in " << kSeeds << " seeds";
  RecordProperty("found", how);
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, StreamPlanted,
    testing::Values(
        plant<FreesSendsWhenOffered>("FreesSendsWhenOffered", StreamScenario::kClean, 0, false),
        plant<LandsTooEarly>("LandsTooEarly", StreamScenario::kClean, 0, false),
        plant<IsThroughWithSegmentsThatArrive>("FreesSlotsOfSegmentsThatArrive", StreamScenario::kClean, 0, false),
        plant<IsThroughWithSegmentsThatArrive>("ThanksForBouncedThatArrive", StreamScenario::kClean, 0, true),
        plant<EndsBeforeLoansAreTaken>("EndsBeforeBouncedAreTaken", StreamScenario::kClean, 0, true),
        plant<ReadsTheAreaOfRank0>("ReadsTheAreaOfRank0", StreamScenario::kClean, 0, true),
        plant<ThanksTwice>("ThanksTwiceForBounced", StreamScenario::kClean, 0, true),
        plant<ThanksOncePerMessage>("ThanksOncePerBouncedMessage", StreamScenario::kClean, 0, true),
        plant<IsThroughWithSegmentsThatArrive>("ThanksForSegmentsThatArrive", StreamScenario::kClean, 1),
        plant<ForgetsArrivalsThatComeTogether>("ForgetsArrivalsThatComeTogether"),
        plant<SendsStagedFromTheSource>("SendsStagedFromTheSource"),
        plant<EndsBeforeLoansAreTaken>("EndsBeforeLoansAreTaken", StreamScenario::kClean, 1),
        plant<EndsBeforeAllIsSent>("EndsBeforeAllIsSent", StreamScenario::kClean, 0, false),
        plant<EndsBeforeAllHaveShown>("EndsBeforeAllHaveShown"),
        plant<WaitsForWhoIsInAnotherCall>("WaitsForWhoIsInAnotherCall", StreamScenario::kMismatch),
        plant<ReadsTheLoanBefore>("ReadsTheLoanBefore", StreamScenario::kClean, 1),
        plant<LeavesFurtherStreamsHeld>("LeavesFurtherStreamsHeld"),
        plant<TakesAnEndForSilence>("TakesAnEndForSilence", StreamScenario::kDeath),
        plant<BlamesTheFirstThatIsGone>("BlamesTheFirstThatIsGone", StreamScenario::kDeath),
        plant<TakesAPartOfAWriteForAll>("TakesAPartOfAWriteForAll"), plant<TakesAnotherLane>("TakesAnotherLane"),
        plant<TakesAnotherTurn>("TakesAnotherTurn"),
        plant<ComparesNoOperator>("ComparesNoOperator", StreamScenario::kMismatch),
        plant<SendsNoHello>("SendsNoHello", StreamScenario::kMismatch), plant<LosesItsGreeting>("LosesItsGreeting"),
        plant<GreetsAlways>("GreetsAlways", StreamScenario::kMismatch),
        plant<KeepsAStaleFingerprint>("KeepsAStaleFingerprint"), plant<SwapsSegments>("SwapsSegments"),
        plant<RepeatsSegments>("RepeatsSegments"), plant<ThanksTwice>("ThanksTwice", StreamScenario::kClean, 1),
        plant<ThanksOncePerMessage>("ThanksOncePerMessage", StreamScenario::kClean, 1),
        plant<KeepsItsErrorToItself>("KeepsItsErrorToItself", StreamScenario::kDeath),
        plant<PassesOnNoCause>("PassesOnNoCause", StreamScenario::kDeath),
        plant<SaysGoodbyeOfTheCallBefore>("SaysGoodbyeOfTheCallBefore")),
    [](const auto& param) { return std::string(param.param.name); });

/// What looks at every frame and changes none is no bug.
TEST(StreamPlantedNothing, IsNotFound) {
  const PlantedBug nothing{[] { return std::make_unique<StreamBug>(); }, {}, {}};
  for (int s = 0; s < test::kStreamScenarios; ++s) EXPECT_EQ(found(nothing, static_cast<StreamScenario>(s), 100), "");
}

}  // namespace
}  // namespace hocket
