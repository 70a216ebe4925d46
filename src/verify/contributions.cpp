// Last part of a proof: symbolic execution. A value is an input piece and the set of ranks whose inputs it combines.
// Pieces that never meet are executed one group after the other, so memory stays at one group's values. Runs of pieces
// that every op treats alike count as one (the repetition is symbolic).
#include <algorithm>
#include <unordered_map>

#include "verify/groups.h"
#include "verify/verifier.h"

namespace hocket {
namespace {

constexpr std::uint32_t kUndefined = 0xffffffffU;

/// Values of one group of pieces: an input piece each, and a set of ranks (or one rank where nothing is reduced).
class Values {
 public:
  explicit Values(std::size_t words) : words_(words) {}

  void reset(std::size_t count) {
    piece_.assign(count, kUndefined);
    sets_.assign(count * words_, 0);
    free_.clear();
  }
  std::size_t allocate() {
    if (free_.empty()) {
      piece_.push_back(kUndefined);
      sets_.resize(sets_.size() + words_);
      return piece_.size() - 1;
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void release(std::size_t slot) { free_.push_back(slot); }
  void assign(std::size_t to, std::size_t from) {
    piece_[to] = piece_[from];
    std::copy_n(set(from), words_, set(to));
  }
  void set_input(std::size_t at, std::uint32_t piece, std::uint32_t rank) {
    piece_[at] = piece;
    set(at)[rank / 64] |= std::uint64_t{1} << rank % 64;
  }
  [[nodiscard]] std::uint32_t piece(std::size_t at) const { return piece_[at]; }
  [[nodiscard]] std::uint64_t* set(std::size_t at) { return sets_.data() + at * words_; }
  [[nodiscard]] bool has(std::size_t at, std::uint32_t rank) { return (set(at)[rank / 64] >> rank % 64 & 1) != 0; }
  [[nodiscard]] std::uint32_t size(std::size_t at) {
    std::uint32_t ranks = 0;
    for (std::size_t w = 0; w < words_; ++w) ranks += static_cast<std::uint32_t>(__builtin_popcountll(set(at)[w]));
    return ranks;
  }
  /// First rank in both sets, or kUndefined; otherwise `to` becomes the union.
  std::uint32_t merge(std::size_t to, std::size_t from) {
    for (std::size_t w = 0; w < words_; ++w) {
      if (const std::uint64_t both = set(to)[w] & set(from)[w]) {
        return static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(__builtin_ctzll(both));
      }
    }
    for (std::size_t w = 0; w < words_; ++w) set(to)[w] |= set(from)[w];
    return kUndefined;
  }

 private:
  std::size_t words_;
  std::vector<std::uint32_t> piece_;
  std::vector<std::uint64_t> sets_;
  std::vector<std::size_t> free_;
};

struct Problem {
  FindingKind kind = FindingKind::kMissing;
  OpId op = kNoOp;
  std::string text;
};

/// Executes the ops of one group in order.
class GroupRun {
 public:
  GroupRun(const Schedule& schedule, const PieceGroups& groups)
      : schedule_(schedule), groups_(groups), values_((schedule.rank_count() + 63) / 64) {
    if (groups.one_run_per_op()) slot_of_send_.resize(schedule.ops().size());
  }

  /// Calls `completed(op, whole)` for every combining op. Returns the first problem, if any (op kNoOp and empty: none).
  template <class Completed>
  Problem run(std::uint32_t group, std::span<const OpId> ops, Completed&& completed) {
    places_ = groups_.places(group);
    values_.reset(places_ * schedule_.rank_count());
    messages_.clear();
    set_inputs(group);
    for (const OpId id : ops) {
      const Op& op = schedule_.op(id);
      for (std::uint32_t i = groups_.first_in(op, group); i < op.count; i = groups_.next_in(op, group, i)) {
        Problem problem = step(id, i, completed);
        if (problem.op != kNoOp) return problem;
      }
    }
    return check_outputs(group);
  }

 private:
  std::size_t at(std::uint32_t rank, Buffer buffer, std::uint32_t piece) const {
    return rank * places_ + groups_.place(buffer, piece);
  }
  /// The value a send has taken, until its receive takes it. Where an op has one run per group, an array by op will do.
  void put_message(OpId send, std::uint32_t i, std::size_t slot) {
    if (groups_.one_run_per_op()) {
      slot_of_send_[send] = static_cast<std::uint32_t>(slot);
    } else {
      messages_.emplace(std::uint64_t{send} << 32 | i, slot);
    }
  }
  std::size_t take_message(OpId send, std::uint32_t i) {
    if (groups_.one_run_per_op()) return slot_of_send_[send];
    const auto message = messages_.find(std::uint64_t{send} << 32 | i);
    HOCKET_ASSERT(message != messages_.end(), "a receive ran before its send");
    const std::size_t slot = message->second;
    messages_.erase(message);
    return slot;
  }

  void set_inputs(std::uint32_t group) {
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      const OwnedPieces own = input_pieces(schedule_, rank);
      groups_.for_each_piece(group, Buffer::kInput, [&](std::uint32_t piece) {
        if (own.holds(piece)) values_.set_input(at(rank, Buffer::kInput, piece), piece, rank);
      });
    }
  }

  Problem undefined(OpId id, Buffer buffer, std::uint32_t piece) const {
    return {FindingKind::kMissing, id,
            fmt::format("{}: reads {}[{}], which nothing has written", schedule_.describe(id), name_of(buffer), piece)};
  }

  template <class Completed>
  Problem step(OpId id, std::uint32_t i, Completed&& completed) {
    const Op& op = schedule_.op(id);
    const std::uint32_t rank = schedule_.rank_of(id);
    std::size_t source = 0;
    if (op.reads_source()) {
      source = at(rank, op.source().buffer, op.source_piece + i);
      if (values_.piece(source) == kUndefined) return undefined(id, op.source().buffer, op.source_piece + i);
    }
    if (op.kind == OpKind::kSend) {
      const std::size_t slot = values_.allocate();
      values_.assign(slot, source);
      put_message(id, i, slot);
      return {};
    }
    const std::size_t target = at(rank, op.target().buffer, op.target_piece + i);
    if (op.kind == OpKind::kCopy) {
      if (target != source) values_.assign(target, source);
      return {};
    }
    if (op.kind == OpKind::kReduce) {
      if (values_.piece(target) == kUndefined) return undefined(id, op.target().buffer, op.target_piece + i);
      return combine(id, target, source, completed);
    }
    const std::size_t slot = take_message(schedule_.match(id), i);
    Problem problem;
    if (op.kind == OpKind::kRecvReduce) {
      problem = combine(id, slot, source, completed);
    }
    values_.assign(target, slot);
    values_.release(slot);
    return problem;
  }

  /// `to` <- `to` (+) `other`.
  template <class Completed>
  Problem combine(OpId id, std::size_t to, std::size_t other, Completed&& completed) {
    if (!reduces(schedule_.collective().kind)) {
      return {FindingKind::kWrong, id,
              fmt::format("{}: combines values, but {} does not reduce", schedule_.describe(id),
                          name_of(schedule_.collective().kind))};
    }
    if (values_.piece(to) != values_.piece(other)) {
      return {FindingKind::kWrong, id,
              fmt::format("{}: combines input piece {} with input piece {}", schedule_.describe(id),
                          values_.piece(other), values_.piece(to))};
    }
    if (const std::uint32_t twice = values_.merge(to, other); twice != kUndefined) {
      return {FindingKind::kDoubled, id,
              fmt::format("{}: counts the input piece {} of rank {} twice", schedule_.describe(id), values_.piece(to),
                          twice)};
    }
    completed(id, values_.size(to) == schedule_.rank_count());
    return {};
  }

  Problem check_outputs(std::uint32_t group) {
    Problem problem;
    for (std::uint32_t rank = 0; rank < schedule_.rank_count() && problem.text.empty(); ++rank) {
      const OwnedPieces own = output_pieces(schedule_, rank);
      groups_.for_each_piece(group, Buffer::kOutput, [&](std::uint32_t piece) {
        if (problem.text.empty() && own.holds(piece)) problem = check_output(rank, piece);
      });
    }
    return problem;
  }

  Problem check_output(std::uint32_t rank, std::uint32_t piece) {
    const std::size_t place = at(rank, Buffer::kOutput, piece);
    const auto problem = [&](FindingKind kind, std::string what) {
      return Problem{kind, kNoOp, fmt::format("rank {} output[{}] {}", rank, piece, what)};
    };
    if (values_.piece(place) == kUndefined) return problem(FindingKind::kMissing, "is never written");
    const Collective& c = schedule_.collective();
    const std::uint32_t per_block = schedule_.division().pieces_per_block;
    std::uint32_t expected_piece = piece;
    if (c.kind == CollectiveKind::kAllToAll) expected_piece = rank * per_block + piece % per_block;
    if (values_.piece(place) != expected_piece) {
      return problem(FindingKind::kWrong,
                     fmt::format("holds input piece {}, expected {}", values_.piece(place), expected_piece));
    }
    if (reduces(c.kind)) {
      if (values_.size(place) == c.ranks) return {};
      std::uint32_t r = 0;
      while (values_.has(place, r)) ++r;
      return problem(FindingKind::kMissing, fmt::format("lacks the contribution of rank {}", r));
    }
    const std::uint32_t from = c.kind == CollectiveKind::kBroadcast ? c.root : piece / per_block;
    if (!values_.has(place, from))
      return problem(FindingKind::kWrong, fmt::format("does not hold the data of rank {}", from));
    return {};
  }

  const Schedule& schedule_;
  const PieceGroups& groups_;
  Values values_;
  std::size_t places_ = 0;
  std::vector<std::uint32_t> slot_of_send_;
  std::unordered_map<std::uint64_t, std::size_t> messages_;
};

}  // namespace

void Verifier::check_contributions() {
  const PieceGroups groups(*schedule_);
  const PieceGroups::Buckets buckets = groups.sort(order_);
  order_ = {};
  completes_.assign(schedule_->ops().size(), false);
  std::vector<bool> partial(schedule_->ops().size(), false);
  GroupRun run(*schedule_, groups);
  for (std::uint32_t group = 0; group < groups.count() && !enough(); ++group) {
    Problem problem = run.run(group, buckets.ops(group), [&](OpId id, bool whole) {
      if (whole) {
        completes_[id] = true;
      } else {
        partial[id] = true;
      }
    });
    if (!problem.text.empty()) report(problem.kind, problem.op, std::move(problem.text));
  }
  for (OpId id = 0; id < completes_.size(); ++id) mixed_ = mixed_ || (completes_[id] && partial[id]);
}

}  // namespace hocket
