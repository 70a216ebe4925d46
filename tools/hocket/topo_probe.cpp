#include "topo_probe.h"

#include "api/core.h"
#include "api/probe.h"
#include "local_ranks.h"
#include "transport/shm/shm_meeting.h"

namespace hocket {
Result<ProbeEnd> probe_topology(const JobFlags& job) {
  HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, job.launch());
  const std::uint32_t size = launch ? launch->size : job.ranks;
  if (size < 2)
    return fail(Code::kInvalidArgument, "topo probe measures between ranks: {} is too few (--ranks N, or a launcher)",
                size);
  HOCKET_TRY_ASSIGN(const Launch checked, job.check(launch, size));
  if (!launch) {
    HOCKET_TRY_ASSIGN(const int status, job.start(checked.size));
    return ProbeEnd{.topology = std::nullopt, .status = status};
  }
  HOCKET_TRY_ASSIGN(Settings settings, job.settings(*launch));
  HOCKET_TRY_ASSIGN(Job met, join_and_put_away(settings.rendezvous));
  HOCKET_TRY_ASSIGN(Communicator ranks, CommunicatorCore::communicator(std::move(settings), std::move(met)));
  HOCKET_TRY_ASSIGN(const ProbeFigures figures, probe(ranks, named_host(ranks.rank()).value_or(host_name()), {}));
  if (ranks.rank() != 0) return ProbeEnd{};
  HOCKET_TRY_ASSIGN(Topology topology, topology_of(figures));
  return ProbeEnd{.topology = std::move(topology), .status = 0};
}

Result<void> check_storable(const TopologyFormat& format) {
  constexpr double kLatencyS = 1.234567e-6;  // figures of a clock: of no standard
  constexpr double kRateBps = 1.234567891e9;
  const ProbeFigures figures{{"host", "host"}, {0, kLatencyS, kLatencyS, 0}, {0, kRateBps, kRateBps, 0}, {}};
  HOCKET_TRY_ASSIGN(const Topology topology, topology_of(figures));
  if (const Result<std::string> text = format.write(topology); text) return {};
  return fail(Code::kUnsupported, "{} has no place for what a probe measures", format.name);
}

}  // namespace hocket
