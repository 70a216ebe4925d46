#include "api/call_queue.h"

#include <algorithm>
#include <new>

#include "api/premultiply.h"
#include "engine/cores.h"
#include "engine/reference.h"
#include "transport/call_notice.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// Condition variables do not take the end of time; longer waits look again.
constexpr std::chrono::minutes kLook{10};
/// Of who listens, whether somebody else has heard of a failure.
constexpr std::chrono::milliseconds kLookSoon{10};
/// Whoever waits may sleep in the transport while at least this much is left: as long as its longest sleep.
constexpr std::chrono::seconds kSleepable{1};

constexpr std::string_view kPartOf = " (a part of ";

constexpr std::array<std::string_view, 13> kOperations{
    "all_reduce", "reduce_scatter", "all_gather",   "broadcast", "reduce",  "all_to_all", "gather",
    "scatter",    "all_gather_v",   "all_to_all_v", "send",      "receive", "barrier"};

/// Without the clock where there is no end.
bool is_before(SteadyTime until) { return until == SteadyTime::max() || steady_clock::now() < until; }

std::string text_of(const Agreement::Words& words) {
  const std::string_view operation = words[0] < kOperations.size() ? kOperations[words[0]] : "an unknown operation";
  const std::string_view type = words[2] < kDataTypes ? name_of(static_cast<DataType>(words[2])) : "?";
  return fmt::format("{} of {} {}, root {}", operation, words[1], type, words[3]);
}

}  // namespace

std::string_view name_of(Operation operation) { return kOperations[static_cast<std::size_t>(operation)]; }

Result<void> Agreement::check(std::uint32_t rank, std::string_view call) const {
  constexpr std::array<std::string_view, kWords> kNames{"operation", "count", "dtype", "root"};
  for (std::uint32_t other = 0; other < all.size(); ++other) {
    for (std::size_t i = 0; i < kWords; ++i) {
      if (all[other][i] == mine[i]) continue;
      return fail(Code::kMismatch, "{} and {} disagree on {}: {} (here: {}; there: {})", (*members)[rank].text(),
                  (*members)[other].text(), call, kNames[i], text_of(mine), text_of(all[other]));
    }
  }
  return {};
}

CallQueue::CallQueue(QueueOptions options, Connect connect, Failure& failure, Spread spread)
    : options_(std::move(options)),
      connect_(std::move(connect)),
      failure_(&failure),
      spread_(std::move(spread)),
      slots_(kSlots),
      waiting_(kSlots) {
  options_.driver.stop = failure_;
  free_.reserve(kSlots);
  for (std::uint32_t slot = kSlots; slot > 0; --slot) free_.push_back(slot - 1);
}

CallQueue::~CallQueue() {
  close();
  leave();
}

void CallQueue::close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

void CallQueue::leave() {
  if (server_.joinable()) server_.join();
  Lock lock(mutex_);
  while (waiting_count_ > 0 || busy_) {
    if (busy_) {
      changed_.wait(lock);
    } else {
      run_front(lock);
    }
  }
  drop_transport(lock);
}

/// Leaving takes time, and nobody may find half a transport meanwhile.
void CallQueue::drop_transport(Lock& lock) {
  std::unique_ptr<RankTransport> leaving = std::move(transport_);
  busy_ = true;
  lock.unlock();
  current_.reset();
  book_.reset();
  leaving.reset();
  lock.lock();
  busy_ = false;
  changed_.notify_all();
}

Result<void> CallQueue::check_open() const {
  if (failure_->set()) return tl::unexpected<Error>(failed_before());
  if (closing_) {
    const std::vector<std::uint32_t>& called = options_.driver.called;
    return fail(Code::kInvalidArgument, "rank {}: this communicator was destroyed",
                called.empty() ? options_.rank : called[options_.rank]);
  }
  return {};
}

