// Plan: a verified schedule bound to a count, a dtype, an operator and a segment size. What engine and simulator run.
// Gives every op its bytes: offsets of pieces, length and number of segments, memory need, and a fingerprint.
// Ownership: shares the schedule. Threading: immutable, share freely.
// Refuses: a collective that is not the schedule's, counts that uniform divisions cannot cut, a segment below 1
// element.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/units.h"
#include "verify/verify.h"

namespace hocket {

/// A byte range inside one of a rank's buffers.
struct ByteRange {
  Buffer buffer = Buffer::kInput;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

class Plan {
 public:
  static constexpr Bytes kDefaultSegment{std::int64_t{128} << 10};

  /// `segment`: the most bytes of an op that move at once; ops are cut into equal segments not above it.
  [[nodiscard]] static Result<Plan> bind(VerifiedSchedule schedule, const BoundCollective& what,
                                         Bytes segment = kDefaultSegment);

  [[nodiscard]] const Schedule& schedule() const { return verified_.schedule(); }
  [[nodiscard]] const VerifiedSchedule& verified() const { return verified_; }
  [[nodiscard]] const BoundCollective& what() const { return what_; }
  [[nodiscard]] Bytes segment() const { return segment_; }

  /// Bytes of a run of pieces. Offsets count from the start of the logical vector: the output of a reduce-scatter and
  /// the input of an all-gather hold one block only, so the caller's pointer stands for offset input_base(rank) /
  /// output_base(rank).
  [[nodiscard]] ByteRange bytes_of(const PieceRange& range) const;
  /// Whole message or copy of an op (0 for signal, wait, compute).
  [[nodiscard]] std::int64_t bytes(OpId id) const;
  /// Segments an op is cut into: at least 1, also when it has no bytes.
  [[nodiscard]] std::uint32_t segments(OpId id) const;
  /// Bytes [begin, end) of segment s inside an op of `length` bytes cut into n segments (element aligned).
  [[nodiscard]] std::int64_t segment_begin(std::int64_t length, std::uint32_t s, std::uint32_t n) const;

  [[nodiscard]] std::int64_t input_base(std::uint32_t rank) const;
  [[nodiscard]] std::int64_t output_base(std::uint32_t rank) const;
  /// Bytes the caller supplies / receives, and scratch the engine needs, per rank.
  [[nodiscard]] Bytes input_bytes() const;
  [[nodiscard]] Bytes output_bytes() const;
  [[nodiscard]] Bytes scratch_bytes() const;

  [[nodiscard]] Fingerprint fingerprint() const { return fingerprint_; }

 private:
  explicit Plan(VerifiedSchedule verified) : verified_(std::move(verified)) {}
  VerifiedSchedule verified_;
  BoundCollective what_;
  Bytes segment_;
  std::vector<std::int64_t> offsets_;  // first element of each piece, and the end
  Fingerprint fingerprint_;
};

}  // namespace hocket
