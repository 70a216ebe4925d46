#include "topo_probe.h"

#include "api/probe.h"
#include "local_ranks.h"
#include "transport/shm/shm_meeting.h"

namespace hocket {
Result<ProbeEnd> probe_topology(const JobFlags& job) {
  HOCKET_TRY_ASSIGN(const auto limit, job.limit());
  HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, job.launch());
  const std::uint32_t size = launch ? launch->size : job.ranks;
  if (size < 2)
    return fail(Code::kInvalidArgument, "topo probe measures between ranks: {} is too few (--ranks N, or a launcher)",
                size);
  if (!launch) {
    HOCKET_TRY_ASSIGN(const int status, run_local_ranks(job.ranks));
    return ProbeEnd{.topology = std::nullopt, .status = status};
  }
  CommunicatorOptions options;
  options.transport = job.transport;
  options.timeout = limit;
  HOCKET_TRY_ASSIGN(Communicator ranks, Communicator::create(options));
  HOCKET_TRY_ASSIGN(const ProbeFigures figures, probe(ranks, named_host(ranks.rank()).value_or(host_name()), {}));
  if (ranks.rank() != 0) return ProbeEnd{};
  HOCKET_TRY_ASSIGN(Topology topology, topology_of(figures));
  return ProbeEnd{.topology = std::move(topology), .status = 0};
}

}  // namespace hocket
