#include "engine/rank_driver.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/units.h"
#include "verify/one_shot.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// Steps of the engine before the transport gets its turn, and bytes after which it does at once: the peers wait for
/// word that memory of theirs has been read.
constexpr int kStepsPerTurn = 8;
constexpr std::int64_t kBytesPerTurn = std::int64_t{128} << 10;
/// Turns between two looks at the clock while there is work, and while there is none.
constexpr std::uint32_t kTurnsPerClock = 32;
constexpr std::uint32_t kIdleTurnsPerClock = 8;
/// One-shot calls: looks at what the others show before anything else gets its turn, and calls of which one begins with
/// that turn, so that what peers say besides does not pile up.
constexpr int kLooksPerTurn = 16;
constexpr std::uint32_t kCallsPerPoll = 64;
/// A peer that was heard within this time is not called silent, nor one heard in the second half of a call's time.
constexpr std::chrono::seconds kSilence{1};
/// Of who polls and never rests: between two looks after its peers.
constexpr std::chrono::milliseconds kLookAround{20};
/// Beats in a call's time at least, so that this says something.
constexpr int kBeatsMin = 8;

MessageOp::Role role_of(OpKind kind) {
  switch (kind) {
    case OpKind::kSend:
    case OpKind::kSignal:
      return MessageOp::Role::kSend;
    case OpKind::kRecv:
    case OpKind::kRecvReduce:
    case OpKind::kWait:
      return MessageOp::Role::kReceive;
    default:
      return MessageOp::Role::kNone;
  }
}

MessageProgram messages_of(const Program& program) {
  MessageProgram messages{program.plan().fingerprint(), program.plan().what(), program.first_op(), {}};
  messages.ops.reserve(program.ops().size());
  for (const ProgramOp& op : program.ops()) messages.ops.push_back({role_of(op.kind), op.end, op.alike});
  return messages;
}

}  // namespace

Result<std::unique_ptr<RankDriver>> RankDriver::create(const Plan& plan, std::uint32_t rank, RankTransport& transport,
                                                       const DriverOptions& options) {
  if (options.timeout.count() <= 0) return fail(Code::kInvalidArgument, "timeout must be above 0");
  try {
    std::unique_ptr<RankDriver> driver(new RankDriver(plan, rank, transport, options));
    HOCKET_TRY_ASSIGN(driver->loaded_, transport.load(messages_of(driver->run_.program())));
    if (transport.shown_bytes_max() > 0) driver->one_shot_ = one_shot_bytes(plan, transport.shown_bytes_max());
    if (driver->one_shot_) driver->messages_.resize(plan.what().collective.ranks);
    return driver;
  } catch (const std::bad_alloc&) {
    return fail(Code::kResourceExhausted, "rank {}: no memory for {} of scratch", rank,
                format_bytes(plan.scratch_bytes()));
  }
}

Result<void> RankDriver::run(const RankBuffers& buffers) {
  HOCKET_TRY(start(buffers));
  while (!turn(Waiting::kSleeps)) {
  }
  return finish();
}

Result<void> RankDriver::start(const RankBuffers& buffers, std::chrono::nanoseconds timeout) {
  if (const auto& failure = transport_->failure())
    return fail(failure->code, "this communicator has failed: {}", failure->text);
  HOCKET_TRY(run_.bind(buffers));
  started_ = {};
  timeout_ = timeout.count() > 0 ? timeout : options_.timeout;
  turns_ = 0;
  idle_ = false;
  if (one_shot_) {
    const std::byte* message = run_.start_one_shot();
    transport_->begin_shown(*loaded_, {message, message == nullptr ? 0 : *one_shot_});
    return {};
  }
  transport_->begin(*loaded_);
  run_.start();
  return {};
}

Result<void> RankDriver::finish() {
  transport_->end();
  if (!outcome_) {
    if (std::exchange(watched_, false)) options_.watcher->waits_no_more();
    return {};
  }
  Error error = std::move(*outcome_);
  outcome_.reset();
  return tl::unexpected<Error>(std::move(error));
}

void RankDriver::abort(const std::string& reason) {
  aborted_.report({Code::kCancelled, fmt::format("{}: aborted: {}", own_name(), reason)});
  transport_->interrupt();
}

bool RankDriver::step() {
  Engine& engine = run_.engine();
  const std::int64_t end = engine.counters().bytes_received + kBytesPerTurn;
  int steps = 0;
  while (steps < kStepsPerTurn && engine.counters().bytes_received < end && engine.step()) ++steps;
  return steps > 0;
}

bool RankDriver::take_shown() {
  if (!idle_ && turns_ == 0 && ++one_shot_calls_ % kCallsPerPoll == 0) return false;
  if (aborted_.set() || (options_.stop != nullptr && options_.stop->set())) return false;
  const int looks = shares_core() ? 1 : kLooksPerTurn;
  for (int look = 1; !transport_->all_shown(); ++look) {
    if (look == looks) return false;
    pause_briefly();
  }
  for (std::uint32_t rank = 0; rank < messages_.size(); ++rank) messages_[rank] = transport_->shown(rank);
  run_.engine().finish_one_shot(messages_);
  return true;
}

