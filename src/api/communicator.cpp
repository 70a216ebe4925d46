#include "hocket/communicator.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/ranges.h>

#include "api/core.h"
#include "base/listing.h"
#include "transport/shared_memory.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// Waits beyond this are cut: the deadline of a call comes first.
constexpr std::chrono::hours kWaitMax{24};
constexpr std::string_view kName = "communicator";

/// In a forked child nothing may be closed, joined or said: all of it is the parent's.
void drop(std::shared_ptr<CommunicatorCore>& core) {
  if (core && core->in_child()) new std::shared_ptr<CommunicatorCore>(core);  // never destroyed
  core.reset();
}

/// Ranks whose lists differ look for each other in vain, and cannot tell.
Error in_shrink(Error error, std::uint32_t ranks, std::span<const std::uint32_t> lost) {
  const std::string names =
      lost.empty() ? "none" : fmt::format("{}", fmt::join(lost.first(listed_of(lost.size())), ", "));
  error.text += fmt::format("; in shrink of {} ranks without {}{}: all that are left must call it, with the same list",
                            ranks, names, and_more(lost.size()));
  return error;
}

Result<void> check_held(const std::shared_ptr<CommunicatorCore>& core, std::string_view what) {
  if (core) return {};
  return fail(Code::kInvalidArgument, "this {} holds nothing: it was moved from, or never made", what);
}

}  // namespace

Work::Work(Work&& other) noexcept { *this = std::move(other); }

Work& Work::operator=(Work&& other) noexcept {
  if (this == &other) return *this;
  finish();
  core_ = std::move(other.core_);
  more_ = std::move(other.more_);
  first_ = other.first_;
  open_ = std::exchange(other.open_, false);
  error_ = std::exchange(other.error_, std::nullopt);
  return *this;
}

Work::~Work() {
  finish();
  drop(core_);
}

void Work::finish() noexcept {
  if (core_ && open_ && !core_->in_child()) std::ignore = wait();
}

Result<void> Work::wait() {
  for (;;) {
    HOCKET_TRY_ASSIGN(const bool over, wait_for(kWaitMax));
    if (over) return {};
  }
}

Result<bool> Work::wait_for(std::chrono::nanoseconds time) {
  HOCKET_TRY(check_held(core_, "work"));
  if (open_) {
    if (core_->in_child())
      return fail(Code::kUnsupported, "this is a forked child: a call stays with the process that started it");
    const SteadyTime until = steady_clock::now() + std::min<std::chrono::nanoseconds>(time, kWaitMax);
    const std::span<const Ticket> tickets = more_.empty() ? std::span(&first_, 1) : std::span<const Ticket>(more_);
    for (const Ticket& ticket : tickets) {
      if (!core_->over(ticket, until)) return false;
    }
    open_ = false;
    for (const Ticket& ticket : tickets) {
      Result<void> result = core_->release(ticket);
      if (!result && !error_) error_ = std::move(result.error());
    }
  }
  if (error_) return tl::unexpected<Error>(*error_);
  return true;
}

void Work::abort(std::string_view reason) {
  if (core_) core_->abort(reason);
}

Result<void> PersistentCall::run(const void* input, void* output) {
  HOCKET_TRY(check_held(core_, "prepared call"));
  return core_->run_prepared(*this, {input, output});
}

Result<Work> PersistentCall::start(const void* input, void* output) {
  HOCKET_TRY(check_held(core_, "prepared call"));
  return core_->start_prepared(*this, {input, output});
}

std::string_view PersistentCall::algorithm() const { return algorithm_; }

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this == &other) return *this;
  const Communicator replaced(std::move(*this));  // ends as any other
  core_ = std::move(other.core_);
  return *this;
}

Communicator::~Communicator() {
  if (core_ && !core_->in_child()) core_->leave();
  drop(core_);
}

Result<Communicator> Communicator::create(const CommunicatorOptions& options) {
  HOCKET_TRY_ASSIGN(Settings settings, read_settings(options, environment));
  HOCKET_TRY_ASSIGN(std::shared_ptr<CommunicatorCore> core, CommunicatorCore::open(std::move(settings)));
  return Communicator(std::move(core));
}

std::uint32_t Communicator::rank() const { return core_ ? core_->rank() : 0; }
std::uint32_t Communicator::size() const { return core_ ? core_->size() : 0; }

