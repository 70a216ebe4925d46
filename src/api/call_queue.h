// CallQueue: the calls of one rank over one transport, one after another. A blocking call that finds nothing before it
// runs on its caller's thread; calls that were started are run in order by a thread of the queue or by who waits for
// them, whoever comes first; with ProgressMode::kCaller by who waits alone. Whoever runs a call owns the transport
// meanwhile. Slots are made at the start: from start() to completion nothing is allocated, once a call's plan is
// loaded. Ownership: transport, plans, thread. Threading: any thread. The first error is the communicator's: it is
// reported to the Failure and every later call returns it. Refuses: more than kSlots calls that are started and not
// released.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>

#include "api/plan_book.h"

namespace hocket {

/// What all ranks say before a call that has no plan of its own; checked when the call that carries it is over.
struct Agreement {
  static constexpr std::size_t kWords = 4;  // operation, count, dtype, root
  using Words = std::array<std::uint64_t, kWords>;
  Words mine{};
  std::vector<Words> all;
  const std::vector<Member>* members = nullptr;  // by rank
  /// The first rank that says something else. `call`: what carries this, "call 7".
  [[nodiscard]] Result<void> check(std::uint32_t rank, std::string_view call) const;
};

[[nodiscard]] std::string_view name_of(Operation operation);  // "all_gather_v"

struct QueuedCall {
  BoundCollective what;
  bool internal = false;                   // never meets a user's call that looks like it
  std::string_view part_of;                // what the user has called, where this is not all of it
  std::shared_ptr<PreparedCall> prepared;  // null: to be found in the book
  RankBuffers buffers;
  Reduction reduction;
  std::shared_ptr<Agreement> agreement;
  std::chrono::nanoseconds timeout{0};
  std::string description;
};

struct QueueOptions {
  std::uint32_t rank = 0;  // of its plans
  DriverOptions driver;
  ProgressMode progress = ProgressMode::kShared;
  ProgressCost cost;
  const PlanSource* source = nullptr;
  DebugLog log;
  std::string name;  // joins the text of errors: "send to rank 3"
};

class CallQueue {
 public:
  static constexpr std::uint32_t kSlots = 256;
  using Connect = std::function<Result<std::unique_ptr<RankTransport>>(SteadyTime deadline)>;
  using Spread = std::function<void()>;

  /// `connect` is called before the first call, with that call's deadline. `failure` is set, then `spread` called, when
  /// a call fails, and only then the caller hears of it.
  CallQueue(QueueOptions options, Connect connect, Failure& failure, Spread spread);
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  [[nodiscard]] Result<void> run(const QueuedCall& call);
  [[nodiscard]] Result<std::uint32_t> start(const QueuedCall& call);
  /// How many calls can be started now.
  [[nodiscard]] std::uint32_t room();
  /// True when the call is over; waits for that until then.
  [[nodiscard]] bool over(std::uint32_t slot, SteadyTime until);
  /// How it ended; the slot is free again.
  [[nodiscard]] Result<void> release(std::uint32_t slot);
  [[nodiscard]] Result<std::shared_ptr<PreparedCall>> prepare(const BoundCollective& what);

  /// As the transport takes it; nothing when there is none.
  [[nodiscard]] Result<void> add_memory(const SharedRange& range);
  void remove_memory(const SharedRange& range);

  [[nodiscard]] ProgressCounters counters();
  /// After the failure is set: wakes whoever runs a call and tells all ranks. Returns when they are told.
  void halt();
  /// Where no call is under way, and none will be: hears until then what peers say of a failure, and reports it.
  void listen(SteadyTime until);
  /// As far as the transport can tell and nobody uses it now.
  [[nodiscard]] bool has_gone(std::uint32_t peer);
  /// close(): no more calls. leave() waits until what was started is over; then the transport leaves in order.
  void close();
  void leave();

 private:
  struct Slot {
    QueuedCall call;
    bool over = true;
    std::optional<Error> error;
  };
  using Lock = std::unique_lock<std::mutex>;

  void serve();
  void drop_transport(Lock& lock);
  void run_front(Lock& lock, SteadyTime until = SteadyTime::max());
  /// Whether whoever waits runs the calls that wait; `patient`: waits for long.
  [[nodiscard]] bool may_run(bool patient) const;
  [[nodiscard]] Result<void> begin(const QueuedCall& call);
  [[nodiscard]] Result<void> begin_call(const QueuedCall& call);
  /// Its plan, in current_.
  [[nodiscard]] Result<void> find(const QueuedCall& call);
  [[nodiscard]] Result<void> run_whole(const QueuedCall& call);
  [[nodiscard]] Result<void> complete(const QueuedCall& call);
  [[nodiscard]] Result<void> open(std::chrono::nanoseconds timeout);
  [[nodiscard]] std::chrono::nanoseconds clock() const;
  void book(std::chrono::nanoseconds began, bool over);
  [[nodiscard]] RankBuffers scaled(const QueuedCall& call);
  void fail_all(const Error& error);
  [[nodiscard]] Error told(const QueuedCall& call, Error error) const;
  /// Neither failed nor closed. Under the lock.
  [[nodiscard]] Result<void> check_open() const;
  /// The same for callers, who may end this process when they hear of a failure; unlocks when there is one.
  [[nodiscard]] Result<void> check_usable(Lock& lock) const;
  [[nodiscard]] Error failed_before() const;

  QueueOptions options_;
  Connect connect_;
  Failure* failure_;
  Spread spread_;

  std::mutex mutex_;  // all below; what the owner of the transport uses, it uses without
  std::condition_variable changed_;
  std::unique_ptr<RankTransport> transport_;
  bool busy_ = false;  // somebody owns the transport
  bool closing_ = false;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> waiting_;  // a ring of slots in order
  std::size_t front_ = 0;
  std::size_t waiting_count_ = 0;
  ProgressCounters counters_;

  // The owner's.
  std::unique_ptr<PlanBook> book_;
  std::shared_ptr<PreparedCall> current_;
  bool begun_ = false;
  std::vector<std::byte> aside_;  // scaled inputs

  std::thread server_;
};

}  // namespace hocket
