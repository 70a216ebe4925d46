// SmallExecutor: runs a schedule on one 64-bit number per piece, in a random order that the frontier allows. Sums wrap.
// Ownership: keeps a pointer to the schedule. Threading: one owner.
// Independent of the engine; used to check what the verifier says. Not for speed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/random.h"
#include "schedule/frontier.h"
#include "schedule/schedule.h"

namespace hocket {

class SmallExecutor {
 public:
  SmallExecutor(const Schedule& schedule, std::uint64_t seed) : schedule_(schedule), random_(seed) {
    const std::uint32_t pieces = schedule.division().pieces();
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
      Memory memory{std::vector<std::uint64_t>(pieces), std::vector<std::uint64_t>(pieces, kUnwritten),
                    std::vector<std::uint64_t>(schedule.scratch_pieces(), kUnwritten)};
      for (std::uint32_t p = 0; p < pieces; ++p) memory[0][p] = Random(rank * 7919 + p).next();
      memories_.push_back(std::move(memory));
    }
  }

  /// False when ops remain that can never run.
  bool run() {
    const auto count = static_cast<OpId>(schedule_.ops().size());
    Frontier<std::uint8_t> frontier(schedule_, 0, count);
    std::vector<OpId> ready;
    const auto enter = [&](OpId id) {
      if (frontier.startable(id) == 0) return;
      frontier.start(id);
      ready.push_back(id);
    };
    for (OpId id = 0; id < count; ++id) enter(id);
    std::size_t ran = 0;
    while (!ready.empty()) {
      std::swap(ready[random_.below(ready.size())], ready.back());
      const OpId id = ready.back();
      ready.pop_back();
      step(id);
      ++ran;
      frontier.finish(id, 1, enter);
      const OpId other = schedule_.match(id);
      if (schedule_.op(id).sends() && other != kNoOp) {
        frontier.arrive(other);
        enter(other);
      }
    }
    return ran == count;
  }

  /// Every output equals the serial definition of the collective.
  [[nodiscard]] bool right() const {
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      for (std::uint32_t p = 0; p < schedule_.division().pieces(); ++p) {
        const std::optional<std::uint64_t> expected = expect(rank, p);
        if (memories_[rank][1][p] != expected.value_or(kUnwritten)) return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kUnwritten = 0xdeadbeefdeadbeefULL;
  using Memory = std::vector<std::vector<std::uint64_t>>;

  std::uint64_t& at(std::uint32_t rank, PieceRange range, std::uint32_t i) {
    return memories_[rank][static_cast<std::size_t>(range.buffer)][range.piece + i];
  }

  void step(OpId id) {
    const Op& op = schedule_.op(id);
    const std::uint32_t rank = schedule_.rank_of(id);
    for (std::uint32_t i = 0; i < op.count; ++i) {
      switch (op.kind) {
        case OpKind::kSend:
          messages_[{id, i}] = at(rank, op.source(), i);
          break;
        case OpKind::kRecv:
          at(rank, op.target(), i) = messages_[{schedule_.match(id), i}];
          break;
        case OpKind::kRecvReduce:
          at(rank, op.target(), i) = at(rank, op.source(), i) + messages_[{schedule_.match(id), i}];
          break;
        case OpKind::kCopy:
          at(rank, op.target(), i) = at(rank, op.source(), i);
          break;
        case OpKind::kReduce:
          at(rank, op.target(), i) += at(rank, op.source(), i);
          break;
        default:
          break;
      }
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> expect(std::uint32_t rank, std::uint32_t p) const {
    const Collective& c = schedule_.collective();
    const std::uint32_t per_block = schedule_.division().pieces_per_block;
    if (c.kind == CollectiveKind::kReduceScatter && p / per_block != rank) return std::nullopt;
    if (c.kind == CollectiveKind::kReduce && rank != c.root) return std::nullopt;
    if (c.kind == CollectiveKind::kAllToAll) return memories_[p / per_block][0][rank * per_block + p % per_block];
    if (c.kind == CollectiveKind::kAllGather) return memories_[p / per_block][0][p];
    if (c.kind == CollectiveKind::kBroadcast) return memories_[c.root][0][p];
    std::uint64_t sum = 0;
    for (std::uint32_t r = 0; r < c.ranks; ++r) sum += memories_[r][0][p];
    return sum;
  }

  const Schedule& schedule_;
  Random random_;
  std::vector<Memory> memories_;
  std::map<std::pair<OpId, std::uint32_t>, std::uint64_t> messages_;
};

}  // namespace hocket