Result<void> CallQueue::check_usable(Lock& lock) const {
  Result<void> open = check_open();
  if (open || !failure_->set()) return open;
  lock.unlock();
  spread_();
  return open;
}

Error CallQueue::failed_before() const {
  return {failure_->error().code, fmt::format("this communicator has failed: {}", failure_->error().text)};
}

Result<void> CallQueue::run(const QueuedCall& call) {
  Lock lock(mutex_);
  HOCKET_TRY(check_usable(lock));
  if (busy_ || waiting_count_ > 0) {
    lock.unlock();
    HOCKET_TRY_ASSIGN(const std::uint32_t slot, start(call));
    while (!over(slot, steady_clock::now() + kLook)) {
    }
    return release(slot);
  }
  busy_ = true;
  lock.unlock();
  const std::chrono::nanoseconds began = clock();
  Result<void> result = run_whole(call);
  lock.lock();
  book(began, true);
  busy_ = false;
  changed_.notify_all();
  lock.unlock();
  if (!result) fail_all(result.error());
  return result;
}

std::uint32_t CallQueue::room() {
  const Lock lock(mutex_);
  return static_cast<std::uint32_t>(free_.size());
}

Result<std::uint32_t> CallQueue::start(const QueuedCall& call) {
  Lock lock(mutex_);
  HOCKET_TRY(check_usable(lock));
  if (free_.empty())
    return fail(Code::kResourceExhausted, "{} calls are started and not waited for: wait for one first", kSlots);
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].call = call;
  slots_[slot].over = false;
  slots_[slot].error.reset();
  waiting_[(front_ + waiting_count_++) % kSlots] = slot;
  if (options_.progress != ProgressMode::kCaller && !server_.joinable()) server_ = std::thread([this] { serve(); });
  changed_.notify_all();
  return slot;
}

bool CallQueue::over(std::uint32_t slot, SteadyTime until) {
  Lock lock(mutex_);
  bool once = false;
  for (;;) {
    if (slots_[slot].over) return true;
    const SteadyTime now = steady_clock::now();
    const bool patient = until - now > kSleepable;
    const bool ours = !busy_ && waiting_count_ > 0 && may_run(patient);
    if (now >= until && (!ours || once)) return false;
    once = true;
    if (ours) {
      run_front(lock, patient ? until - kSleepable : now);
    } else {
      changed_.wait_until(lock, std::min(until, now + kLook));
    }
  }
}

/// Whoever waits anyway runs a call sooner than a thread that has to be woken first, but not on the core meant for it.
bool CallQueue::may_run(bool patient) const {
  if (options_.progress == ProgressMode::kShared) return patient && !options_.cost.core;
  return options_.progress == ProgressMode::kCaller;
}

Result<void> CallQueue::release(std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  Slot& s = slots_[slot];
  s.call.prepared.reset();
  s.call.agreement.reset();
  free_.push_back(slot);
  if (!s.error) return {};
  return tl::unexpected<Error>(*s.error);
}

void CallQueue::serve() {
  Result<void> placed;
  if (options_.cost.core) placed = keep_thread_on(*options_.cost.core);
  if (!placed) fail_all(placed.error());  // the core was there when the communicator was made
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !busy_ && (waiting_count_ > 0 || closing_); });
    if (waiting_count_ == 0) return drop_transport(lock);
    run_front(lock);
  }
}

