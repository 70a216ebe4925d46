// From what a user calls to what the queues run.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "api/core.h"
#include "engine/reference.h"
#include "transport/call_notice.h"

namespace hocket {
namespace {

constexpr std::array kKinds{CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                            CollectiveKind::kBroadcast, CollectiveKind::kReduce,        CollectiveKind::kAllToAll};

const std::byte* at(const void* buffer, std::int64_t offset, DataType type) {
  return buffer == nullptr ? nullptr : static_cast<const std::byte*>(buffer) + offset * size_of(type);
}
std::byte* at(void* buffer, std::int64_t offset, DataType type) {
  return buffer == nullptr ? nullptr : static_cast<std::byte*>(buffer) + offset * size_of(type);
}

void copy_elements(void* target, const void* source, std::int64_t count, DataType type) {
  if (count > 0 && target != source) std::memmove(target, source, static_cast<std::size_t>(count * size_of(type)));
}

Result<void> check_blocks(const Blocks& blocks, std::uint32_t ranks, std::string_view name) {
  if (blocks.counts.size() != ranks || blocks.offsets.size() != ranks)
    return fail(Code::kInvalidArgument, "{}: {} counts and {} offsets for {} ranks", name, blocks.counts.size(),
                blocks.offsets.size(), ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (blocks.counts[r] < 0 || blocks.offsets[r] < 0)
      return fail(Code::kInvalidArgument, "{}: count {} at offset {} for rank {}", name, blocks.counts[r],
                  blocks.offsets[r], r);
  }
  return {};
}

Result<void> check_reduction(const Call& call) {
  if (static_cast<int>(call.reduction.op) >= kReduceOps)
    return fail(Code::kInvalidArgument, "reduce operator {} does not exist", static_cast<int>(call.reduction.op));
  if (call.reduction.scaled && call.reduction.op != ReduceOp::kSum)
    return fail(Code::kInvalidArgument, "a scale goes with sum, not with {}", name_of(call.reduction.op));
  const bool is_integer = call.type < DataType::kF16;
  const double scale = call.reduction.scale;
  const double beyond = call.type == DataType::kU64 ? 0x1p64 : 0x1p63;
  const bool whole = std::trunc(scale) == scale && scale >= -0x1p63 && scale < beyond;
  if (call.reduction.scaled && is_integer && !whole)
    return fail(Code::kInvalidArgument, "a scale of {} for {}: must be a whole number of 64 bits", scale,
                name_of(call.type));
  return {};
}

}  // namespace

Result<void> CommunicatorCore::check_words(const Call& call) const {
  if (call.operation > Operation::kBarrier)
    return fail(Code::kInvalidArgument, "{}: operation {} does not exist", own_name(),
                static_cast<int>(call.operation));
  if (static_cast<int>(call.type) >= kDataTypes)
    return fail(Code::kInvalidArgument, "{}: data type {} does not exist", own_name(), static_cast<int>(call.type));
  if (call.timeout.count() < 0) return fail(Code::kInvalidArgument, "{}: a timeout below 0", own_name());
  return {};
}

Result<void> CommunicatorCore::check_buffers(const Call& call, const BoundCollective& what) const {
  if (input_count(what, rank()) > 0 && call.input == nullptr)
    return fail(Code::kInvalidArgument, "{}: {} of {} {} without an input", own_name(), name_of(what.collective.kind),
                what.count, name_of(what.type));
  if (output_count(what, rank()) > 0 && call.output == nullptr)
    return fail(Code::kInvalidArgument, "{}: {} of {} {} without an output", own_name(), name_of(what.collective.kind),
                what.count, name_of(what.type));
  return {};
}

Result<QueuedCall> CommunicatorCore::planned(const Call& call) const {
  QueuedCall queued;
  queued.timeout = call.timeout;
  queued.description = call.description;
  if (call.operation == Operation::kBarrier) {
    queued.what = barrier_of(size());
    queued.internal = true;
    return queued;
  }
  BoundCollective& what = queued.what;
  what.collective = {kKinds[static_cast<std::size_t>(call.operation)], size(), 0};
  const CollectiveKind kind = what.collective.kind;
  if (is_rooted(kind)) what.collective.root = call.root;
  what.type = call.type;
  if (reduces(kind)) {
    HOCKET_TRY(check_reduction(call));
    what.op = call.reduction.op;
    queued.reduction = call.reduction;
  }
  const std::int64_t blocks = is_blocked(kind) ? size() : 1;
  if (__builtin_mul_overflow(call.count, blocks, &what.count))
    return fail(Code::kInvalidArgument, "{}: {} elements a rank exceed 2^63", name_of(kind), call.count);
  HOCKET_TRY(validate(what));
  HOCKET_TRY(check_buffers(call, what));
  queued.buffers = {call.input, call.output};
  return queued;
}

Result<void> CommunicatorCore::append(const Call& call, Parts& parts, std::vector<const Call*>& to_self) {
  switch (call.operation) {
    case Operation::kSend:
    case Operation::kReceive:
      if (call.root == rank()) {
        to_self.push_back(&call);
        return {};
      }
      return append_message(call, call.operation == Operation::kSend, parts);
    case Operation::kGather:
    case Operation::kScatter:
      return append_rooted(call, parts);
    case Operation::kAllGatherV:
      return append_all_gather_v(call, parts);
    case Operation::kAllToAllV:
      return append_all_to_all_v(call, parts);
    default:
      HOCKET_TRY_ASSIGN(QueuedCall queued, planned(call));
      parts.push_back({0, std::move(queued)});
      return {};
  }
}

Result<void> CommunicatorCore::append_message(const Call& call, bool sends, Parts& parts) {
  HOCKET_TRY_ASSIGN(Part part, message_of(call, sends));
  parts.push_back(std::move(part));
  return {};
}

Result<CommunicatorCore::Part> CommunicatorCore::message_of(const Call& call, bool sends) {
  if (call.root >= size())
    return fail(Code::kInvalidArgument, "{}: rank {} is not below the {} ranks", own_name(), call.root, size());
  const void* buffer = sends ? call.input : call.output;
  if (call.count > 0 && buffer == nullptr)
    return fail(Code::kInvalidArgument, "{}: a message of {} {} without a buffer", own_name(), call.count,
                name_of(call.type));
  QueuedCall queued;
  queued.what = {{CollectiveKind::kBroadcast, 2, 0}, call.count, call.type, ReduceOp::kSum};
  HOCKET_TRY(validate(queued.what));
  // In place at the sender, which only reads.
  queued.buffers = sends ? RankBuffers{call.input, const_cast<void*>(call.input)} : RankBuffers{nullptr, call.output};
  queued.timeout = call.timeout;
  queued.description = call.description;
  Part part{0, std::move(queued)};
  HOCKET_TRY_ASSIGN(part.queue, queue_of_messages(sends ? rank() : call.root, sends ? call.root : rank()));
  return part;
}

QueuedCall CommunicatorCore::agreement(const Call& call, std::int64_t count) const {
  QueuedCall queued;
  queued.what = {{CollectiveKind::kAllGather, size(), 0},
                 static_cast<std::int64_t>(Agreement::kWords * size()),
                 DataType::kU64,
                 ReduceOp::kSum};
  queued.internal = true;
  queued.part_of = name_of(call.operation);
  queued.agreement = std::make_shared<Agreement>();
  Agreement& words = *queued.agreement;
  words.mine = {static_cast<std::uint64_t>(call.operation), static_cast<std::uint64_t>(count),
                static_cast<std::uint64_t>(call.type), call.root};
  words.all.resize(size());
  words.members = &job_.members;
  queued.buffers = {words.mine.data(), words.all.data()};
  queued.timeout = call.timeout;
  queued.description = call.description;
  return queued;
}

Result<void> CommunicatorCore::append_rooted(const Call& call, Parts& parts) {
  const bool gathers = call.operation == Operation::kGather;
  BoundCollective what{{CollectiveKind::kBroadcast, size(), call.root}, 0, call.type, ReduceOp::kSum};
  if (__builtin_mul_overflow(call.count, std::int64_t{size()}, &what.count))
    return fail(Code::kInvalidArgument, "{}: {} elements a rank exceed 2^63", own_name(), call.count);
  HOCKET_TRY(validate(what));
  const bool is_root = call.root == rank();
  const bool lacks_input = call.input == nullptr && (gathers || is_root);
  const bool lacks_output = call.output == nullptr && (!gathers || is_root);
  if (call.count > 0 && (lacks_input || lacks_output))
    return fail(Code::kInvalidArgument, "{}: {} without an {}", own_name(), gathers ? "gather" : "scatter",
                lacks_input ? "input" : "output");
  parts.push_back({0, agreement(call, call.count)});
  Call message = call;
  if (!is_root) return append_message(message, gathers, parts);
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    message.root = peer;
    const std::int64_t offset = std::int64_t{peer} * call.count;
    if (gathers) message.output = at(call.output, offset, call.type);
    if (!gathers) message.input = at(call.input, offset, call.type);
    if (peer == rank()) {
      copy_elements(message.output, message.input, call.count, call.type);
      continue;
    }
    HOCKET_TRY(append_message(message, !gathers, parts));
  }
  return {};
}

