// StepRun: the event loop behind simulate_step(). Per rank: a stream of compute, a pool of shares (shared_pool.h), the
// chunks it works on, ports that feed its links and, with an ace engine, the engine's memory. All that happens at one
// instant is taken in first, then each rank starts what has become possible, in an order that does not depend on how
// ranks are numbered. Ownership: borrows workload, plans and machine. Threading: one owner.
// Refuses: nothing of its own; run() names what waits when nothing can move.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "base/event_queue.h"
#include "schedule/frontier.h"
#include "simulator/engine_memory.h"
#include "simulator/shared_pool.h"
#include "simulator/step.h"
#include "simulator/step_plans.h"

namespace hocket {

class StepRun {
 public:
  struct Setup {
    const Workload& workload;
    const StepMachine& machine;
    const StepOptions& options;
    const StepPlans& plans;
    std::optional<EngineLayout> layout;  // ace
    bool folded = false;
  };
  explicit StepRun(Setup setup);

  Result<StepResult> run();

 private:
  using Seq = std::uint32_t;       // a chunk, by the order in which all ranks take them
  using Instance = std::uint32_t;  // a node of one of the steps

  /// A chunk on one rank.
  struct ChunkRun {
    ChunkRun(const ChunkShape& s, OpId begin, OpId end) : shape(&s), frontier(s.plan.schedule(), begin, end) {}
    const ChunkShape* shape;
    Frontier<std::uint32_t> frontier;
    std::vector<OpId> touched;
    std::vector<std::uint32_t> left;  // per phase: ops
    std::uint32_t phase = 0;          // the one that may run
    bool admitted = false;
    bool running = false;  // admitted and, with an engine, on one of its machines
  };
  struct PortMessage {
    Seq seq = 0;
    OpId op = 0;
    std::uint32_t segment = 0;
    std::uint32_t order = 0;  // of the op in its rank
    [[nodiscard]] bool operator>(const PortMessage& other) const {
      return std::tie(seq, order, segment) > std::tie(other.seq, other.order, other.segment);
    }
  };
  /// Of the messages that wait those of the oldest chunk go first.
  struct Port {
    std::priority_queue<PortMessage, std::vector<PortMessage>, std::greater<>> waiting;
    std::uint32_t in_use = 0;
  };
  struct PendingWork {
    enum class What : std::uint8_t { kFetch, kReceive, kLoad, kStore, kCompute };
    What what = What::kCompute;
    PortMessage message;
  };
  struct Rank {
    explicit Rank(SharedPool p) : pool(std::move(p)) {}
    SharedPool pool;
    Picos pool_event = SharedPool::kNever;
    std::vector<PendingWork> work;  // by the pool's tags
    std::vector<std::uint32_t> free_work;
    std::vector<std::uint32_t> waits;        // per instance: dependencies left
    std::vector<Instance> ready;             // compute, a heap with the lowest on top
    std::vector<Instance> issuable;          // collectives
    std::vector<std::uint32_t> chunks_left;  // per instance
    std::optional<Instance> running;
    Picos running_since, stream_free;
    std::uint32_t active = 0;  // collectives issued and not done
    Picos active_since;
    bool holds_units = false;
    std::vector<std::unique_ptr<ChunkRun>> runs;  // by seq
    Seq next_admitted = 0;
    std::uint32_t in_flight = 0;
    std::vector<Seq> hot;  // chunks with touched ops
    std::vector<Port> ports;
    std::optional<EngineMemory> engine;
    std::deque<Seq> to_load, to_store;
    bool loading = false, storing = false;
    std::vector<std::deque<Seq>> machine_line;  // per phase
    std::optional<Instance> last_done;          // the collective that ended last
    bool dirty = true;
    StepResult result;
  };
  struct Event {
    enum class What : std::uint8_t { kHead, kLeft, kArrived, kReacted, kPool };
    What what = What::kPool;
    std::uint16_t hop = 0;
    std::uint32_t rank = 0;
    Seq seq = 0;
    OpId op = 0;
    std::int64_t bytes = 0;
    Picos tail;
  };
  struct Chunk {
    Instance instance = 0;
    const ChunkShape* shape = nullptr;
  };
  struct Issued {
    Instance instance = 0;
    std::uint32_t next = 0;  // chunk
  };

