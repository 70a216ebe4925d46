// Synthesizers: how near to the bound the plans of TACOS (MICRO 2024) and ForestColl come, and in what processor time,
// beside ours on the same networks, links and size. Ours is simulated with latency and segments; nothing is assumed
// ideal.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "planner/planner.h"
#include "studies/study.h"
#include "studies/synthesis_published.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr std::int64_t kBytes = std::int64_t{1} << 30;
constexpr std::string_view kDeadNote = "which cables were dead is not known; ours are spread over the torus";
constexpr std::string_view kRandomNote = "another random graph: theirs has links one way, ours cables";
constexpr std::string_view kForestNote =
    "ForestColl's share is that of its trees' rates, without latency and filling; ours is simulated with both";
constexpr std::string_view kPrototypeNote = "published: the first prototype of packed trees, replayed link by link";

Result<TopologyOptions> rates_of(SynthesisRates rates) {
  TopologyOptions options;
  const auto add = [&](std::string_view text) -> Result<void> {
    HOCKET_TRY_ASSIGN(const LinkRate link, parse_link_rate(text));
    options.links.push_back(link);
    return {};
  };
  std::vector<std::string_view> texts{"50GB/s,500ns"};
  if (rates == SynthesisRates::kTwoToOne) texts = {"100GB/s,500ns", "50GB/s,500ns"};
  if (rates == SynthesisRates::kFourToOne) texts = {"200GB/s,500ns", "50GB/s,500ns"};
  if (rates == SynthesisRates::kFourTwoOne) texts = {"200GB/s,500ns", "100GB/s,500ns", "50GB/s,500ns"};
  if (rates == SynthesisRates::kQuarter) texts = {"25GB/s,500ns"};
  if (rates == SynthesisRates::kBoxes) texts = {"300GB/s,500ns"};
  for (const std::string_view text : texts) HOCKET_TRY(add(text));
  if (rates == SynthesisRates::kBoxes) {
    HOCKET_TRY_ASSIGN(options.uplink, parse_link_rate("25GB/s,500ns"));
  }
  return options;
}

std::string_view suffix_of(SynthesisRates rates) {
  switch (rates) {
    case SynthesisRates::kTwoToOne:
      return " at 2:1";
    case SynthesisRates::kFourToOne:
      return " at 4:1";
    case SynthesisRates::kFourTwoOne:
      return " at 4:2:1";
    default:
      return "";
  }
}

/// Cables between neighbours along dimension 0, spread over the torus.
std::vector<std::string> dead_cables(const Topology& torus, unsigned count) {
  std::vector<std::string> breaks;
  const std::uint32_t width = torus.extents()[0];
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t v = torus.rank_count() / count * i + i % (width - 1);
    const std::uint32_t x = v % width;
    const std::uint32_t next = x + 1 < width ? v + 1 : v - x;
    breaks.push_back(fmt::format("{}-{}", v, next));
  }
  return breaks;
}

struct Outcome {
  double bound_us = 0;
  double time_us = 0;
  double cpu_s = 0;
  [[nodiscard]] double percent() const { return time_us > 0 ? 100 * bound_us / time_us : 0; }
};

Result<Outcome> plan_one(std::string_view network, SynthesisRates rates, unsigned dead, CollectiveKind kind,
                         std::string_view algorithm) {
  HOCKET_TRY_ASSIGN(TopologyOptions options, rates_of(rates));
  HOCKET_TRY_ASSIGN(Topology topology, topology_from_spec(network, options));
  if (dead > 0) {
    options.breaks = dead_cables(topology, dead);
    HOCKET_TRY_ASSIGN(topology, apply_changes(std::move(topology), options));
  }
  BoundCollective what{{kind, topology.rank_count(), 0}, kBytes / 4};
  if (is_blocked(kind)) what.count = what.count / topology.rank_count() * topology.rank_count();
  PlanningOptions planning;
  planning.algorithm = std::string(algorithm);
  HOCKET_TRY_ASSIGN(const Planning plans, plan_collective(topology, what, planning));
  const Candidate& c = plans.candidates.front();
  return Outcome{plans.bound.time.value * 1e6, to_seconds(c.simulated.time).value * 1e6, c.synthesis_s};
}