bool RankDriver::turn(Waiting waiting) {
  Engine& engine = run_.engine();
  const bool stepped = !one_shot_ && step();
  if (one_shot_ ? take_shown() : engine.done() && transport_->flushed()) return true;
  const bool moved = transport_->poll(engine) || stepped;
  if (engine.error()) return end(*engine.error());
  if (aborted_.set()) return end(aborted_.error());
  if (options_.stop != nullptr && options_.stop->set()) return end(options_.stop->error());
  if (moved) {
    stop_waiting();
    if (++turns_ % kTurnsPerClock != 0) return false;
  } else if (idle_ && !slept_ && ++turns_ % kIdleTurnsPerClock != 0) {
    pause_briefly();
    return false;
  }
  const SteadyTime now = steady_clock::now();
  if (started_ == SteadyTime{}) {  // in the first wait, so that a call that never waits does without the clock
    started_ = now;
    beat_at_ = now + heartbeat();
    look_at_ = now + kLookAround;
  }
  if (now - started_ >= timeout_) {
    const std::chrono::duration<double> limit = timeout_;
    return end({Code::kTimeout, fmt::format("{}: not done within {}", own_name(), format_seconds({limit.count()}))});
  }
  if (!moved) waiting == Waiting::kSleeps ? wait(now) : look_around(now);
  return false;
}

std::chrono::nanoseconds RankDriver::heartbeat() const { return std::min(options_.heartbeat, timeout_ / kBeatsMin); }

void RankDriver::stop_waiting() {
  if (std::exchange(idle_, false)) spin_.ended(!slept_);
}

void RankDriver::wait(SteadyTime now) {
  if (!std::exchange(idle_, true)) {
    idle_since_ = now;
    slept_ = false;
  }
  if (now >= beat_at_) return beat(now);
  const bool spins = !one_shot_ || !shares_core();
  if (spins && now - idle_since_ < spin_.limit()) return pause_briefly();
  slept_ = true;
  transport_->rest(std::min(started_ + timeout_, beat_at_));
}

/// The next poll sends it.
void RankDriver::beat(SteadyTime now) {
  transport_->rest(now);  // who spins for good looks after its peers too, which some transports do only there
  transport_->beat(suspect());
  beat_at_ = now + heartbeat();
  const bool long_enough = !options_.watched_late || now - started_ >= timeout_ / 2;
  if (options_.watcher != nullptr && long_enough && !std::exchange(watched_, true)) options_.watcher->waits(suspect());
}

/// For callers that never sleep here: a look after the peers is a rest of no time.
void RankDriver::look_around(SteadyTime now) {
  if (now >= beat_at_) return beat(now);
  if (now < look_at_) return;
  transport_->rest(now);
  look_at_ = now + kLookAround;
}

bool RankDriver::end(Error error) {
  // What another rank has told of this call says already which call it is, and who is late.
  const std::string call = transport_->call_text();
  const bool named = !call.empty() && error.text.find(call) != std::string::npos;
  if (error.code == Code::kTimeout && !named) {
    // A peer that has said for whom it waits is not the one to blame.
    const std::chrono::nanoseconds silence = std::min<std::chrono::nanoseconds>(kSilence, timeout_ / 2);
    const std::string chain = options_.watcher == nullptr ? "" : options_.watcher->chain(suspect());
    const std::string late = chain.empty() ? transport_->late_ranks(suspect(), silence) : chain;
    if (!late.empty()) error.text += "; " + late;
  }
  error.text += fmt::format("; {}: {}", named ? "here" : call, position());
  transport_->fail(error);
  outcome_ = std::move(error);
  return true;
}

std::uint32_t RankDriver::suspect() const { return one_shot_ ? transport_->not_shown() : run_.engine().suspect(); }

std::string RankDriver::position_of_one_shot() const {
  for (const ProgramOp& op : run_.program().ops()) {
    const Op& o = run_.program().plan().schedule().op(op.end.op);
    if (!o.receives() || o.peer != transport_->not_shown()) continue;
    return fmt::format("step {}, {} has finished 0 of 1 segments", o.step,
                       run_.program().plan().schedule().describe(op.end.op));
  }
  return "all messages have come";
}

std::string RankDriver::own_name() const {
  if (!options_.name.empty()) return options_.name;
  const std::uint32_t rank = run_.program().rank();
  return fmt::format("rank {}", options_.called.empty() ? rank : options_.called[rank]);
}

std::string RankDriver::position() const {
  if (one_shot_) return position_of_one_shot();
  if (!options_.called.empty()) return run_.engine().waits_for(options_.called);
  return fmt::format("step {}, {}", run_.engine().waiting_step(), run_.engine().waits_for());
}

}  // namespace hocket
