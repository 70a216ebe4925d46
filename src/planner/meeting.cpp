#include "planner/meeting.h"

#include "base/units.h"
#include "topology/spec.h"

namespace hocket {

PlanningOptions Meeting::options() const {
  PlanningOptions options;
  options.simulate.per_message_overhead = per_message;
  options.simulate.reduce_rate = reduce_rate;
  return options;
}

Meeting meeting_of(std::string_view transport) {
  if (transport == "shm") return {{.bandwidth = {8e9}, .latency = {5e-7}}, {3e-7}, {10e9}, 64 << 10};
  return {{.bandwidth = {4e9}, .latency = {5e-6}}, {2e-6}, {}, std::int64_t{1} << 40};
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