Result<void> Communicator::run(const Call& call) {
  HOCKET_TRY(check_held(core_, kName));
  return core_->run(call);
}

Result<Work> Communicator::start(const Call& call) { return start_group({&call, 1}); }

Result<Work> Communicator::start_group(std::span<const Call> calls) {
  HOCKET_TRY(check_held(core_, kName));
  return core_->start(calls);
}

Result<PersistentCall> Communicator::prepare(const Call& call) {
  HOCKET_TRY(check_held(core_, kName));
  return core_->prepare(call);
}

Result<void> Communicator::run_group(std::span<const Call> calls) {
  HOCKET_TRY_ASSIGN(Work work, start_group(calls));
  return work.wait();
}

Result<void> Communicator::all_reduce(const void* input, void* output, std::int64_t count, DataType type,
                                      Reduction reduction) {
  return run({.operation = Operation::kAllReduce,
              .input = input,
              .output = output,
              .count = count,
              .type = type,
              .reduction = reduction});
}

Result<void> Communicator::broadcast(void* buffer, std::int64_t count, DataType type, std::uint32_t root) {
  return run({.operation = Operation::kBroadcast,
              .input = buffer,
              .output = buffer,
              .count = count,
              .type = type,
              .root = root});
}

Result<void> Communicator::send(const void* input, std::int64_t count, DataType type, std::uint32_t to) {
  return run({.operation = Operation::kSend, .input = input, .count = count, .type = type, .root = to});
}

Result<void> Communicator::receive(void* output, std::int64_t count, DataType type, std::uint32_t from) {
  return run({.operation = Operation::kReceive, .output = output, .count = count, .type = type, .root = from});
}

Result<void> Communicator::barrier() { return run({.operation = Operation::kBarrier}); }

Result<std::optional<Communicator>> Communicator::split(std::optional<std::uint32_t> color, std::int64_t key) {
  HOCKET_TRY(check_held(core_, kName));
  HOCKET_TRY_ASSIGN(const std::unique_ptr<Settings> settings, core_->split(color, key));
  if (settings == nullptr) return std::optional<Communicator>();
  Result<std::shared_ptr<CommunicatorCore>> core = CommunicatorCore::open(std::move(*settings));
  if (!core) return tl::unexpected<Error>(core_->cause_of(core.error()));
  return std::optional(Communicator(std::move(*core)));
}

Result<Communicator> Communicator::dup() {
  HOCKET_TRY(check_held(core_, kName));
  HOCKET_TRY_ASSIGN(const std::unique_ptr<Settings> settings, core_->split(0, rank()));
  Result<std::shared_ptr<CommunicatorCore>> core = CommunicatorCore::open(std::move(*settings));
  if (!core) return tl::unexpected<Error>(core_->cause_of(core.error()));
  return Communicator(std::move(*core));
}

Result<Communicator> Communicator::shrink(std::span<const std::uint32_t> lost) {
  HOCKET_TRY(check_held(core_, kName));
  HOCKET_TRY_ASSIGN(Settings settings, core_->shrink(lost));
  HOCKET_TRY(core_->check_together(lost));
  Result<std::shared_ptr<CommunicatorCore>> core = CommunicatorCore::open(std::move(settings));
  if (!core) return tl::unexpected<Error>(in_shrink(std::move(core.error()), size(), lost));
  return Communicator(std::move(*core));
}

Result<void> Communicator::register_memory(const void* begin) {
  HOCKET_TRY(check_held(core_, kName));
  return core_->register_memory(begin);
}

Result<void> Communicator::deregister_memory(const void* begin) {
  HOCKET_TRY(check_held(core_, kName));
  return core_->deregister_memory(begin);
}

Result<void*> allocate_memory(std::size_t bytes) {
  HOCKET_TRY_ASSIGN(SharedMemory memory, SharedMemory::allocate(bytes));
  return static_cast<void*>(memory.release());
}
Result<void> free_memory(void* begin) { return SharedMemory::free(begin); }

ProgressCounters Communicator::counters() const { return core_ ? core_->counters() : ProgressCounters(); }

void Communicator::abort(std::string_view reason) {
  if (core_) core_->abort(reason);
}

std::optional<Error> Communicator::failure() const {
  if (const Result<void> held = check_held(core_, kName); !held) return held.error();
  return core_->failure();
}

}  // namespace hocket
