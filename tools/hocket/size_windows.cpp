#include "size_windows.h"

#include <fmt/format.h>

#include "exchange/nccl_tuner.h"
#include "exchange/schedule_format.h"
#include "flags.h"
#include "progress_line.h"
#include "report/table.h"

namespace hocket {
namespace {

nlohmann::ordered_json windows_document(const Topology& topology, const BoundCollective& what,
                                        const std::vector<SizeWindow>& windows) {
  nlohmann::ordered_json out = document("plan");
  out["collective"] = std::string(name_of(what.collective.kind));
  out["ranks"] = what.collective.ranks;
  out["topology"] = topology.name();
  out["topology_fingerprint"] = topology.fingerprint().text();
  for (const SizeWindow& w : windows) {
    out["windows"].push_back({{"from_bytes", w.from.count},
                              {"to_bytes", w.to.count},
                              {"algorithm", w.algorithm},
                              {"segment_from_bytes", w.segment_from.count},
                              {"segment_to_bytes", w.segment_to.count},
                              {"time_from_s", w.time_from_s},
                              {"time_to_s", w.time_to_s},
                              {"fraction_of_bound_from", w.fraction_from},
                              {"fraction_of_bound_to", w.fraction_to}});
  }
  return out;
}

void print_windows(const Topology& topology, const BoundCollective& what, const std::vector<SizeWindow>& windows) {
  fmt::print("{} over {} ranks on {}: the fastest by simulated time\n", name_of(what.collective.kind),
             what.collective.ranks, topology.name());
  for (const std::string& note : topology.notes()) fmt::print("note: {}\n", note);
  Table table({"from", "to", "algorithm", "time from", "time to", "% of bound from", "% of bound to"});
  for (const SizeWindow& w : windows) {
    table.add({format_bytes(w.from), format_bytes(w.to), w.algorithm, format_seconds({w.time_from_s}),
               format_seconds({w.time_to_s}), fmt::format("{:.1f}", 100 * w.fraction_from),
               fmt::format("{:.1f}", 100 * w.fraction_to)});
  }
  fmt::print("\n{}", table.text());
}

/// The windows for NCCL's tuner plug-in, where each of them is an algorithm of NCCL.
Result<std::string> tuner_table(const Topology& topology, const BoundCollective& what,
                                const std::vector<SizeWindow>& windows) {
  std::vector<TunerLine> lines;
  lines.reserve(windows.size());
  for (const SizeWindow& w : windows) {
    TunerLine line{.kind = what.collective.kind, .algorithm = std::string(nccl_algorithm(w.algorithm))};
    if (line.algorithm.empty())
      return fail(Code::kUnsupported, "NCCL has no '{}', which is best from {} to {}: --algo ring,double_binary_tree",
                  w.algorithm, format_bytes(w.from), format_bytes(w.to));
    line.from = static_cast<std::uint64_t>(w.from.count);
    line.to = static_cast<std::uint64_t>(w.to.count);
    line.ranks = what.collective.ranks;
    lines.push_back(std::move(line));
  }
  return write_nccl_tuner(
      lines, fmt::format("by hocket for {}, simulated; protocol and channels are not chosen here", topology.name()));
}

}  // namespace

Result<int> show_windows(const Topology& topology, const BoundCollective& what, const WindowRequest& request,
                         const PlanningOptions& options) {
  HOCKET_TRY_ASSIGN(const auto range, parse_size_range(request.sizes));
  const bool tuner = request.output.ends_with(".csv");
  if (!request.output.empty() && !tuner && !request.output.ends_with(".json"))
    return fail(Code::kInvalidArgument, "{}: windows are written as .json, or .csv for NCCL's tuner", request.output);
  Result<std::vector<SizeWindow>> windows;
  {
    ProgressLine line;
    PlanningOptions watched = options;
    watched.simulate.progress = &line.progress();
    windows = plan_windows(topology, what, range.first, range.second, watched);
  }
  if (!windows) return tl::unexpected<Error>(windows.error());
  const nlohmann::ordered_json out = windows_document(topology, what, *windows);
  std::string bytes = out.dump(2) + "\n";
  if (tuner) {
    HOCKET_TRY_ASSIGN(bytes, tuner_table(topology, what, *windows));
  }
  if (!request.output.empty()) HOCKET_TRY(write_file(request.output, bytes));
  if (request.json) {
    print_json(out);
    return 0;
  }
  print_windows(topology, what, *windows);
  if (!request.output.empty()) fmt::print("wrote {}: {} windows\n", request.output, windows->size());
  return 0;
}

}  // namespace hocket
