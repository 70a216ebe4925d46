// Messages from peer to peer: cut into segments that leave by the sender's port, travel and land like those of a
// collective; a kernel or engine reads each byte once and writes it once. The sender never waits for the receiver.
#include "simulator/graph_run.h"

namespace hocket {

void GraphRun::reach_message(std::uint32_t r, Instance i) {
  const std::uint32_t per_step = static_cast<std::uint32_t>(messages_.size() / setup_.options.steps);
  const std::uint32_t index = i / tasks_of(r) * per_step + message_of_[r][i % tasks_of(r)];
  Message& message = messages_[index];
  const bool sends = task(r, i).message->sends;
  begin_communication(r, sends);
  if (!sends) {
    message.expected = true;
    if (message.landed == message.segments) end_communication(r, i);
    return;
  }
  message.seq = static_cast<Seq>(flows_.size());
  flows_.push_back({nullptr, 0, index});
  Port& port = ranks_[r].ports[port_of_link_[message.route.front()]];
  for (std::uint32_t s = 0; s < message.segments; ++s) port.waiting.push({message.seq, 0, s, 0});
}

void GraphRun::message_left(Seq seq) {
  Message& message = messages_[flows_[seq].message];
  if (++message.left == message.segments) end_communication(message.sender, message.send);
}

void GraphRun::message_arrived(Seq seq, std::int64_t bytes) {
  const Message& message = messages_[flows_[seq].message];
  const bool kernels = engine_.kind == EngineKind::kComputeUnits;
  if (engine_.kind == EngineKind::kIdeal || bytes == 0) return message_landed(seq);
  const auto written = static_cast<double>(bytes);
  const double charged = engine_.charge == MemoryCharge::kTraffic ? written : 0;
  ranks_[message.receiver].result.step.memory_bytes_written += written;
  const std::array demands{PoolDemand{kPoolMemory, engine_.split == BudgetSplit::kStatic ? 0 : charged},
                           PoolDemand{kPoolBudget, charged}, PoolDemand{kPoolBusIn, written},
                           PoolDemand{kPoolEngine, engine_.kind == EngineKind::kDma && !kernels ? written : 0}};
  begin_work(message.receiver, {PendingWork::What::kLand, {seq, 0, 0, 0}}, demands);
}

void GraphRun::message_landed(Seq seq) {
  Message& message = messages_[flows_[seq].message];
  mark(message.receiver);
  if (++message.landed == message.segments && message.expected) end_communication(message.receiver, message.receive);
}

}  // namespace hocket
