#include "simulator/passages.h"

#include <algorithm>
#include <cmath>

namespace hocket {
namespace {

/// What travels as one; of messages and flows the whole segment does.
struct Parcels {
  std::string_view name;
  Bytes most;
};

Parcels parcels_of(const Plan& plan, const SimulateOptions& options) {
  if (options.model == NetworkModel::kPacket) return {"packets", options.packet_payload};
  if (options.model == NetworkModel::kTcp) return {"chunks", options.tcp_chunk};
  return {"segments", plan.segment()};
}

double passages_of(const Plan& plan, const FlatRoutes& routes, const SimulateOptions& options) {
  const std::span<const Op> ops = plan.schedule().ops();
  const auto most = static_cast<double>(parcels_of(plan, options).most.count);
  const double ends = options.interfaces.count > 0 ? 2 : 0;  // links of the interfaces
  double passages = 0;
  for (OpId id = 0; id < ops.size(); ++id) {
    if (!ops[id].sends()) continue;
    const double segments = plan.segments(id);
    const double parcels = std::ceil(static_cast<double>(plan.bytes(id)) / segments / most);
    passages += segments * std::max(1.0, parcels) * (static_cast<double>(routes.of(id).size()) + ends);
  }
  return passages;
}

}  // namespace

double passages_max(NetworkModel model) {
  constexpr double kMessage = double{1 << 27};
  constexpr double kSmall = double{1 << 28};  // packets and chunks have less to do
  constexpr double kFluid = double{1 << 22};  // every one changes the rates of all others
  switch (model) {
    case NetworkModel::kMessage:
      return kMessage;
    case NetworkModel::kFluid:
      return kFluid;
    case NetworkModel::kPacket:
    case NetworkModel::kTcp:
      return kSmall;
  }
  return 0;
}

Result<double> count_passages(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                              std::span<const FlatRoutes> routes) {
  double passages = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) passages += passages_of(*jobs[j].plan, routes[j], options);
  const double most = passages_max(options.model);
  if (passages <= most) return passages;
  const Plan& first = *jobs.front().plan;
  const Parcels parcels = parcels_of(first, options);
  return fail(Code::kResourceExhausted,
              "'{}' of {}{}: {} of {} would enter links {:.0f} times, the {} model simulates at most {:.0f}; take a "
              "smaller size{} or another model",
              first.schedule().algorithm(), format_bytes(first.what().bytes()), jobs.size() > 1 ? " and others" : "",
              parcels.name, format_bytes(parcels.most), passages, name_of(options.model), most,
              parcels.name == "segments" ? ", longer segments" : "");
}

}  // namespace hocket
