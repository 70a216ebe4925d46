#include "simulator/simulator.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "simulator/passages.h"
#include "simulator/schedule_run.h"

namespace hocket {
namespace {

/// Rounding of rates may shift a time by this fraction, and one picosecond, never more.
constexpr double kRounding = 1e-9;
constexpr double kOverheadMax = 1e6;  // seconds
constexpr std::int64_t kPacketMax = std::int64_t{1} << 40;
constexpr std::uint32_t kInterfacesMax = 1024;

Result<void> check_interfaces(const SimulateOptions& options) {
  const InterfaceOptions& interfaces = options.interfaces;
  const bool plain = interfaces.injection == Injection::kWhenReady && interfaces.count == 0 &&
                     interfaces.flow_control == FlowControl::kPacket;
  if (!plain && options.model != NetworkModel::kPacket) {
    return fail(Code::kUnsupported,
                "lock step, message-based flow control and a number of interfaces need the packet model, not {}",
                name_of(options.model));
  }
  if (interfaces.count > kInterfacesMax) {
    return fail(Code::kInvalidArgument, "{} interfaces per rank: must be 0 (one per link) to {}", interfaces.count,
                kInterfacesMax);
  }
  return {};
}

Result<void> check_astra(const SimulateOptions& options) {
  if (!options.astra) return {};
  constexpr std::int64_t kEndpointMax = 1'000'000'000;
  if (options.model != NetworkModel::kMessage || !options.store_and_forward)
    return fail(Code::kUnsupported, "ASTRA-sim's rules need the message model with store and forward");
  if (options.copy_rate.value > 0 || options.reduce_rate.value > 0 || options.per_message_overhead.value > 0)
    return fail(Code::kUnsupported, "ASTRA-sim's rules have no copy rate, reduce rate or overhead of their own");
  if (options.astra->endpoint_ns < 0 || options.astra->endpoint_ns > kEndpointMax) {
    return fail(Code::kInvalidArgument, "an endpoint delay of {} ns: must be 0 to {}", options.astra->endpoint_ns,
                kEndpointMax);
  }
  if (!(options.astra->memory.value >= 1 && options.astra->memory.value <= 1e18)) {
    return fail(Code::kInvalidArgument, "a memory rate of {} B/s: must be 1 to 10^18", options.astra->memory.value);
  }
  return {};
}

Result<void> check_options(const SimulateOptions& options) {
  if (options.packet_payload.count < 1 || options.packet_payload.count > kPacketMax) {
    return fail(Code::kInvalidArgument, "packets of {} bytes of payload: must be 1 to 2^40",
                options.packet_payload.count);
  }
  if (options.head_flit.count < 0 || options.head_flit.count > kPacketMax) {
    return fail(Code::kInvalidArgument, "head flits of {} bytes: must be 0 to 2^40", options.head_flit.count);
  }
  const double overhead = options.per_message_overhead.value;
  if (!(overhead >= 0 && overhead <= kOverheadMax)) {
    return fail(Code::kInvalidArgument, "an overhead of {} s per message: must be 0 to 10^6", overhead);
  }
  for (const double rate : {options.copy_rate.value, options.reduce_rate.value}) {
    if (rate != 0 && !(rate >= 1 && rate <= 1e18)) {
      return fail(Code::kInvalidArgument, "a local rate of {} B/s: must be 0 (free) or 1 to 10^18", rate);
    }
  }
  for (const double factor : options.link_factors) {
    if (!(factor >= 1e-3 && factor <= 1e3))
      return fail(Code::kInvalidArgument, "a link's rate times {}: must be 0.001 to 1000", factor);
  }
  const bool queues = options.model == NetworkModel::kMessage || options.model == NetworkModel::kPacket;
  if (options.store_and_forward && !queues) {
    return fail(Code::kUnsupported, "the {} model has no store and forward; use message or packet",
                name_of(options.model));
  }
  if (options.tcp_chunk.count < 1) return fail(Code::kInvalidArgument, "a chunk of {} bytes", options.tcp_chunk.count);
  HOCKET_TRY(check_astra(options));
  return check_interfaces(options);
}

/// Jobs that run together must mean the same links by the same numbers.
Result<void> check_jobs(std::span<const SimulatedJob> jobs, const SimulateOptions& options) {
  if (jobs.empty()) return fail(Code::kInvalidArgument, "no job to simulate");
  const InterfaceOptions& interfaces = options.interfaces;
  if (jobs.size() > 1 && (interfaces.count > 0 || interfaces.injection != Injection::kWhenReady))
    return fail(Code::kUnsupported, "several jobs together have no network interfaces or lock step");
  const Topology& first = *jobs.front().topology;
  if (!options.link_factors.empty() && options.link_factors.size() != first.links().size())
    return fail(Code::kMismatch, "{} factors for {} links", options.link_factors.size(), first.links().size());
  std::uint64_t ops = 0;
  for (const SimulatedJob& job : jobs) {
    ops += job.plan->schedule().ops().size();
    const auto same = [](const Link& a, const Link& b) {
      return a.from == b.from && a.to == b.to && a.bandwidth == b.bandwidth && a.latency == b.latency;
    };
    if (std::equal(first.links().begin(), first.links().end(), job.topology->links().begin(),
                   job.topology->links().end(), same))
      continue;
    return fail(Code::kMismatch, "'{}' and '{}' have different links", first.name(), job.topology->name());
  }
  if (ops >= kNoOp) return fail(Code::kResourceExhausted, "{} ops in all", ops);
  return {};
}

Result<JointResult> simulate_by_model(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                      std::vector<FlatRoutes> routes) {
  if (options.model == NetworkModel::kFluid) return simulate_fluid(jobs, options, std::move(routes));
  if (options.model == NetworkModel::kTcp) return simulate_tcp(jobs, options, std::move(routes));
  return simulate_queues(jobs, options, std::move(routes));
}

}  // namespace

std::string_view name_of(NetworkModel model) {
  switch (model) {
    case NetworkModel::kMessage:
      return "message";
    case NetworkModel::kPacket:
      return "packet";
    case NetworkModel::kFluid:
      return "fluid";
    case NetworkModel::kTcp:
      return "tcp";
  }
  return "?";
}

std::string_view name_of(Injection injection) {
  switch (injection) {
    case Injection::kWhenReady:
      return "ready";
    case Injection::kLockStep:
      return "lockstep";
    case Injection::kGlobalStep:
      return "oracle";
  }
  return "?";
}

std::string_view name_of(FlowControl control) {
  switch (control) {
    case FlowControl::kPacket:
      return "packet";
    case FlowControl::kMessage:
      return "message";
  }
  return "?";
}

Result<JointResult> simulate_together(std::span<const SimulatedJob> jobs, const SimulateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  HOCKET_TRY(check_options(options));
  HOCKET_TRY(check_jobs(jobs, options));
  std::vector<FlatRoutes> routes;
  routes.reserve(jobs.size());
  for (const SimulatedJob& job : jobs) {
    HOCKET_TRY_ASSIGN(FlatRoutes own, FlatRoutes::resolve(job.plan->schedule(), *job.topology));
    routes.push_back(std::move(own));
  }
  HOCKET_TRY_ASSIGN(const double passages, count_passages(jobs, options, routes));
  HOCKET_TRY_ASSIGN(JointResult result, simulate_by_model(jobs, options, std::move(routes)));
  result.sum.passages = passages;
  result.sum.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Result<SimulationResult> simulate(const Plan& plan, const Topology& topology, const SimulateOptions& options) {
  const SimulatedJob job{&plan, &topology};
  HOCKET_TRY_ASSIGN(JointResult joint, simulate_together(std::span(&job, 1), options));
  SimulationResult result = std::move(joint.sum);
  result.bound = options.bound != nullptr ? *options.bound : lower_bound(topology, plan.what());
  const double seconds = to_seconds(result.time).value;
  const bool bounded = options.link_factors.empty() && !options.astra;
  if (bounded && seconds < result.bound.time.value * (1 - kRounding) - 1e-12) {
    return fail(Code::kInternal, "simulated {} s lies below the lower bound {} s ({}: {})", seconds,
                result.bound.time.value, result.bound.rule, result.bound.limit);
  }
  return result;
}

}  // namespace hocket
