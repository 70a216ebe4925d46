#include "verify/verify.h"

#include <utility>

#include "verify/verifier.h"

namespace hocket {

std::string_view name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::kUnmatched:
      return "unmatched";
    case FindingKind::kSizes:
      return "sizes";
    case FindingKind::kMissing:
      return "missing";
    case FindingKind::kDoubled:
      return "doubled";
    case FindingKind::kWrong:
      return "wrong";
    case FindingKind::kHazard:
      return "hazard";
    case FindingKind::kDeadlock:
      return "deadlock";
    case FindingKind::kForbidden:
      return "forbidden";
  }
  return "?";
}

Verification verify(std::shared_ptr<const Schedule> schedule, const VerifyOptions& options) {
  return Verifier(std::move(schedule), options).run();
}

Result<VerifiedSchedule> prove(Schedule schedule) {
  Verification result = verify(std::make_shared<const Schedule>(std::move(schedule)));
  if (result.proved()) return std::move(*result.verified);
  return fail(Code::kDisproved, "{}", result.findings.front().text);
}

Verification Verifier::run() {
  HOCKET_ASSERT(schedule_ != nullptr, "no schedule");
  check_shapes();
  if (findings_.empty()) order_ = topological_order();
  if (findings_.empty()) check_hazards();
  if (findings_.empty()) check_contributions();
  order_ = {};
  std::uint32_t depth = 0;
  if (findings_.empty()) depth = smallest_depth();
  Verification result;
  if (findings_.empty()) {
    VerifiedSchedule verified;
    verified.schedule_ = std::move(schedule_);
    verified.safe_depth_ = depth;
    verified.in_place_ = in_place_;
    verified.can_average_ = !mixed_;
    verified.completes_ = std::move(completes_);
    result.verified = std::move(verified);
  }
  result.findings = std::move(findings_);
  return result;
}

}  // namespace hocket
