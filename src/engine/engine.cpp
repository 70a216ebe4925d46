#include "engine/engine.h"

#include <algorithm>

namespace hocket {

Engine::Engine(const Program& program, Transport& transport)
    : program_(&program),
      transport_(&transport),
      frontier_(program.plan().schedule(), program.first_op(), program.end_op()),
      combine_(combine_kernel(program.plan().what().type, program.plan().what().op)),
      scale_(scale_kernel(program.plan().what().type)),
      copy_(copy_kernel()),
      ready_(program.ops().size()),
      listed_(program.ops().size()) {
  for (const ProgramOp& op : program.ops()) frontier_.set_segments(op.end.op, op.end.cut.segments());
}

void Engine::bind(const RankMemory& memory) {
  readable_ = {memory.input, memory.output, memory.scratch};
  writable_ = {nullptr, memory.output, memory.scratch};
  stage_ = memory.stage;
  ops_left_ = program_->ops().size();
  counters_ = RankCounters{};
  error_.reset();
}

void Engine::start(const RankMemory& memory) {
  bind(memory);
  frontier_.restart();
  std::fill(listed_.begin(), listed_.end(), false);
  ready_head_ = 0;
  ready_size_ = 0;
  for (OpId id = program_->first_op(); id < program_->end_op(); ++id) touch(id);
}

const std::byte* Engine::begin_one_shot(const RankMemory& memory) {
  bind(memory);
  const std::vector<ProgramOp>& ops = program_->ops();
  for (leading_ = 0; ops[leading_].kind == OpKind::kCopy; ++leading_) move(ops[leading_], 0);
  const auto send = std::find_if(ops.begin(), ops.end(), [](const ProgramOp& op) { return op.kind == OpKind::kSend; });
  return send->end.cut.bytes() == 0 ? nullptr : source(send->source);
}

void Engine::finish_one_shot(std::span<const std::byte* const> messages) {
  const std::vector<ProgramOp>& ops = program_->ops();
  for (std::size_t i = leading_; i < ops.size(); ++i) {
    const ProgramOp& op = ops[i];
    if (op.kind == OpKind::kSend) {
      counters_.bytes_sent += op.end.cut.bytes();
    } else if (op.kind == OpKind::kRecv || op.kind == OpKind::kRecvReduce) {
      take(op, 0, messages[op.end.peer]);
    } else {
      move(op, 0);
    }
  }
  counters_.segments = counters_.ops = ops.size();
  ops_left_ = 0;
}

void Engine::touch(OpId id) {
  const std::size_t index = id - program_->first_op();
  if (listed_[index] || frontier_.startable(id) == 0) return;
  listed_[index] = true;
  std::size_t at = ready_head_ + ready_size_++;
  if (at >= ready_.size()) at -= ready_.size();
  ready_[at] = id;
}

bool Engine::step() {
  if (ready_size_ == 0 || error_) return false;
  const OpId id = ready_[ready_head_];
  if (++ready_head_ == ready_.size()) ready_head_ = 0;
  --ready_size_;
  listed_[id - program_->first_op()] = false;
  run(program_->op(id), frontier_.startable(id));
  touch(id);
  return true;
}

void Engine::run(const ProgramOp& op, std::uint32_t startable) {
  switch (op.kind) {
    case OpKind::kSend:
    case OpKind::kSignal:
      run_send(op, startable);
      break;
    case OpKind::kRecv:
    case OpKind::kRecvReduce:
    case OpKind::kWait:
      run_receive(op);
      break;
    case OpKind::kCopy:
    case OpKind::kReduce:
      run_local(op);
      break;
    case OpKind::kCompute:
      frontier_.start(op.end.op, startable);
      finish(op.end.op, startable);
      break;
  }
}

void Engine::run_send(const ProgramOp& op, std::uint32_t segments) {
  const std::uint32_t first = frontier_.started(op.end.op);
  const std::int64_t begin = op.end.cut.begin(first);
  const std::int64_t bytes = op.end.cut.begin(first + segments) - begin;
  frontier_.start(op.end.op, segments);
  counters_.bytes_sent += bytes;
  const bool empty = op.kind == OpKind::kSignal || op.end.cut.bytes() == 0;
  const std::byte* from = empty ? nullptr : source(op.source);
  if (op.staged && !empty) {
    std::byte* copy = stage_ + op.stage_offset;
    copy_(copy + begin, from + begin, static_cast<std::size_t>(bytes), Stores::kCached);
    counters_.bytes_copied += bytes;
    from = copy;
  }
  transport_->offer(op.end, {first, segments}, from);
  if (op.staged) finish(op.end.op, segments);
}

void Engine::run_receive(const ProgramOp& op) {
  const std::uint32_t segment = frontier_.started(op.end.op);
  frontier_.start(op.end.op);
  if (op.end.cut.length(segment) > 0) take(op, segment, transport_->bytes(op.end, segment));
  transport_->acknowledge(op.end, segment);
  finish(op.end.op, 1);
}

void Engine::take(const ProgramOp& op, std::uint32_t segment, const std::byte* message) {
  const std::int64_t begin = op.end.cut.begin(segment);
  const std::int64_t bytes = op.end.cut.length(segment);
  if (bytes == 0) return;
  std::byte* to = target(op.target) + begin;
  if (op.kind == OpKind::kRecvReduce) {
    const auto elements = static_cast<std::size_t>(bytes / op.end.cut.element_bytes());
    const std::byte* own = source(op.source) + begin;
    combine_(to, own, message, elements, to == own ? Stores::kCached : op.stores);  // in place it is in the caches
    counters_.bytes_reduced += bytes;
  } else if (to != message) {
    copy_(to, message, static_cast<std::size_t>(bytes), op.stores);
    counters_.bytes_copied += bytes;
  }
  counters_.bytes_received += bytes;
  complete(op, to, bytes);
}

void Engine::run_local(const ProgramOp& op) {
  const std::uint32_t segment = frontier_.started(op.end.op);
  frontier_.start(op.end.op);
  move(op, segment);
  finish(op.end.op, 1);
}

void Engine::move(const ProgramOp& op, std::uint32_t segment) {
  const std::int64_t begin = op.end.cut.begin(segment);
  const std::int64_t bytes = op.end.cut.length(segment);
  if (bytes == 0) return;
  const std::byte* from = source(op.source) + begin;
  std::byte* to = target(op.target) + begin;
  if (op.kind == OpKind::kReduce) {
    combine_(to, to, from, static_cast<std::size_t>(bytes / op.end.cut.element_bytes()), op.stores);
    counters_.bytes_reduced += bytes;
  } else if (to != from) {
    copy_(to, from, static_cast<std::size_t>(bytes), op.stores);
    counters_.bytes_copied += bytes;
  }
  complete(op, to, bytes);
}

void Engine::complete(const ProgramOp& op, std::byte* target, std::int64_t bytes) {
  if (!op.divides) return;
  const auto elements = static_cast<std::size_t>(bytes / op.end.cut.element_bytes());
  scale_(target, elements, program_->plan().what().collective.ranks);
}

void Engine::finish(OpId id, std::uint32_t segments) {
  counters_.segments += segments;
  frontier_.finish(id, segments, [this](OpId dependant) { touch(dependant); });
  if (!frontier_.done(id)) return;
  ++counters_.ops;
  --ops_left_;
}

bool Engine::check(OpId id, bool receives, std::uint32_t room, std::uint32_t segments) {
  if (segments <= room) return true;
  failed({Code::kMalformed, fmt::format("rank {}: {} more segments {} for op {}, which has room for {}",
                                        program_->rank(), segments, receives ? "arrived" : "acknowledged", id, room)});
  return false;
}

void Engine::arrived(OpId receive, std::uint32_t segments) {
  const bool ours = receive >= program_->first_op() && receive < program_->end_op() &&
                    program_->plan().schedule().op(receive).receives();
  const std::uint32_t room = ours ? frontier_.segments(receive) - frontier_.arrived(receive) : 0;
  if (!check(receive, true, room, segments)) return;
  frontier_.arrive(receive, segments);
  touch(receive);
}

void Engine::acknowledged(OpId send, std::uint32_t segments) {
  const bool ours =
      send >= program_->first_op() && send < program_->end_op() && program_->plan().schedule().op(send).sends();
  if (ours && program_->op(send).staged) return;  // finished when it was offered
  const std::uint32_t room = ours ? frontier_.started(send) - frontier_.finished(send) : 0;
  if (check(send, false, room, segments)) finish(send, segments);
}

void Engine::failed(const Error& error) {
  if (!error_) error_ = error;
}

std::byte* Engine::landing(OpId receive, std::uint32_t segment) {
  if (receive < program_->first_op() || receive >= program_->end_op()) return nullptr;
  const ProgramOp& op = program_->op(receive);
  if (op.kind != OpKind::kRecv || op.end.cut.bytes() == 0 || frontier_.released(receive) <= segment) return nullptr;
  return target(op.target) + op.end.cut.begin(segment);
}

OpId Engine::waiting_op() const {
  OpId any = program_->first_op();
  for (OpId id = program_->first_op(); id < program_->end_op(); ++id) {
    if (frontier_.done(id)) continue;
    any = id;
    const Op& op = program_->plan().schedule().op(id);
    if (op.receives() && frontier_.released(id) > frontier_.started(id)) return id;
    if (op.sends() && frontier_.started(id) > frontier_.finished(id)) return id;
  }
  return any;
}

std::string Engine::waits_for() const {
  if (program_->ops().empty()) return fmt::format("rank {} has no ops", program_->rank());
  const OpId id = waiting_op();
  return fmt::format("{} has finished {} of {} segments", program_->plan().schedule().describe(id),
                     frontier_.finished(id), frontier_.segments(id));
}

std::string Engine::waits_for(std::span<const std::uint32_t> called) const {
  const Schedule& schedule = program_->plan().schedule();
  const auto moves = [&schedule](OpId id) { return schedule.op(id).sends() || schedule.op(id).receives(); };
  OpId id = waiting_op();
  for (OpId next = program_->first_op(); !moves(id) && next < program_->end_op(); ++next) id = next;
  const bool sends = schedule.op(id).sends();
  return fmt::format("rank {} has {} {} of {} segments {} rank {}", called[program_->rank()],
                     sends ? "sent" : "received", frontier_.finished(id), frontier_.segments(id), sends ? "to" : "from",
                     called[1 - program_->rank()]);
}

std::uint32_t Engine::waiting_step() const {
  return program_->ops().empty() ? 0 : program_->plan().schedule().op(waiting_op()).step;
}

std::uint32_t Engine::suspect() const {
  if (program_->ops().empty()) return program_->rank();
  const Op& op = program_->plan().schedule().op(waiting_op());
  return op.sends() || op.receives() ? op.peer : program_->rank();
}

}  // namespace hocket
