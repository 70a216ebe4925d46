#include "api/plan_book.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/units.h"
#include "exchange/load_topology.h"
#include "exchange/schedule_format.h"

namespace hocket {
namespace {

/// Above this size the choice no longer changes.
constexpr int kClassMax = 28;

int size_class_of(const BoundCollective& what) {
  const auto bytes = static_cast<std::uint64_t>(what.bytes().count);
  return bytes <= 1 ? 0 : std::min<int>(std::bit_width(bytes - 1), kClassMax);
}

/// The largest amount of a class, in whole blocks.
BoundCollective largest_of(const BoundCollective& what, int size_class) {
  BoundCollective largest = what;
  const std::int64_t parts = is_blocked(what.collective.kind) ? what.collective.ranks : 1;
  largest.count = std::max<std::int64_t>((std::int64_t{1} << size_class) / size_of(what.type) / parts, 1) * parts;
  return largest;
}

/// Can it be bound to any count, and to this operator?
bool fits_all(const VerifiedSchedule& schedule, ReduceOp op) {
  return !schedule.schedule().division().uniform && (op != ReduceOp::kAvg || schedule.can_average());
}

}  // namespace

Result<PlanSource> read_plan_source(const Settings& settings, std::uint32_t ranks, std::string_view transport) {
  Meeting meeting = meeting_of(transport);
  TopologyOptions options;
  options.group = fmt::format("{}", fmt::join(settings.topology_ranks, ","));
  const bool stated = !settings.topology.empty();
  HOCKET_TRY_ASSIGN(Topology topology,
                    stated ? load_topology(settings.topology, options) : meeting_topology(meeting, ranks));
  if (topology.rank_count() != ranks)
    return fail(Code::kMismatch, "the topology '{}' has {} ranks, the communicator {}", settings.topology,
                topology.rank_count(), ranks);
  if (stated) {  // choices are those of the topology
    meeting.shown_bytes_max = 0;
    meeting.alike = 1;
  }
  const Bytes most{stated ? std::numeric_limits<std::int64_t>::max() : meeting.segment_max_of(ranks).count};
  PlanSource source{std::move(topology), meeting, most, {}};
  if (settings.plan_file.empty()) return source;
  HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(settings.plan_file));
  if (schedule.rank_count() != ranks)
    return fail(Code::kMismatch, "the plan '{}' has {} ranks, the communicator {}", settings.plan_file,
                schedule.rank_count(), ranks);
  HOCKET_TRY_ASSIGN(source.file, prove(std::move(schedule)));
  return source;
}

Result<std::shared_ptr<PreparedCall>> PlanBook::find(const BoundCollective& what, bool internal, const DebugLog& log) {
  const CallKey key{what.collective.kind, what.collective.root, what.op, what.type, what.count, internal};
  const auto found = loaded_.find(key);
  if (found != loaded_.end()) {
    note_use(*found->second);
    return found->second;
  }
  HOCKET_TRY_ASSIGN(const Choice* const choice, choose(what, log));
  const Bytes segment{choice->segment.count + (internal ? size_of(what.type) : 0)};
  HOCKET_TRY_ASSIGN(const Plan plan, Plan::bind(choice->schedule, what, segment));
  auto made = std::make_shared<PreparedCall>();
  made->what = what;
  made->internal = internal;
  made->algorithm = choice->algorithm;
  HOCKET_TRY_ASSIGN(made->driver, RankDriver::create(plan, rank_, *transport_, options_));
  make_room();
  note_use(*made);
  loaded_.emplace(key, made);
  return made;
}

void PlanBook::make_room() {
  if (loaded_.size() < kLoadedMax) return;
  const auto oldest = std::min_element(loaded_.begin(), loaded_.end(),
                                       [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
  loaded_.erase(oldest);
}

Result<const PlanBook::Choice*> PlanBook::choose(const BoundCollective& what, const DebugLog& log) {
  const bool averages = reduces(what.collective.kind) && what.op == ReduceOp::kAvg;
  const ChoiceKey key{what.collective.kind, what.collective.root, averages, size_class_of(what)};
  const auto found = choices_.find(key);
  if (found != choices_.end()) return &found->second;
  HOCKET_TRY_ASSIGN(Choice made, choose_anew(what, std::get<3>(key), log));
  return &choices_.emplace(key, std::move(made)).first->second;
}

Result<PlanBook::Choice> PlanBook::choose_anew(const BoundCollective& what, int size_class, const DebugLog& log) const {
  const PlanningOptions options = source_->meeting.options();
  const BoundCollective largest = largest_of(what, size_class);
  if (source_->file && source_->file->schedule().collective() == what.collective) {
    const std::string& name = source_->file->schedule().algorithm();
    log.print(DebugLevel::kPlans, "{} of up to {}: the plan file, '{}'", name_of(what.collective.kind),
              format_bytes(largest.bytes()), name);
    return Choice{*source_->file, Plan::kDefaultSegment, name};
  }
  HOCKET_TRY_ASSIGN(const Planning planning, plan_collective(source_->topology, largest, options));
  std::vector<const Candidate*> fitting;
  for (const Candidate& candidate : planning.candidates) {
    if (fits_all(candidate.plan.verified(), what.op)) fitting.push_back(&candidate);
  }
  const Candidate* const best = fastest(fitting, source_->meeting);
  if (best == nullptr)
    return fail(Code::kUnsupported, "no algorithm for {} on '{}' takes every count", name_of(what.collective.kind),
                source_->topology.name());
  const Bytes segment = std::min(best->plan.segment(), source_->segment_max);
  log.print(DebugLevel::kPlans, "{} of up to {}: {} in segments of {}", name_of(what.collective.kind),
            format_bytes(largest.bytes()), best->algorithm, format_bytes(segment));
  return Choice{best->plan.verified(), segment, best->algorithm};
}

}  // namespace hocket
