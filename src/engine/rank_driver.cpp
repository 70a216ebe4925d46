#include "engine/rank_driver.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/units.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// Steps of the engine before the transport gets its turn.
constexpr int kStepsPerTurn = 8;
/// Turns between two looks at the clock while there is work.
constexpr std::uint32_t kTurnsPerClock = 32;

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
  for (const ProgramOp& op : program.ops()) messages.ops.push_back({role_of(op.kind), op.end});
  return messages;
}

}  // namespace

Result<std::unique_ptr<RankDriver>> RankDriver::create(const Plan& plan, std::uint32_t rank, RankTransport& transport,
                                                       const DriverOptions& options) {
  if (options.timeout.count() <= 0) return fail(Code::kInvalidArgument, "timeout must be above 0");
  try {
    std::unique_ptr<RankDriver> driver(new RankDriver(plan, rank, transport, options));
    HOCKET_TRY_ASSIGN(driver->loaded_, transport.load(messages_of(driver->run_.program())));
    return driver;
  } catch (const std::bad_alloc&) {
    return fail(Code::kResourceExhausted, "rank {}: no memory for {} of scratch", rank,
                format_bytes(plan.scratch_bytes()));
  }
}

Result<void> RankDriver::run(const RankBuffers& buffers) {
  if (const auto& failure = transport_->failure())
    return fail(failure->code, "this communicator has failed: {}", failure->text);
  HOCKET_TRY(run_.bind(buffers));
  started_ = steady_clock::now();
  beat_at_ = started_ + options_.heartbeat;
  transport_->begin(*loaded_);
  run_.start();
  Result<void> result = drive();
  transport_->end();
  return result;
}

void RankDriver::abort(const std::string& reason) {
  aborted_.report({Code::kCancelled, fmt::format("rank {}: aborted: {}", run_.program().rank(), reason)});
  transport_->interrupt();
}

bool RankDriver::step() {
  Engine& engine = run_.engine();
  bool moved = false;
  for (int i = 0; i < kStepsPerTurn && engine.step(); ++i) moved = true;
  return moved;
}

Result<void> RankDriver::drive() {
  Engine& engine = run_.engine();
  std::uint32_t turns = 0;
  idle_ = false;
  for (;;) {
    const bool stepped = step();
    if (engine.done() && transport_->flushed()) return {};
    const bool moved = transport_->poll(engine) || stepped;
    if (engine.error()) return stop(*engine.error());
    if (aborted_.set()) return stop(aborted_.error());
    if (moved) {
      stop_waiting();
      if (++turns % kTurnsPerClock != 0) continue;
    }
    const SteadyTime now = steady_clock::now();
    if (now - started_ >= options_.timeout) {
      const std::chrono::duration<double> limit = options_.timeout;
      return stop({Code::kTimeout,
                   fmt::format("rank {}: not done within {}", run_.program().rank(), format_seconds({limit.count()}))});
    }
    if (moved) continue;
    wait(now);
  }
}

void RankDriver::stop_waiting() {
  if (std::exchange(idle_, false)) spin_.ended(!slept_);
}

void RankDriver::wait(SteadyTime now) {
  if (!std::exchange(idle_, true)) {
    idle_since_ = now;
    slept_ = false;
  }
  if (now - idle_since_ < spin_.limit()) return pause_briefly();
  if (now >= beat_at_) {
    transport_->beat(run_.engine().suspect());
    beat_at_ = now + options_.heartbeat;
    return;  // the next poll sends it
  }
  slept_ = true;
  transport_->rest(std::min(started_ + options_.timeout, beat_at_));
}

tl::unexpected<Error> RankDriver::stop(Error error) {
  if (error.code == Code::kTimeout) {
    const std::string late = transport_->late_ranks();
    if (!late.empty()) error.text += "; " + late;
  }
  error.text += fmt::format("; {}: {}", transport_->call_text(), position());
  transport_->fail(error);
  return tl::unexpected<Error>(std::move(error));
}

std::string RankDriver::position() const {
  return fmt::format("step {}, {}", run_.engine().waiting_step(), run_.engine().waits_for());
}

}  // namespace hocket
