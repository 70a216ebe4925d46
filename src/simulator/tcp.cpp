// The TCP model: sends over the same links are one connection, which carries its segments one after another, the lowest
// first. Segments are cut into chunks, what TCP hands to a device at once. A connection has two chunks at most in the
// queue of its own first link (Linux's limit for a socket, "TCP small queues"); from there on they go by themselves,
// and every link takes what comes in the order in which it comes, whole chunk after whole chunk. So connections that
// share a link share it by what each of them has waiting there, and one that was forwarded to it, and can fill its
// queue, gets more than one that begins there. Windows are as long as they need be and nothing is lost.
#include <algorithm>
#include <map>
#include <utility>

#include "base/event_queue.h"
#include "schedule/send_queue.h"
#include "simulator/schedule_run.h"

namespace hocket {
namespace {

/// Of a connection, in the queue of its own first link.
constexpr std::uint32_t kQueuedMax = 2;

struct Chunk {
  enum class What : std::uint8_t { kReached, kLeft, kArrived, kWorked };

  OpId op = kNoOp;
  std::uint32_t hop = 0;
  What what = What::kReached;
  bool last = false;  // of its segment
  std::int64_t bytes = 0;
};

struct Connection {
  SendQueue waiting;
  OpId op = kNoOp;           // whose segment is being cut
  std::int64_t left = 0;     // bytes of it
  std::uint32_t queued = 0;  // chunks that have not left yet
};

/// Segments [next, end) of a send may leave; it waits for its connection when there are any.
struct ReadySegments {
  std::uint32_t next = 0;
  std::uint32_t end = 0;
  bool waits = false;
};

class TcpSimulation final : public ScheduleRun {
 public:
  TcpSimulation(std::span<const SimulatedJob> jobs, const SimulateOptions& options, std::vector<FlatRoutes> routes)
      : ScheduleRun(jobs, options, std::move(routes)),
        ready_(op_count()),
        connection_of_(op_count()),
        free_(topology_.links().size()) {
    OpId first = 0;
    for (const SimulatedJob& job : jobs) first = connect(*job.plan, first);
  }

  Result<JointResult> run() {
    HOCKET_TRY(check_steps());
    begin();
    feed();
    while (!queue_.empty() && !stopped()) {
      const EventQueue<Chunk>::Event event = queue_.pop();
      now_ = event.time;
      handle(event.payload);
      drain();
      if (queue_.empty() || queue_.front_time().count > now_.count) feed();
    }
    return finish_result(queue_.count());
  }

 private:
  /// Gives the sends of a job their connections; returns the first op of the next.
  OpId connect(const Plan& plan, OpId first) {
    std::map<std::vector<LinkId>, std::uint32_t> known;
    OpId id = first;
    for (const Op& op : plan.schedule().ops()) {
      if (op.sends()) {
        const std::span<const LinkId> route = route_of(id);
        const auto next = static_cast<std::uint32_t>(connections_.size());
        connection_of_[id] = known.try_emplace({route.begin(), route.end()}, next).first->second;
        if (connection_of_[id] == next) connections_.emplace_back();
      }
      ++id;
    }
    return id;
  }

  void work(OpId id, Picos end) override { queue_.push(end, {.op = id, .what = Chunk::What::kWorked}); }

  void launch(OpId id, std::uint32_t first, std::uint32_t count) override {
    ready_[id].end = first + count;
    if (std::exchange(ready_[id].waits, true)) return;
    connections_[connection_of_[id]].waiting.push({first, id});
    undecided_.push_back(connection_of_[id]);
  }

  /// Connections choose when all that happens at one instant is known, so that the order of events makes no difference.
  void feed() {
    for (const std::uint32_t connection : undecided_) fill(connections_[connection]);
    undecided_.clear();
  }

  void fill(Connection& connection) {
    while (connection.queued < kQueuedMax) {
      if (connection.left == 0) {
        if (connection.waiting.empty()) return;
        take_segment(connection);  // perhaps one without bytes, which is a chunk all the same
      }
      const std::int64_t bytes = std::min(connection.left, options_.tcp_chunk.count);
      connection.left -= bytes;
      ++connection.queued;
      enter_link({connection.op, 0, Chunk::What::kReached, connection.left == 0, bytes});
    }
  }

  void take_segment(Connection& connection) {
    const OpId id = connection.waiting.lowest().op;
    ReadySegments& ready = ready_[id];
    connection.op = id;
    connection.left = segment_bytes(id, ready.next++);
    ready.waits = ready.next < ready.end;
    connection.waiting.replace_lowest({ready.next, id}, ready.waits);
  }

  void enter_link(Chunk chunk) {
    const std::span<const LinkId> route = route_of(chunk.op);
    const LinkId link = route[chunk.hop];
    const bool starts = chunk.hop == 0;
    const Picos begin = std::max(now_, free_[link]);
    const Picos sent = begin + transfer_time({chunk.bytes}, rates_[link]);
    const Picos end = starts && chunk.last ? sent + overhead_ : sent;
    if (!on_clock(end + latency_[link])) return;
    free_[link] = end;
    use_link({link, chunk.op, begin, end}, chunk.bytes, end - begin);
    if (starts) queue_.push(end, {chunk.op, 0, Chunk::What::kLeft, chunk.last, chunk.bytes});
    if (++chunk.hop == route.size()) chunk.what = Chunk::What::kArrived;
    queue_.push(end + latency_[link], chunk);
  }

  void handle(const Chunk& chunk) {
    switch (chunk.what) {
      case Chunk::What::kReached:
        return enter_link(chunk);
      case Chunk::What::kLeft:
        --connections_[connection_of_[chunk.op]].queued;
        undecided_.push_back(connection_of_[chunk.op]);
        if (chunk.last) sent(chunk.op);
        return;
      case Chunk::What::kArrived:
        if (chunk.last) arrived(chunk.op);
        return;
      case Chunk::What::kWorked:
        return worked(chunk.op);
    }
  }

  std::vector<ReadySegments> ready_;          // per op
  std::vector<std::uint32_t> connection_of_;  // per op; sends only
  std::vector<Connection> connections_;
  std::vector<std::uint32_t> undecided_;  // connections that may have room for another chunk
  std::vector<Picos> free_;               // per link
  EventQueue<Chunk> queue_;
};

}  // namespace

Result<JointResult> simulate_tcp(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                 std::vector<FlatRoutes> routes) {
  return TcpSimulation(jobs, options, std::move(routes)).run();
}

}  // namespace hocket
