#include "simulator/simulator.h"

#include <chrono>
#include <cmath>

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
  if (options.store_and_forward && options.model == NetworkModel::kFluid) {
    return fail(Code::kUnsupported, "the fluid model has no store and forward; use message or packet");
  }
  return check_interfaces(options);
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

Result<SimulationResult> simulate(const Plan& plan, const Topology& topology, const SimulateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  HOCKET_TRY(check_options(options));
  Result<SimulationResult> simulated = options.model == NetworkModel::kFluid ? simulate_fluid(plan, topology, options)
                                                                             : simulate_queues(plan, topology, options);
  HOCKET_TRY_ASSIGN(SimulationResult result, std::move(simulated));
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.bound = options.bound != nullptr ? *options.bound : lower_bound(topology, plan.what());
  if (to_seconds(result.time).value < result.bound.time.value * (1 - kRounding) - 1e-12) {
    return fail(Code::kInternal, "simulated {} s lies below the lower bound {} s ({}: {})",
                to_seconds(result.time).value, result.bound.time.value, result.bound.rule, result.bound.limit);
  }
  return result;
}

}  // namespace hocket
