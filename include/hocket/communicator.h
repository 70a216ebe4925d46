#pragma once

// Communicator: the collectives of a group of ranks, from C++. Every rank calls the same operations in the same order;
// ranks that disagree get an error that names both sides, and every wait has a deadline.
// Ownership: moved, never copied; buffers stay the caller's until a call is over. Destroying one finishes what was
// started, so abort() first when peers are gone. Threading: calls in an order that all ranks share, from one thread at
// a time; abort() and the queries from any thread. Refuses: calls after a failure (each returns it), in a forked child,
// counts below 0, ranks and enumerators that do not exist, and all that is asked of an object that was moved from or
// holds nothing by default (kInvalidArgument).

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/result.h"
#include "hocket/types.h"

namespace hocket {

class CommunicatorCore;

enum class Operation : std::uint8_t {
  kAllReduce,      // output[count] on all ranks
  kReduceScatter,  // input[size * count] -> output[count]
  kAllGather,      // input[count] -> output[size * count]
  kBroadcast,      // input[count] of the root -> output[count]
  kReduce,         // output[count] on the root only
  kAllToAll,       // input[size * count] -> output[size * count]
  kGather,         // input[count] -> output[size * count] on the root only
  kScatter,        // input[size * count] of the root -> output[count]
  kAllGatherV,     // input[receive.counts[rank]] -> output, blocks of receive.counts at receive.offsets
  kAllToAllV,      // blocks of send.counts at send.offsets -> blocks of receive.counts at receive.offsets
  kSend,           // input[count] to the rank `root`
  kReceive,        // output[count] from the rank `root`
  kBarrier,
};

/// Who makes progress in calls that were started.
enum class ProgressMode : std::uint8_t {
  kShared,     // a thread that spins for some tens of microseconds, then sleeps; or wait(), when it is there first
  kDedicated,  // a thread that never sleeps inside a call: give it a core
  kCaller,     // nobody but wait() and test()
};

/// What the calls that are over have cost this rank. Bytes are those of plans; times are processor time, counted with
/// CommunicatorOptions::count_time only.
struct ProgressCounters {
  std::uint64_t calls = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t bytes_copied = 0;            // from place to place; what arrives in its place is not
  std::int64_t bytes_reduced = 0;           // written by combining
  std::chrono::nanoseconds caller_time{0};  // of threads that called: taken from what else they do
  std::chrono::nanoseconds thread_time{0};  // of the communicator's own threads: taken from their core
};

/// What is left out comes from the environment (docs/api.md).
struct CommunicatorOptions {
  std::optional<std::uint32_t> rank;  // with `size`: the launcher is not asked
  std::optional<std::uint32_t> size;
  std::string root;                     // where rank 0 listens, host:port
  std::string secret;                   // the same words on every rank
  std::string topology;                 // a file, or words such as torus:4x4
  std::string plan_file;                // a schedule for the collective that it holds
  std::string transport;                // "auto", "shm", "tcp"
  std::chrono::nanoseconds timeout{0};  // of every call; 0: HOCKET_TIMEOUT, else 10 minutes
  ProgressMode progress = ProgressMode::kShared;
  std::optional<std::uint32_t> progress_core;  // the communicator's threads run there and nowhere else
  bool count_time = false;                     // fill the times of ProgressCounters: two system calls a turn
  int listener = -1;                           // rank 0: a socket that listens already; it is taken over
};

/// How elements are combined. A scale multiplies this rank's input first and goes with kSum only.
struct Reduction {
  ReduceOp op = ReduceOp::kSum;
  bool scaled = false;
  double scale = 1;              // for f16, bf16, f32, f64
  std::int64_t whole_scale = 1;  // for integers

  Reduction() = default;
  Reduction(ReduceOp combined) : op(combined) {}  // NOLINT(google-explicit-constructor): an operator is a reduction
  /// Of integers by a whole number of 64 bits only; calls refuse others.
  [[nodiscard]] static Reduction premultiplied_sum(double by) {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    Reduction made;
    made.scaled = true;
    made.scale = by;
    if (by >= -kBeyond && by < kBeyond) made.whole_scale = static_cast<std::int64_t>(by);
    if (by >= kBeyond && by < 2 * kBeyond) made.whole_scale = static_cast<std::int64_t>(static_cast<std::uint64_t>(by));
    return made;
  }
};

/// Elements per rank, and where each rank's block begins, in elements.
struct Blocks {
  std::span<const std::int64_t> counts;
  std::span<const std::int64_t> offsets;
};

struct Call {
  Operation operation = Operation::kAllReduce;
  const void* input = nullptr;  // the same place as the output: in place
  void* output = nullptr;
  std::int64_t count = 0;  // as at Operation
  DataType type = DataType::kF32;
  Reduction reduction;
  std::uint32_t root = 0;  // or the other rank of a send or receive
  Blocks send;
  Blocks receive;
  std::string_view description;         // joins the text of errors
  std::chrono::nanoseconds timeout{0};  // 0: the communicator's
};

/// A call that was started. Destroying it waits for the call's end.
class Work {
 public:
  Work() = default;
  Work(Work&& other) noexcept;
  Work& operator=(Work&& other) noexcept;
  ~Work();

