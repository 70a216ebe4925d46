// GraphRun: the event loop behind simulate_graph(). Per rank: a stream of compute and one of its host, a pool of shares
// (shared_pool.h), the chunks of its groups' collectives, messages, ports that feed its links and, with an ace engine,
// the engine's memory. All that happens at one instant is taken in first, then each rank starts what has become
// possible, in an order that does not depend on how ranks are numbered. Chunks get their number when all members have
// reached the collective (lifo: and one of them has room), and every member takes its chunks in the order of these
// numbers, so that engines with little memory cannot block one another. Ownership: borrows graph, plans and machine.
// Threading: one owner. Refuses: nothing of its own; run() names what waits when nothing can move.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "base/event_queue.h"
#include "schedule/frontier.h"
#include "simulator/engine_memory.h"
#include "simulator/graph_step.h"
#include "simulator/shared_pool.h"

namespace hocket {

class GraphRun {
 public:
  struct Setup {
    const TaskGraph& graph;
    const StepMachine& machine;
    const StepOptions& options;
    const GraphPlans& plans;
    EngineCuts* cuts = nullptr;  // ace
    double frequency = 1;        // of the compute units, of the highest
  };
  explicit GraphRun(Setup setup);

  Result<GraphResult> run();

 private:
  using Seq = std::uint32_t;       // a flow: a chunk, or a message between peers
  using Instance = std::uint32_t;  // a task of one of the steps, of one rank
  using CallId = std::uint32_t;    // a collective of one of the steps, of one group

  /// A chunk on one rank.
  struct ChunkRun {
    ChunkRun(const ChunkShape& s, OpId begin, OpId end) : shape(&s), frontier(s.plan.schedule(), begin, end) {}
    const ChunkShape* shape;
    Frontier<std::uint32_t> frontier;
    std::vector<OpId> touched;
    std::vector<std::uint32_t> left;  // per phase: ops
    std::uint32_t phase = 0;          // the one that may run
    std::uint32_t algorithm = 0;      // of GraphPlans::running()
    bool admitted = false;
    bool running = false;  // admitted and, with an engine, on one of its machines
  };
  /// A segment of an op of a chunk, or of a message.
  struct Parcel {
    Seq seq = 0;
    OpId op = 0;
    std::uint32_t segment = 0;
    std::uint32_t order = 0;  // of the op in its rank
    [[nodiscard]] bool operator>(const Parcel& other) const {
      return std::tie(seq, order, segment) > std::tie(other.seq, other.order, other.segment);
    }
  };
  /// Of the parcels that wait those of the oldest flow go first.
  struct Port {
    std::priority_queue<Parcel, std::vector<Parcel>, std::greater<>> waiting;
    std::uint32_t in_use = 0;
  };
  struct PendingWork {
    enum class What : std::uint8_t { kFetch, kReceive, kLoad, kStore, kCompute, kHost, kLand };
    What what = What::kCompute;
    Parcel parcel;
  };
  /// One stream of tasks, one after another.
  struct Stream {
    std::vector<Instance> ready;  // a heap with the lowest on top
    std::optional<Instance> running;
    Picos since;
  };
  struct Rank {
    explicit Rank(SharedPool p) : pool(std::move(p)) {}
    SharedPool pool;
    Picos pool_event = SharedPool::kNever;
    std::vector<PendingWork> work;  // by the pool's tags
    std::vector<std::uint32_t> free_work;
    std::vector<std::uint32_t> waits;  // per instance: dependencies left
    std::vector<bool> ended;           // per instance
    Instance left = 0;                 // instances that have not ended
    Stream compute, host;
    std::vector<Instance> issuable;          // collectives and messages
    std::vector<std::uint32_t> chunks_left;  // per instance
    Picos stream_free;
    std::uint32_t active = 0;   // collectives and messages under way
    std::uint32_t holding = 0;  // of these, all but receives
    Picos active_since;
    bool holds_units = false;
    std::vector<CallId> calls;     // lifo: reached by all members, chunks left to number
    std::deque<Seq> to_admit;      // numbered
    std::map<Seq, ChunkRun> runs;  // begun or met by an arrival, and not ended
    std::uint32_t in_flight = 0;
    std::vector<Seq> hot;  // chunks with touched ops
    std::vector<Port> ports;
    std::optional<EngineMemory> engine;
    std::deque<Seq> to_load, to_store;
    bool loading = false, storing = false;
    std::vector<std::deque<Seq>> machine_line;  // per partition but the terminal one
    std::string last_done;                      // what ended last beside compute
    bool dirty = false;
    GraphResult result;
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
  struct Flow {
    const ChunkShape* shape = nullptr;  // null: a message
    CallId call = 0;
    std::uint32_t message = 0;
  };
  struct Call {
    std::uint32_t group = 0;
    std::uint32_t place = 0;  // among the calls of the group in a step
    std::uint32_t step = 0;
    std::uint32_t reached = 0;  // members
    std::uint32_t next = 0;     // chunk
  };
  struct Message {
    std::uint32_t sender = 0, receiver = 0;
    Instance send = 0, receive = 0;
    std::int64_t bytes = 0;
    std::uint32_t segments = 1, left = 0, landed = 0;
    bool expected = false;  // the receive was reached
    Seq seq = 0;
    std::vector<LinkId> route;
  };

  // graph_run.cpp: the loop
  void set_up_rank(std::uint32_t rank);
  void set_up_calls();
  Result<void> set_up_messages();
  void take_instant();
  void handle(const Event& event);
  void take_pool_ends(std::uint32_t rank);
  void mark(std::uint32_t rank);
  void settle_all();
  bool settle_once(std::uint32_t rank);
  void schedule_pool(std::uint32_t rank);
  [[nodiscard]] Result<GraphResult> finish();
  void add_up(StepResult& step) const;
  [[nodiscard]] double padded_bytes() const;
  [[nodiscard]] Error stands_still() const;
  [[nodiscard]] std::string waiting_text(std::uint32_t rank, Instance instance) const;