/// One broadcast per rank: each is proved, and compared between all ranks by itself.
Result<void> CommunicatorCore::append_all_gather_v(const Call& call, Parts& parts) const {
  HOCKET_TRY(check_blocks(call.receive, size(), "all_gather_v"));
  for (std::uint32_t from = 0; from < size(); ++from) {
    Call block = call;
    block.operation = Operation::kBroadcast;
    block.root = from;
    block.count = call.receive.counts[from];
    block.output = at(call.output, call.receive.offsets[from], call.type);
    HOCKET_TRY_ASSIGN(QueuedCall queued, planned(block));
    parts.push_back({0, std::move(queued)});
  }
  return {};
}

/// What arrives from one rank would overwrite what has not left for another one yet.
Result<void> CommunicatorCore::check_apart(const Call& call) const {
  const auto address = [&call](const void* buffer, std::int64_t offset) {
    return reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uint64_t>(offset * size_of(call.type));
  };
  for (std::uint32_t to = 0; to < size(); ++to) {
    const std::uint64_t sent = address(call.input, call.send.offsets[to]);
    const auto sent_bytes = static_cast<std::uint64_t>(call.send.counts[to] * size_of(call.type));
    for (std::uint32_t from = 0; from < size() && sent_bytes > 0; ++from) {
      const std::uint64_t received = address(call.output, call.receive.offsets[from]);
      const auto bytes = static_cast<std::uint64_t>(call.receive.counts[from] * size_of(call.type));
      const bool same_own = to == rank() && from == rank() && sent == received;
      if (bytes == 0 || same_own || sent + sent_bytes <= received || received + bytes <= sent) continue;
      return fail(Code::kInvalidArgument,
                  "{}: all_to_all_v does not run in place: what is sent to rank {} and what comes from rank {} overlap",
                  own_name(), to, from);
    }
  }
  return {};
}