  /// Until it is over; the deadline of the call ends it.
  [[nodiscard]] Result<void> wait();
  /// True when it is over, false when the time is; an error when it failed.
  [[nodiscard]] Result<bool> wait_for(std::chrono::nanoseconds time);
  [[nodiscard]] Result<bool> test() { return wait_for({}); }
  /// Ends the communicator of this call on all ranks: a collective cannot be taken back alone.
  void abort(std::string_view reason);

 private:
  friend class CommunicatorCore;
  struct Ticket {
    std::uint32_t queue = 0;
    std::uint32_t slot = 0;
  };
  void finish() noexcept;

  std::shared_ptr<CommunicatorCore> core_;  // null: holds no call
  std::vector<Ticket> more_;
  Ticket first_;
  bool open_ = false;
  std::optional<Error> error_;
};

/// A collective whose plan is made and loaded once; also on its own the fastest way to start it again and again.
class PersistentCall {
 public:
  [[nodiscard]] Result<void> run(const void* input, void* output);
  [[nodiscard]] Result<Work> start(const void* input, void* output);
  [[nodiscard]] std::string_view algorithm() const;

 private:
  friend class CommunicatorCore;
  std::shared_ptr<CommunicatorCore> core_;
  std::shared_ptr<void> prepared_;
  Call call_;
  std::string algorithm_;
};

/// Memory for register_memory(): zero bytes on pages of their own, which other processes can map; kResourceExhausted
/// when the system has no more. An ordinary pointer otherwise.
[[nodiscard]] Result<void*> allocate_memory(std::size_t bytes);
/// kInvalidArgument: not from allocate_memory(), or registered.
[[nodiscard]] Result<void> free_memory(void* begin);

class Communicator {
 public:
  /// Connects with all other ranks; from the launcher's environment unless the options say who we are.
  [[nodiscard]] static Result<Communicator> create(const CommunicatorOptions& options = {});
  Communicator(Communicator&&) noexcept = default;
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator();

  [[nodiscard]] std::uint32_t rank() const;
  [[nodiscard]] std::uint32_t size() const;  // 0 when moved from

  [[nodiscard]] Result<void> run(const Call& call);
  [[nodiscard]] Result<Work> start(const Call& call);
  /// All of them at once, so that sends and receives between two ranks may come in any order.
  [[nodiscard]] Result<void> run_group(std::span<const Call> calls);
  [[nodiscard]] Result<Work> start_group(std::span<const Call> calls);
  [[nodiscard]] Result<PersistentCall> prepare(const Call& call);

  [[nodiscard]] Result<void> all_reduce(const void* input, void* output, std::int64_t count, DataType type,
                                        Reduction reduction = {});
  [[nodiscard]] Result<void> broadcast(void* buffer, std::int64_t count, DataType type, std::uint32_t root);
  [[nodiscard]] Result<void> send(const void* input, std::int64_t count, DataType type, std::uint32_t to);
  [[nodiscard]] Result<void> receive(void* output, std::int64_t count, DataType type, std::uint32_t from);
  [[nodiscard]] Result<void> barrier();

  /// Ranks of one colour form a communicator, in the order of their keys, then of their ranks here. Every rank calls
  /// it; without a colour a rank gets none.
  [[nodiscard]] Result<std::optional<Communicator>> split(std::optional<std::uint32_t> color, std::int64_t key);
  [[nodiscard]] Result<Communicator> dup();
  /// After a failure: the ranks that are not in `lost` form a new communicator. Only they call it, all with the same
  /// ranks, in any order. One that is gone and not in `lost` is an error at once. On one host: one kernel, network and
  /// folder for private files, whatever hosts are called.
  [[nodiscard]] Result<Communicator> shrink(std::span<const std::uint32_t> lost);

  /// From now on the other ranks of this host read what collectives send from this memory where it lies, without a
  /// copy. `begin` is what allocate_memory() gave; other memory is taken and stays as it is. At most 64 at a time, and
  /// no call that uses the memory may be under way.
  [[nodiscard]] Result<void> register_memory(const void* begin);
  /// No longer; needed before free_memory(). A communicator that goes has nothing registered.
  [[nodiscard]] Result<void> deregister_memory(const void* begin);

  /// Ends it on all ranks with kCancelled; from any thread.
  void abort(std::string_view reason);
  [[nodiscard]] std::optional<Error> failure() const;
  [[nodiscard]] ProgressCounters counters() const;

 private:
  friend class CommunicatorCore;
  explicit Communicator(std::shared_ptr<CommunicatorCore> core) : core_(std::move(core)) {}
  std::shared_ptr<CommunicatorCore> core_;
};

}  // namespace hocket