  // graph_clock.cpp: the end of simulated time
  [[nodiscard]] bool on_clock(std::uint32_t rank, Instance instance, double seconds);
  [[nodiscard]] bool on_clock(const Event& parcel, Picos begin, double seconds);
  void end_late(const std::string& what);
  void look_for_late_work();
  [[nodiscard]] std::pair<std::uint32_t, Instance> owner(const Event& event) const;
  [[nodiscard]] std::string task_text(std::uint32_t rank, Instance instance) const;
  [[nodiscard]] std::string task_text(std::pair<std::uint32_t, Instance> of) const;

  // graph_tasks.cpp: compute, what is reached, who holds what
  [[nodiscard]] Instance tasks_of(std::uint32_t rank) const {
    return static_cast<Instance>(setup_.graph.program(rank).tasks.size());
  }
  [[nodiscard]] const Task& task(std::uint32_t rank, Instance i) const {
    return setup_.graph.program(rank).tasks[i % tasks_of(rank)];
  }
  void set_capacities(std::uint32_t rank);
  bool start_compute(std::uint32_t rank);
  bool start_host(std::uint32_t rank);
  void end_compute(std::uint32_t rank);
  void end_host(std::uint32_t rank);
  bool reach_tasks(std::uint32_t rank);
  void reach_call(std::uint32_t rank, Instance instance);
  void hand_out(std::vector<CallId> calls);
  void end_instance(std::uint32_t rank, Instance instance);
  void make_ready(std::uint32_t rank, Instance instance);
  void begin_communication(std::uint32_t rank, bool holds);
  void end_communication(std::uint32_t rank, Instance instance);
  [[nodiscard]] std::string cause_of(std::uint32_t rank, Instance instance) const;
  void book_gap(std::uint32_t rank, Picos until);
  void add_bar(std::uint32_t rank, std::string name, bool compute, Picos begin);
  [[nodiscard]] std::array<PoolDemand, 2> compute_demands(std::uint32_t rank, const WorkCompute& compute) const;
  [[nodiscard]] CallId call_id(std::uint32_t rank, Instance instance) const;
  [[nodiscard]] Instance instance_of(std::uint32_t rank, CallId call) const;

  // graph_chunks.cpp: chunks, ops, ports, links
  bool admit(std::uint32_t rank);
  void number_chunk(std::uint32_t rank, CallId id);
  [[nodiscard]] const ChunkShape* next_chunk(std::uint32_t rank);
  ChunkRun& chunk_run(std::uint32_t rank, Seq seq);
  void start_phase(std::uint32_t rank, Seq seq);
  void end_phase(std::uint32_t rank, Seq seq);
  bool start_ops(std::uint32_t rank);
  void start_op(std::uint32_t rank, Seq seq, OpId id);
  void end_segments(std::uint32_t rank, const Parcel& parcel, std::uint32_t count);
  void end_chunk(std::uint32_t rank, Seq seq);
  bool pump_ports(std::uint32_t rank);
  void fetch(std::uint32_t rank, const Parcel& parcel);
  void begin_work(std::uint32_t rank, const PendingWork& work, std::span<const PoolDemand> demands, Picos least = {});
  void receive(std::uint32_t rank, const Parcel& parcel);
  void fetched(std::uint32_t rank, const Parcel& parcel);
  void enter_link(Event event);
  void arrive(Event event, Picos time);
  [[nodiscard]] std::int64_t parcel_bytes(const Parcel& parcel) const;
  [[nodiscard]] std::size_t hops(const Event& event) const;
  [[nodiscard]] LinkId link_of(const Event& event) const;
  [[nodiscard]] std::uint32_t port_of(std::uint32_t rank, Seq seq, OpId op) const;

  // graph_messages.cpp: messages from peer to peer
  void reach_message(std::uint32_t rank, Instance instance);
  void message_left(Seq seq);
  void message_arrived(Seq seq, std::int64_t bytes);
  void message_landed(Seq seq);

  // graph_engine.cpp: the phases of an ace engine
  bool move_engine(std::uint32_t rank);
  bool move_loads(std::uint32_t rank);
  bool move_phase(std::uint32_t rank, std::uint32_t partition);
  void loaded(std::uint32_t rank, Seq seq);
  void stored(std::uint32_t rank, Seq seq);
  void leave_phase(std::uint32_t rank, Seq seq);

  Setup setup_;
  const CommunicationEngine& engine_;
  std::vector<std::vector<std::vector<NodeId>>> later_, later_step_;  // per program and task
  std::deque<Rank> ranks_;                                            // never move
  std::vector<Flow> flows_;                                           // by seq
  std::vector<Call> calls_;
  std::vector<CallId> first_call_;                      // per group
  std::vector<std::vector<std::uint32_t>> message_of_;  // per rank and task; sends and receives only
  std::vector<Message> messages_;                       // step after step
  std::vector<CallId> newly_reached_;
  std::vector<std::uint32_t> dirty_;
  std::vector<Event> heads_;    // of this instant
  std::vector<Picos> free_;     // per link
  std::vector<Picos> latency_;  // per link
  std::vector<std::uint32_t> port_of_link_;
  EventQueue<Event> queue_;
  Picos now_;
  Picos reaction_;
  std::uint32_t port_depth_ = 2;
  std::uint32_t in_flight_max_ = 64;
  double network_bytes_ = 0;
  std::uint64_t event_sum_ = 0;
  std::optional<Error> late_;  // the run ends with it
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