class SynthesisStudy {
 public:
  explicit SynthesisStudy(const StudyOptions& options) : options_(options) {}

  Result<StudyReport> run() {
    report_.setup = {
        "1 GiB; links of 50 GB/s and 500 ns, at 2:1 100 and 50, at 4:1 200 and 50, at 4:2:1 200, 100 and 50, boxes 300 "
        "inside and 25 outside, dgx1 25 GB/s a link",
        "AG: all-gather, share of the cut bound; AR: all-reduce, share of the strength or partition bound",
        "CPU: processor time to make the schedule, without proof and simulation; varies with the machine"};
    for (const SynthesisGather& row : kSynthesisGathers) HOCKET_TRY(add_gather(row));
    for (const SynthesisReduce& row : kSynthesisReduces) HOCKET_TRY(add_reduce(row));
    return std::move(report_);
  }

 private:
  /// A row of the network at hand.
  struct Figures {
    double published = 0;  // 0: none
    double ours = 0;
    std::string_view unit;
    Band band = Band::kNone;
  };
  void add(std::string_view what, const Figures& f, std::string_view note = {}) {
    report_.rows.push_back({.name = fmt::format("{}{}", name_, what),
                            .published = f.published > 0 ? std::optional(f.published) : std::nullopt,
                            .ours = f.ours,
                            .unit = std::string(f.unit),
                            .band = f.published > 0 ? f.band : Band::kNone,
                            .note = std::string(note.empty() ? note_ : note)});
  }

  template <class Row>
  void begin(std::string_view collective, const Row& row) {
    name_ = fmt::format("{} {}{}{}", collective, row.network, suffix_of(row.rates),
                        row.dead_cables > 0 ? " damaged" : "");
    note_ = row.dead_cables > 0 ? kDeadNote : row.network.starts_with("random") ? kRandomNote : std::string_view();
    if (options_.progress) options_.progress(name_);
  }

  Result<void> add_gather(const SynthesisGather& row) {
    begin("AG", row);
    HOCKET_TRY_ASSIGN(const Outcome ours,
                      plan_one(row.network, row.rates, row.dead_cables, CollectiveKind::kAllGather, row.algorithm));
    add(": bound", {row.bound_us, std::round(ours.bound_us), "us", Band::kTenPercent});
    if (row.tacos > 0) {
      add(", TACOS", {row.tacos, ours.percent(), "% of bound", Band::kAtLeast});
      add(", TACOS CPU", {row.tacos_cpu_s, ours.cpu_s, "s", Band::kAtMost});
    }
    if (row.forestcoll > 0) {
      add(", ForestColl", {row.forestcoll, ours.percent(), "% of bound", Band::kTenPercent}, kForestNote);
    }
    if (row.forestcoll_cpu_s > 0) {
      add(", ForestColl CPU", {row.forestcoll_cpu_s, ours.cpu_s, "s", Band::kAtMost});
    }
    if (row.tacos <= 0 && row.forestcoll <= 0) add("", {0, ours.percent(), "% of bound"}, "nobody ran it");
    return {};
  }

  Result<void> add_reduce(const SynthesisReduce& row) {
    begin("AR", row);
    HOCKET_TRY_ASSIGN(const Outcome ours,
                      plan_one(row.network, row.rates, row.dead_cables, CollectiveKind::kAllReduce, "packed_trees"));
    add(": bound", {row.bound_us, std::round(ours.bound_us), "us", Band::kTenPercent});
    add(", twice TACOS's AG", {row.twice_tacos_us, ours.time_us, "us", Band::kAtMost});
    add(", prototype", {row.prototype, ours.percent(), "% of bound", Band::kAtLeast}, kPrototypeNote);
    add(", CPU", {0, ours.cpu_s, "s"});
    return {};
  }

  std::string name_;
  std::string_view note_;
  const StudyOptions& options_;
  StudyReport report_;
};

Result<StudyReport> run(const StudyOptions& options) { return SynthesisStudy(options).run(); }

}  // namespace

extern const Study study_synthesis{
    .name = "synthesis",
    .source = "TACOS (MICRO 2024) and ForestColl beside packed trees and MultiTree, 1 GiB",
    .run = run,
};

}  // namespace hocket
