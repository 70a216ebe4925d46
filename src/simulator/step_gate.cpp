#include "simulator/step_gate.h"

#include <algorithm>

#include "schedule/order.h"

namespace hocket {
namespace {

constexpr std::int64_t kFlitBytes = 16;  // when head flits have no bytes

}  // namespace

Result<void> StepGate::check(const Plan& plan) {
  const Schedule& schedule = plan.schedule();
  std::vector<std::uint32_t> earliest(schedule.ops().size(), 0);  // the first step in which an op's data can be there
  std::vector<std::uint32_t> arrival(schedule.ops().size(), 0);
  for (const OpId id : execution_order(schedule)) {
    const Op& op = schedule.op(id);
    std::uint32_t& step = earliest[id];
    for (const Dependency& d : schedule.dependencies(id)) step = std::max(step, earliest[d.on()]);
    if (op.receives()) step = std::max(step, arrival[id]);
    if (!op.sends()) continue;
    if (op.step < step) {
      return fail(Code::kUnsupported, "no lock step: {} is of step {} and waits for a message of step {}",
                  schedule.describe(id), op.step, step - 1);
    }
    if (plan.segments(id) > 1) {
      return fail(Code::kUnsupported, "no lock step: {} goes in {} segments; interfaces move whole messages ({} bytes)",
                  schedule.describe(id), plan.segments(id), plan.bytes(id));
    }
    step = op.step;
    arrival[schedule.match(id)] = op.step + 1;
  }
  return {};
}

StepGate::StepGate(const Plan& plan, const Topology& topology, const SimulateOptions& options, const FlatRoutes& routes)
    : plan_(plan),
      topology_(topology),
      options_(options),
      routes_(routes),
      global_(options.interfaces.injection == Injection::kGlobalStep),
      ranks_(plan.schedule().rank_count()),
      rank_of_(plan.schedule().ops().size()),
      step_bytes_(plan.schedule().steps(), 0),
      step_left_(plan.schedule().steps(), 0),
      packets_waiting_(topology.links().size(), 0) {
  const Schedule& schedule = plan.schedule();
  const std::int64_t flit = options.head_flit.count > 0 ? options.head_flit.count : kFlitBytes;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    std::vector<std::uint32_t>& steps = ranks_[r].steps;
    for (OpId id = schedule.first_op(r); id < schedule.first_op(r + 1); ++id) {
      rank_of_[id] = r;
      const Op& op = schedule.op(id);
      if (!op.sends()) continue;
      steps.push_back(op.step);
      ++step_left_[op.step];
      step_bytes_[op.step] = std::max(step_bytes_[op.step], plan.bytes(id));
    }
    std::sort(steps.begin(), steps.end());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i == 0 || steps[i] != steps[i - 1]) ranks_[r].messages.push_back(0);
      ++ranks_[r].messages.back();
    }
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    BytesPerSecond rate;
    for (const LinkId link : topology.outgoing(topology.vertex_of(r)))
      rate = std::max(rate, topology.link(link).bandwidth);
    if (rate.value > 0) ranks_[r].cycle = transfer_time({flit}, rate);
  }
}

void StepGate::start(Picos now) {
  for (Rank& rank : ranks_) enter_step(rank, now);
  if (global_) advance_all();
}

void StepGate::release(Rank& rank) {
  const auto later = std::stable_partition(rank.waiting.begin(), rank.waiting.end(), [&](OpId id) {
    return plan_.schedule().op(id).step > (global_ ? global_step_ : rank.step);
  });
  releases_.insert(releases_.end(), later, rank.waiting.end());
  rank.waiting.erase(later, rank.waiting.end());
}

/// The counter stands at rank.step.
void StepGate::enter_step(Rank& rank, Picos now) {
  rank.sending = rank.next < rank.steps.size() && rank.steps[rank.next] == rank.step;
  rank.to_issue = rank.sending ? rank.messages[rank.next] : 0;
  rank.until = now;
  if (global_ || rank.next == rank.steps.size()) return;
  if (!rank.sending) {
    rank.until = now + nop_length(rank);
    timers_.push_back({rank.until, static_cast<std::uint32_t>(&rank - ranks_.data())});
  }
  release(rank);
}

std::int64_t StepGate::packets(std::int64_t bytes) const {
  return std::max<std::int64_t>((bytes + options_.packet_payload.count - 1) / options_.packet_payload.count, 1);
}

Picos StepGate::nop_length(const Rank& rank) const {
  const std::int64_t bytes = step_bytes_[rank.step];
  if (bytes == 0) return {};
  const std::int64_t flit = options_.head_flit.count > 0 ? options_.head_flit.count : kFlitBytes;
  const std::int64_t heads = options_.interfaces.flow_control == FlowControl::kPacket ? 1 : 0;
  const std::int64_t of_packet = (options_.packet_payload.count + flit - 1) / flit + heads;
  const std::int64_t count = packets(bytes);
  const std::int64_t buffered = options_.interfaces.buffer_packets;
  const std::int64_t cycles = count > buffered ? (count - buffered) * of_packet : count;
  return {cycles * rank.cycle.count * (rank.sent_before ? 2 : 1)};
}

bool StepGate::admit(OpId send, Picos now) {
  Rank& rank = ranks_[rank_of_[send]];
  const std::uint32_t step = plan_.schedule().op(send).step;
  if (step > (global_ ? global_step_ : rank.step)) {
    rank.waiting.push_back(send);
    return false;
  }
  if (global_) return true;
  const std::int64_t count = packets(plan_.bytes(send));
  packets_waiting_[routes_.of(send).front()] += count;
  --rank.to_issue;
  rank.until = std::max(rank.until, now + Picos{count * rank.cycle.count});
  timers_.push_back({rank.until, rank_of_[send]});
  return true;
}

bool StepGate::interfaces_free(std::uint32_t rank) const {
  const auto links = topology_.outgoing(topology_.vertex_of(rank));
  return std::all_of(links.begin(), links.end(), [&](LinkId link) {
    return packets_waiting_[link] <= std::int64_t{options_.interfaces.buffer_packets};
  });
}

void StepGate::advance(std::uint32_t r, Picos now) {
  Rank& rank = ranks_[r];
  if (global_ || rank.next == rank.steps.size() || rank.to_issue > 0 || now < rank.until) return;
  if (rank.sending && !interfaces_free(r)) return;
  if (rank.sending) ++rank.next;
  rank.sent_before = rank.sending;
  ++rank.step;
  enter_step(rank, now);
}

void StepGate::packet_left(LinkId link, Picos now) {
  if (global_) return;
  const std::int32_t rank = topology_.rank_of(topology_.link(link).from);
  if (rank < 0) return;
  --packets_waiting_[link];
  if (ranks_[static_cast<std::uint32_t>(rank)].sending) advance(static_cast<std::uint32_t>(rank), now);
}

void StepGate::message_arrived(OpId send, Picos /*now*/) {
  --step_left_[plan_.schedule().op(send).step];
  if (global_) advance_all();
}

void StepGate::advance_all() {
  const std::uint32_t before = global_step_;
  while (global_step_ < step_left_.size() && step_left_[global_step_] == 0) ++global_step_;
  if (global_step_ == before && before > 0) return;
  for (Rank& rank : ranks_) release(rank);
}

}  // namespace hocket
