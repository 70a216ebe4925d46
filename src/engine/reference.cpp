#include "engine/reference.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hocket {
namespace {

Result<void> check_inputs(const BoundCollective& what, std::span<const RankBytes> inputs) {
  HOCKET_TRY(validate(what));
  if (inputs.size() != what.collective.ranks) {
    return fail(Code::kInvalidArgument, "{} inputs for {} ranks", inputs.size(), what.collective.ranks);
  }
  for (std::uint32_t r = 0; r < inputs.size(); ++r) {
    const auto want = static_cast<std::size_t>(input_count(what, r) * size_of(what.type));
    if (inputs[r].size() != want) {
      return fail(Code::kInvalidArgument, "rank {}: input of {} bytes, wanted {}", r, inputs[r].size(), want);
    }
  }
  return {};
}

void combine_into(const BoundCollective& what, std::byte* target, const std::byte* other, std::size_t bytes) {
  const auto size = static_cast<std::size_t>(size_of(what.type));
  for (std::size_t i = 0; i < bytes; i += size) combine_element(what, target + i, target + i, other + i);
}

void divide(const BoundCollective& what, std::byte* target, std::size_t bytes) {
  const auto size = static_cast<std::size_t>(size_of(what.type));
  for (std::size_t i = 0; i < bytes; i += size) divide_element(what, target + i, what.collective.ranks);
}

/// Every contribution in rank order.
RankBytes reduced(const BoundCollective& what, std::span<const RankBytes> inputs) {
  RankBytes total = inputs[0];
  for (std::size_t r = 1; r < inputs.size(); ++r) combine_into(what, total.data(), inputs[r].data(), total.size());
  if (what.op == ReduceOp::kAvg) divide(what, total.data(), total.size());
  return total;
}

RankBytes output_of(const BoundCollective& what, std::span<const RankBytes> inputs, const RankBytes& total,
                    std::uint32_t rank) {
  const std::size_t block = inputs[0].size() / what.collective.ranks;
  const auto cut = [block](const RankBytes& from, std::uint32_t i) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(block * i);
    return RankBytes(begin, begin + static_cast<std::ptrdiff_t>(block));
  };
  RankBytes out;
  switch (what.collective.kind) {
    case CollectiveKind::kAllReduce:
      return total;
    case CollectiveKind::kReduce:
      return rank == what.collective.root ? total : RankBytes{};
    case CollectiveKind::kReduceScatter:
      return cut(total, rank);
    case CollectiveKind::kBroadcast:
      return inputs[what.collective.root];
    case CollectiveKind::kAllGather:
      for (const RankBytes& in : inputs) out.insert(out.end(), in.begin(), in.end());
      return out;
    case CollectiveKind::kAllToAll:
      for (const RankBytes& in : inputs) {
        const RankBytes part = cut(in, rank);
        out.insert(out.end(), part.begin(), part.end());
      }
      return out;
  }
  return out;
}

/// The serial machine of interpret(): whole ops, messages as copies.
class Interpreter {
 public:
  Interpreter(const Plan& plan, std::span<const RankBytes> inputs)
      : plan_(plan), schedule_(plan.schedule()), messages_(schedule_.ops().size()), buffers_(inputs.size()) {
    for (std::uint32_t r = 0; r < inputs.size(); ++r) {
      const auto whole = static_cast<std::size_t>(plan.what().bytes().count);
      buffers_[r][0].resize(whole);
      buffers_[r][1].resize(whole);
      buffers_[r][2].resize(static_cast<std::size_t>(plan.scratch_bytes().count));
      std::copy(inputs[r].begin(), inputs[r].end(), buffers_[r][0].begin() + plan.input_base(r));
    }
  }