/// Until then, one turn at least, which sleeps only when there is time. A call that is not over stays begun, and nobody
/// owns the transport.
void CallQueue::run_front(Lock& lock, SteadyTime until) {
  const std::uint32_t slot = waiting_[front_];
  QueuedCall& call = slots_[slot].call;
  busy_ = true;
  lock.unlock();
  const std::chrono::nanoseconds began = clock();
  Result<void> result;
  if (!begun_) result = begin(call);
  bool done = !result.has_value();
  begun_ = !done;
  if (begun_) {
    bool time = is_before(until);
    do {
      done = current_->driver->turn(time ? Waiting::kSleeps : Waiting::kNever);
      time = time && is_before(until);
    } while (!done && time);
  }
  if (begun_ && done) {
    result = complete(call);
    begun_ = false;
  }
  std::optional<Error> error;
  if (!result) error = told(call, std::move(result.error()));
  if (error) failure_->report(*error);
  lock.lock();
  book(began, done);
  busy_ = false;
  if (done) {
    front_ = (front_ + 1) % kSlots;
    --waiting_count_;
  }
  changed_.notify_all();
  if (error) {  // whoever waits for the call may end this process: everybody is told before
    lock.unlock();
    spread_();
    lock.lock();
  }
  if (!done) return;
  slots_[slot].error = error;
  slots_[slot].over = true;
  changed_.notify_all();
}

std::chrono::nanoseconds CallQueue::clock() const {
  return options_.cost.counted ? thread_time() : std::chrono::nanoseconds{};
}

/// What the owner of the transport has spent since `began`, and the bytes of a call that is over. Under the lock.
void CallQueue::book(std::chrono::nanoseconds began, bool over) {
  const std::chrono::nanoseconds spent = clock() - began;
  (std::this_thread::get_id() == server_.get_id() ? counters_.thread_time : counters_.caller_time) += spent;
  if (!over) return;
  ++counters_.calls;
  if (!current_) return;
  const RankCounters& moved = current_->driver->counters();
  counters_.bytes_sent += moved.bytes_sent;
  counters_.bytes_received += moved.bytes_received;
  counters_.bytes_copied += moved.bytes_copied;
  counters_.bytes_reduced += moved.bytes_reduced;
}

Result<void> CallQueue::add_memory(const SharedRange& range) {
  const std::lock_guard lock(mutex_);
  return transport_ != nullptr ? transport_->add_memory(range) : Result<void>{};
}

void CallQueue::remove_memory(const SharedRange& range) {
  const std::lock_guard lock(mutex_);
  if (transport_ != nullptr) transport_->remove_memory(range);
}

ProgressCounters CallQueue::counters() {
  const std::lock_guard lock(mutex_);
  return counters_;
}

Result<void> CallQueue::run_whole(const QueuedCall& call) {
  Result<void> result = begin(call);
  if (result) {
    while (!current_->driver->turn(Waiting::kSleeps)) {
    }
    result = complete(call);
  }
  if (!result) return tl::unexpected<Error>(told(call, std::move(result.error())));
  return result;
}

Result<void> CallQueue::open(std::chrono::nanoseconds timeout) {
  if (transport_) return {};
  const SteadyTime deadline = steady_clock::now() + (timeout.count() > 0 ? timeout : options_.driver.timeout);
  HOCKET_TRY_ASSIGN(std::unique_ptr<RankTransport> made, connect_(deadline));
  book_ = std::make_unique<PlanBook>(*options_.source, options_.rank, *made, options_.driver);
  const std::lock_guard lock(mutex_);  // halt() may look for it
  transport_ = std::move(made);
  return {};
}

Result<void> CallQueue::begin(const QueuedCall& call) {
  Result<void> begun = begin_call(call);
  if (!begun) current_.reset();
  return begun;
}

Result<void> CallQueue::begin_call(const QueuedCall& call) {
  if (failure_->set()) return tl::unexpected<Error>(failed_before());
  try {
    HOCKET_TRY(open(call.timeout));
    HOCKET_TRY(find(call));
    options_.log.print(DebugLevel::kCalls, "{}{} by {}", options_.name.empty() ? "" : options_.name + ": ",
                       text_of(call.what), current_->algorithm);
    return current_->driver->start(call.reduction.scaled ? scaled(call) : call.buffers, call.timeout);
  } catch (const std::bad_alloc&) {
    return fail(Code::kResourceExhausted, "no memory for {} of {} {}", name_of(call.what.collective.kind),
                call.what.count, name_of(call.what.type));
  }
}

