// Schedule: one collective planned for every rank: ops in one arena, dependencies, matched messages, routes.
// Made by ScheduleBuilder only; immutable afterwards. Knows pieces, never bytes, transports or time.
// Not proved: only verify() can say that it does what its collective asks (see verify/verify.h).
// Threading: immutable, share freely. Refuses: more than 2^31 - 1 ops.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "schedule/collective.h"
#include "schedule/division.h"
#include "schedule/op.h"

namespace hocket {

/// Where an op stood in a foreign file (MSCCL: thread block and step), for messages.
struct OpOrigin {
  std::uint32_t thread_block = 0;
  std::uint32_t step = 0;
};

class Schedule {
 public:
  [[nodiscard]] const Collective& collective() const { return collective_; }
  [[nodiscard]] const Division& division() const { return division_; }
  [[nodiscard]] const std::string& algorithm() const { return algorithm_; }
  [[nodiscard]] std::uint32_t rank_count() const { return collective_.ranks; }
  [[nodiscard]] std::uint32_t scratch_pieces() const { return scratch_pieces_; }
  /// Number of time steps the algorithm counts (1 + largest step of an op; 0 without ops).
  [[nodiscard]] std::uint32_t steps() const { return steps_; }

  [[nodiscard]] std::span<const Op> ops() const { return ops_; }
  [[nodiscard]] const Op& op(OpId id) const { return ops_[id]; }
  /// Ops of rank r are [first_op(r), first_op(r + 1)), in program order.
  [[nodiscard]] OpId first_op(std::uint32_t rank) const { return rank_begin_[rank]; }
  [[nodiscard]] std::uint32_t rank_of(OpId id) const;
  [[nodiscard]] std::span<const Dependency> dependencies(OpId id) const {
    const std::size_t begin = ops_[id].first_dependency;
    const std::size_t end = id + 1 < ops_.size() ? ops_[id + 1].first_dependency : dependencies_.size();
    return std::span<const Dependency>(dependencies_).subspan(begin, end - begin);
  }
  [[nodiscard]] std::size_t dependency_count() const { return dependencies_.size(); }
  /// The other end of a message: the k-th send from a to b on a channel meets the k-th receive. kNoOp when unmatched.
  [[nodiscard]] OpId match(OpId id) const { return matches_[id]; }

  /// Link ids of a route, in order from sender to receiver (they refer to the topology planned for).
  [[nodiscard]] std::span<const std::uint32_t> route(std::uint32_t index) const {
    return std::span<const std::uint32_t>(route_links_)
        .subspan(route_begin_[index], route_begin_[index + 1] - route_begin_[index]);
  }
  [[nodiscard]] std::uint32_t route_count() const { return static_cast<std::uint32_t>(route_begin_.size() - 1); }
  /// Fingerprint of the topology the routes refer to; all zero when there are none.
  [[nodiscard]] Fingerprint topology() const { return topology_; }

  [[nodiscard]] bool has_origins() const { return !origins_.empty(); }
  [[nodiscard]] OpOrigin origin(OpId id) const { return origins_[id]; }
  /// "rank 3 op 17 (recv o[4] from rank 1)", with thread block and step where known.
  [[nodiscard]] std::string describe(OpId id) const;
  [[nodiscard]] Fingerprint fingerprint() const;

 private:
  friend class ScheduleBuilder;
  Schedule() = default;

  Collective collective_;
  Division division_;
  std::string algorithm_;
  std::uint32_t scratch_pieces_ = 0;
  std::uint32_t steps_ = 0;
  std::vector<Op> ops_;
  std::vector<OpId> rank_begin_;
  std::vector<Dependency> dependencies_;
  std::vector<OpId> matches_;
  std::vector<std::uint32_t> route_begin_{0};
  std::vector<std::uint32_t> route_links_;
  std::vector<OpOrigin> origins_;
  Fingerprint topology_;
};

/// Input and output of one rank may be the same memory in place: true for every kind but all-to-all.
[[nodiscard]] constexpr bool may_alias(CollectiveKind kind) { return kind != CollectiveKind::kAllToAll; }

/// Two accesses of one rank touch a common piece. With `aliased`, input and output are one buffer.
[[nodiscard]] bool overlaps(const PieceRange& a, const PieceRange& b, bool aliased);
/// `b` conflicts with `a` (overlap, at least one write); `aligned` is cleared when a conflict is not piece by piece.
[[nodiscard]] bool conflicts(const Op& a, const Op& b, bool aliased, bool& aligned);

}  // namespace hocket