  void run() {
    std::vector<std::uint32_t> missing(schedule_.ops().size());
    std::vector<std::vector<OpId>> after(schedule_.ops().size());
    std::vector<OpId> ready;
    for (OpId id = 0; id < missing.size(); ++id) {
      for (const Dependency& d : schedule_.dependencies(id)) after[d.on()].push_back(id);
      missing[id] = static_cast<std::uint32_t>(schedule_.dependencies(id).size());
      if (schedule_.op(id).sends()) after[id].push_back(schedule_.match(id));
      if (schedule_.op(id).receives()) ++missing[id];
      if (missing[id] == 0) ready.push_back(id);
    }
    while (!ready.empty()) {
      const OpId id = ready.back();
      ready.pop_back();
      execute(id);
      for (const OpId next : after[id]) {
        if (--missing[next] == 0) ready.push_back(next);
      }
    }
  }

  [[nodiscard]] RankBytes output(std::uint32_t rank) const {
    const auto bytes = output_count(plan_.what(), rank) * size_of(plan_.what().type);
    const auto begin = buffers_[rank][1].begin() + plan_.output_base(rank);
    return {begin, begin + bytes};
  }

 private:
  [[nodiscard]] std::byte* at(std::uint32_t rank, const PieceRange& range) {
    return buffers_[rank][static_cast<std::size_t>(range.buffer)].data() + plan_.bytes_of(range).offset;
  }

  void execute(OpId id) {
    const Op& op = schedule_.op(id);
    const std::uint32_t rank = schedule_.rank_of(id);
    const auto bytes = static_cast<std::size_t>(plan_.bytes(id));
    if (op.kind == OpKind::kSend) {
      const std::byte* from = at(rank, op.source());
      messages_[schedule_.match(id)].assign(from, from + bytes);
    }
    if (!op.writes_target() || bytes == 0) return;
    std::byte* target = at(rank, op.target());
    if (op.kind == OpKind::kRecv) std::memcpy(target, messages_[id].data(), bytes);
    if (op.kind == OpKind::kCopy) std::memmove(target, at(rank, op.source()), bytes);
    if (op.kind == OpKind::kReduce) combine_into(plan_.what(), target, at(rank, op.source()), bytes);
    if (op.kind == OpKind::kRecvReduce) {
      std::memmove(target, at(rank, op.source()), bytes);
      combine_into(plan_.what(), target, messages_[id].data(), bytes);
    }
    messages_[id] = {};
    if (plan_.what().op == ReduceOp::kAvg && plan_.verified().completes(id)) divide(plan_.what(), target, bytes);
  }

  const Plan& plan_;
  const Schedule& schedule_;
  std::vector<RankBytes> messages_;  // by receiving op
  std::vector<std::array<RankBytes, 3>> buffers_;
};

}  // namespace

std::int64_t input_count(const BoundCollective& what, std::uint32_t rank) {
  const Collective& c = what.collective;
  if (c.kind == CollectiveKind::kBroadcast) return rank == c.root ? what.count : 0;
  return c.kind == CollectiveKind::kAllGather ? what.count / c.ranks : what.count;
}

std::int64_t output_count(const BoundCollective& what, std::uint32_t rank) {
  const Collective& c = what.collective;
  if (c.kind == CollectiveKind::kReduce) return rank == c.root ? what.count : 0;
  return c.kind == CollectiveKind::kReduceScatter ? what.count / c.ranks : what.count;
}

Result<std::vector<RankBytes>> reference_result(const BoundCollective& what, std::span<const RankBytes> inputs) {
  HOCKET_TRY(check_inputs(what, inputs));
  const RankBytes total = reduces(what.collective.kind) ? reduced(what, inputs) : RankBytes{};
  std::vector<RankBytes> outputs;
  for (std::uint32_t r = 0; r < inputs.size(); ++r) outputs.push_back(output_of(what, inputs, total, r));
  return outputs;
}

Result<std::vector<RankBytes>> interpret(const Plan& plan, std::span<const RankBytes> inputs) {
  HOCKET_TRY(check_inputs(plan.what(), inputs));
  Interpreter interpreter(plan, inputs);
  interpreter.run();
  std::vector<RankBytes> outputs;
  for (std::uint32_t r = 0; r < inputs.size(); ++r) outputs.push_back(interpreter.output(r));
  return outputs;
}

}  // namespace hocket
