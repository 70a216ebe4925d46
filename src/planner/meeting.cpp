#include "planner/meeting.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "base/units.h"
#include "topology/spec.h"
#include "verify/one_shot.h"

namespace hocket {
namespace {

/// What a message costs whatever its length counts for more in shorter ones.
constexpr Bytes kSegmentLeast{32 << 10};

/// Bytes that ranks send, and that they combine.
std::int64_t work_of(const Plan& plan) {
  std::int64_t work = 0;
  for (OpId id = 0; id < plan.schedule().ops().size(); ++id) {
    const Op& op = plan.schedule().op(id);
    if (op.sends() || op.combines()) work += plan.bytes(id);
  }
  return work;
}

/// Bytes that senders copy when they copy what they send to several peers once.
std::int64_t copied_of(const Plan& plan) {
  const Schedule& schedule = plan.schedule();
  std::set<std::tuple<std::uint32_t, Buffer, std::int64_t, std::int64_t>> sent;
  std::int64_t copied = 0;
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    const Op& op = schedule.op(id);
    if (op.kind != OpKind::kSend) continue;
    const ByteRange bytes = plan.bytes_of(op.source());
    if (sent.emplace(schedule.rank_of(id), bytes.buffer, bytes.offset, bytes.length).second) copied += bytes.length;
  }
  return copied;
}

}  // namespace

Bytes Meeting::segment_max_of(std::uint32_t ranks) const {
  return std::min(segment_max, std::max(kSegmentLeast, Bytes{together.count / ranks}));
}

PlanningOptions Meeting::options() const {
  PlanningOptions options;
  options.simulate.per_message_overhead = per_message;
  options.simulate.reduce_rate = reduce_rate;
  return options;
}

Seconds Meeting::time_of(const Candidate& candidate) const {
  const std::optional<std::size_t> shown = one_shot_bytes(candidate.plan, shown_bytes_max);
  if (shown_bytes_max == 0 || !shown) return to_seconds(candidate.simulated.time);
  const auto read = static_cast<double>(*shown) * candidate.plan.what().collective.ranks;
  return {show.value + read / rate.bandwidth.value};
}

const Candidate* fastest(std::span<const Candidate* const> candidates, const Meeting& meeting) {
  const auto time = [&](const Candidate* c) { return meeting.time_of(*c); };
  const auto quicker = [&](const Candidate* a, const Candidate* b) { return time(a) < time(b); };
  const auto first = std::min_element(candidates.begin(), candidates.end(), quicker);
  if (first == candidates.end()) return nullptr;
  const auto cost = [&](const Candidate* c) {
    return std::tuple(meeting.copies_once ? copied_of(c->plan) : 0, c->simulated.messages, time(c));
  };
  const Candidate* best = *first;
  for (const Candidate* each : candidates) {
    const bool alike =
        time(each).value <= time(*first).value * meeting.alike && work_of(each->plan) <= work_of((*first)->plan);
    if (alike && cost(each) < cost(best)) best = each;
  }
  return best;
}

Meeting meeting_of(std::string_view transport) {
  if (transport == "shm") {
    return {.rate = {.bandwidth = {8e9}, .latency = {5e-7}},
            .per_message = {3e-7},
            .reduce_rate = {10e9},
            .segment_max = {256 << 10},
            .together = {1 << 20},
            .shown_bytes_max = 8 << 10,
            .show = {3e-7},
            .alike = 1.15,
            .copies_once = true};
  }
  constexpr Bytes kAny{std::numeric_limits<std::int64_t>::max()};
  return {.rate = {.bandwidth = {4e9}, .latency = {5e-6}},
          .per_message = {2e-6},
          .reduce_rate = {},
          .segment_max = kAny,
          .together = kAny};
}

std::string meeting_text(const Meeting& meeting, std::uint32_t ranks) {
  return fmt::format("as if {} ranks met at one switch, {} and {} a port, whatever hosts they are on", ranks,
                     format_bandwidth(meeting.rate.bandwidth), format_seconds(meeting.rate.latency));
}

Result<Topology> meeting_topology(const Meeting& meeting, std::uint32_t ranks) {
  TopologyOptions options;
  options.links = {meeting.rate};
  return topology_from_spec(fmt::format("{}:{}", ranks == 1 ? "ring" : "switch", ranks), options);
}

}  // namespace hocket