/// A call like the one before, as most are, is not looked up.
Result<void> CallQueue::find(const QueuedCall& call) {
  if (call.prepared) {
    if (current_ != call.prepared) current_ = call.prepared;
  } else if (current_ && current_->internal == call.internal && current_->what == call.what) {
    book_->note_use(*current_);
  } else {
    HOCKET_TRY_ASSIGN(current_, book_->find(call.what, call.internal, options_.log));
  }
  return {};
}

RankBuffers CallQueue::scaled(const QueuedCall& call) {
  const std::int64_t count = input_count(call.what, options_.rank);
  const auto bytes = static_cast<std::size_t>(count * size_of(call.what.type));
  if (aside_.size() < bytes) aside_.resize(bytes);
  premultiply(call.what.type, call.reduction, static_cast<const std::byte*>(call.buffers.input), aside_.data(), count);
  return {aside_.data(), call.buffers.output};
}

Result<void> CallQueue::complete(const QueuedCall& call) {
  HOCKET_TRY(current_->driver->finish());
  if (!call.agreement) return {};
  const std::string carrier = transport_->call_text();  // "call 7, all_gather of ...", which nobody has called
  return call.agreement->check(options_.rank, std::string_view(carrier).substr(0, carrier.find(',')));
}

/// A failure of before, or of another rank, has been told of already.
Error CallQueue::told(const QueuedCall& call, Error error) const {
  const bool first = !failure_->set();
  if (!options_.name.empty() && first) error.text = fmt::format("{}: {}", options_.name, error.text);
  if (!call.part_of.empty() && first && error.text.find(kPartOf) == std::string::npos)
    error.text += fmt::format("{}{})", kPartOf, call.part_of);
  if (!call.description.empty()) error.text += fmt::format(" ('{}')", call.description);
  return error;
}

void CallQueue::fail_all(const Error& error) {
  failure_->report(error);
  spread_();
}

void CallQueue::halt() {
  Lock lock(mutex_);
  if (transport_) transport_->interrupt();
  changed_.wait(lock, [this] { return !busy_; });
  if (!transport_) return;
  busy_ = true;
  lock.unlock();
  transport_->fail(failure_->error());
  lock.lock();
  busy_ = false;
  changed_.notify_all();
}

bool CallQueue::has_gone(std::uint32_t peer) {
  const std::lock_guard lock(mutex_);
  return transport_ && !busy_ && transport_->has_gone(peer);
}

void CallQueue::listen(SteadyTime until) {
  struct NoCall final : TransportEvents {
    void arrived(OpId /*receive*/, std::uint32_t /*segments*/) override {}
    void acknowledged(OpId /*send*/, std::uint32_t /*segments*/) override {}
    void failed(const Error& /*error*/) override {}
  } events;
  Lock lock(mutex_);
  if (!transport_ || busy_ || begun_) return;
  busy_ = true;
  lock.unlock();
  transport_->listen();
  while (!transport_->failure() && !failure_->set() && steady_clock::now() < until) {
    if (!transport_->poll(events)) transport_->rest(std::min(until, steady_clock::now() + kLookSoon));
  }
  if (transport_->failure()) failure_->report(*transport_->failure());
  lock.lock();
  busy_ = false;
  changed_.notify_all();
}

Result<std::shared_ptr<PreparedCall>> CallQueue::prepare(const BoundCollective& what) {
  Lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
  HOCKET_TRY(check_open());
  busy_ = true;
  lock.unlock();
  Result<std::shared_ptr<PreparedCall>> made;
  if (Result<void> opened = open({}); !opened) {
    made = tl::unexpected<Error>(std::move(opened.error()));
  } else {
    made = book_->find(what, false, options_.log);
  }
  lock.lock();
  busy_ = false;
  changed_.notify_all();
  return made;
}

}  // namespace hocket