Result<void> CommunicatorCore::append_all_to_all_v(const Call& call, Parts& parts) {
  HOCKET_TRY(check_blocks(call.send, size(), "all_to_all_v, sent"));
  HOCKET_TRY(check_blocks(call.receive, size(), "all_to_all_v, received"));
  if (call.send.counts[rank()] != call.receive.counts[rank()])
    return fail(Code::kInvalidArgument, "{}: sends itself {} elements, but receives {} from itself", own_name(),
                call.send.counts[rank()], call.receive.counts[rank()]);
  HOCKET_TRY(check_apart(call));
  Call common = call;
  common.root = 0;
  parts.push_back({0, agreement(common, 0)});
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    Call message = call;
    message.root = peer;
    message.input = at(call.input, call.send.offsets[peer], call.type);
    message.output = at(call.output, call.receive.offsets[peer], call.type);
    message.count = call.send.counts[peer];
    if (peer == rank()) {
      copy_elements(message.output, message.input, message.count, call.type);
      continue;
    }
    HOCKET_TRY(append_message(message, true, parts));
    message.count = call.receive.counts[peer];
    HOCKET_TRY(append_message(message, false, parts));
  }
  return {};
}

/// The k-th send to oneself meets the k-th receive of the group.
Result<void> CommunicatorCore::copy_to_self(const std::vector<const Call*>& calls) const {
  std::vector<const Call*> sends;
  std::vector<const Call*> receives;
  for (const Call* call : calls) (call->operation == Operation::kSend ? sends : receives).push_back(call);
  if (sends.size() != receives.size())
    return fail(Code::kMismatch, "{}: {} sends to itself, but {} receives from itself, in one group", own_name(),
                sends.size(), receives.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Call& s = *sends[i];
    const Call& r = *receives[i];
    if (s.count != r.count || s.type != r.type)
      return fail(Code::kMismatch, "{}: sends itself {} {}, but receives {} {}", own_name(), s.count, name_of(s.type),
                  r.count, name_of(r.type));
    if (s.count < 0 || (s.count > 0 && (s.input == nullptr || r.output == nullptr)))
      return fail(Code::kInvalidArgument, "{}: a message of {} {} to itself without a buffer", own_name(), s.count,
                  name_of(s.type));
    copy_elements(r.output, s.input, s.count, s.type);
  }
  return {};
}

}  // namespace hocket
