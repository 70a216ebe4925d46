// verify(): proves by symbolic execution that a schedule does what its collective asks, for any data and any timing.
//   contributions  every output piece is the reduction of exactly the right inputs, none missing, none twice
//   hazards        no two ops of a rank touch a piece without an order when one of them writes
//   progress       every op runs; smallest FIFO depth per connection that cannot deadlock, or the cycle
// A VerifiedSchedule can be made here only; plans and the engine accept nothing else.
// Threading: pure function. Refuses nothing: whatever is wrong becomes a Finding with rank, op and reason.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace hocket {

enum class FindingKind : std::uint8_t {
  kUnmatched,
  kSizes,
  kMissing,
  kDoubled,
  kWrong,
  kHazard,
  kDeadlock,
  kForbidden
};
[[nodiscard]] std::string_view name_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::kMissing;
  OpId op = kNoOp;
  std::string text;  // one line: where, what, the values that disagree
};

class VerifiedSchedule {
 public:
  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  [[nodiscard]] const std::shared_ptr<const Schedule>& shared() const { return schedule_; }
  /// Messages a connection's FIFO must hold; 0 means that rendezvous is enough.
  [[nodiscard]] std::uint32_t safe_depth() const { return safe_depth_; }
  /// Input and output may be the same memory.
  [[nodiscard]] bool in_place() const { return in_place_; }
  /// Ops whose result is a complete reduction of an input: `avg` divides there. One flag per op.
  [[nodiscard]] bool completes(OpId id) const { return completes_[id]; }
  /// False when an op completes only some of its pieces, so that `avg` has no place to divide.
  [[nodiscard]] bool can_average() const { return can_average_; }

 private:
  friend class Verifier;
  VerifiedSchedule() = default;
  std::shared_ptr<const Schedule> schedule_;
  std::uint32_t safe_depth_ = 0;
  bool in_place_ = false;
  bool can_average_ = true;
  std::vector<bool> completes_;
};

struct Verification {
  std::vector<Finding> findings;  // at most VerifyOptions::findings_max
  std::optional<VerifiedSchedule> verified;
  [[nodiscard]] bool proved() const { return verified.has_value(); }
};

struct VerifyOptions {
  std::size_t findings_max = 16;
  /// Largest FIFO depth tried before a schedule is called unsafe.
  std::uint32_t depth_max = 1U << 20;
};

[[nodiscard]] Verification verify(std::shared_ptr<const Schedule> schedule, const VerifyOptions& options = {});

/// verify() for callers that want one error: the first finding, code kDisproved.
[[nodiscard]] Result<VerifiedSchedule> prove(Schedule schedule);

}  // namespace hocket