  // step_run.cpp: the loop
  void handle(const Event& event);
  void take_pool_ends(std::uint32_t rank);
  void settle(std::uint32_t rank);
  bool settle_once(std::uint32_t rank);
  void schedule_pool(std::uint32_t rank);
  [[nodiscard]] Result<StepResult> finish();
  [[nodiscard]] Error stands_still() const;
  [[nodiscard]] const WorkNode& node(Instance i) const {
    return setup_.workload.nodes[i % setup_.workload.nodes.size()];
  }
  [[nodiscard]] NodeId node_id(Instance i) const { return static_cast<NodeId>(i % setup_.workload.nodes.size()); }

  // step_compute.cpp: compute, issuing collectives, who holds what
  void set_capacities(std::uint32_t rank);
  bool start_compute(std::uint32_t rank);
  void end_compute(std::uint32_t rank);
  bool issue_collectives(std::uint32_t rank);
  void end_instance(std::uint32_t rank, Instance instance);
  void make_ready(std::uint32_t rank, Instance instance);
  void end_collective(std::uint32_t rank, Instance instance);
  void book_gap(std::uint32_t rank, Picos until);
  [[nodiscard]] std::array<PoolDemand, 2> compute_demands(const WorkCompute& compute) const;

  // step_chunks.cpp: chunks, ops, ports, links
  bool admit(std::uint32_t rank);
  bool order_next_chunk();
  ChunkRun& chunk_run(std::uint32_t rank, Seq seq);
  void start_phase(std::uint32_t rank, Seq seq);
  void end_phase(std::uint32_t rank, Seq seq);
  bool start_ops(std::uint32_t rank);
  void start_op(std::uint32_t rank, Seq seq, OpId id);
  void end_segments(std::uint32_t rank, const PortMessage& message, std::uint32_t count);
  void end_op(std::uint32_t rank, Seq seq, OpId id);
  void end_chunk(std::uint32_t rank, Seq seq);
  bool pump_ports(std::uint32_t rank);
  void begin_work(std::uint32_t rank, const PendingWork& work, std::span<const PoolDemand> demands);
  void receive(std::uint32_t rank, const PortMessage& message);
  void fetched(std::uint32_t rank, const PortMessage& message);
  void enter_link(Event event);
  [[nodiscard]] std::int64_t segment_bytes(const ChunkShape& shape, OpId id, std::uint32_t segment) const;
  [[nodiscard]] std::uint32_t port_of(const ChunkShape& shape, OpId id) const {
    return port_of_link_[shape.routes.of(id).front()];
  }

  // step_engine.cpp: the phases of an ace engine
  bool move_engine(std::uint32_t rank);
  bool move_loads(std::uint32_t rank);
  bool move_phase(std::uint32_t rank, std::uint32_t phase);
  void loaded(std::uint32_t rank, Seq seq);
  void stored(std::uint32_t rank, Seq seq);
  void leave_phase(std::uint32_t rank, Seq seq);

  Setup setup_;
  const CommunicationEngine& engine_;
  Instance instances_;
  std::vector<std::vector<Instance>> later_;  // per instance
  std::deque<Rank> ranks_;                    // never move
  std::vector<Chunk> chunks_;                 // by seq
  std::vector<Issued> issued_;                // by all ranks, in order
  std::vector<std::uint32_t> issued_by_;      // per instance: ranks
  std::vector<Instance> newly_issued_;
  std::vector<Picos> free_;     // per link
  std::vector<Picos> latency_;  // per link
  std::vector<std::uint32_t> port_of_link_;
  EventQueue<Event> queue_;
  Picos now_;
  Picos reaction_;
  std::uint32_t port_depth_ = 2;
  std::uint32_t in_flight_max_ = 64;
  double network_bytes_ = 0;
};

/// The resources of an endpoint's pool.
enum EndpointResource : std::uint32_t {
  kPoolMemory,         // shared by compute and communication
  kPoolComputeMemory,  // compute's part of a static split
  kPoolCompute,        // in seconds of the whole endpoint
  kPoolBudget,         // what communication may take of memory
  kPoolBusOut,
  kPoolBusIn,
  kPoolUnits,   // bytes read by communication kernels
  kPoolEngine,  // bytes copied by DMA engines or added by an ace engine
};

}  // namespace hocket
