#include "ni_table_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/file.h"
#include "exchange/ni_table_text.h"
#include "report/table.h"

namespace hocket {
namespace {

/// The plan with whole messages, as interfaces move them.
Result<Plan> unsegmented(const Plan& plan) {
  return Plan::bind(plan.verified(), plan.what(),
                    {std::max<std::int64_t>(plan.what().bytes().count, size_of(plan.what().type))});
}

double head_share(const SimulationResult& result, const SimulationResult& headless) {
  const auto sum = [](const SimulationResult& r) {
    return static_cast<double>(std::accumulate(r.link_bytes.begin(), r.link_bytes.end(), std::int64_t{0}));
  };
  return sum(result) > 0 ? 1 - sum(headless) / sum(result) : 0;
}

Result<void> add_runs(const Plan& plan, const Topology& topology, SimulateOptions options, NiStudy& study) {
  options.model = NetworkModel::kPacket;
  SimulateOptions plain = options;
  plain.head_flit = {0};
  plain.interfaces = {};
  HOCKET_TRY_ASSIGN(const SimulationResult headless, simulate(plan, topology, plain));
  for (const Injection injection : {Injection::kLockStep, Injection::kGlobalStep, Injection::kWhenReady}) {
    for (const FlowControl control : {FlowControl::kPacket, FlowControl::kMessage}) {
      options.interfaces.injection = injection;
      options.interfaces.flow_control = control;
      const Result<SimulationResult> result = simulate(plan, topology, options);
      if (!result && result.error().code == Code::kUnsupported && injection != Injection::kWhenReady) {
        study.not_in_lock_step = result.error().text;
        continue;
      }
      if (!result) return tl::unexpected<Error>(result.error());
      study.runs.push_back({injection, control, result->time, head_share(*result, headless)});
    }
  }
  return {};
}

std::string list_of(const std::vector<std::uint32_t>& ranks) {
  return ranks.empty() ? "-" : fmt::format("{}", fmt::join(ranks, " "));
}

void print_entries(const NiStudy& study, const Plan& plan, std::uint32_t rank) {
  Table entries({"step", "opcode", "flow", "parent", "children", "start", "size"});
  for (const NiEntry& e : study.tables.ranks[rank].entries) {
    if (e.opcode == NiOpcode::kNop) {
      entries.add({fmt::format("{}", e.step), "nop", "-", "-", "-", "-", "-"});
      continue;
    }
    const NiRange range = elements_of(study.tables, e.flow, plan.what().count);
    const std::int64_t size = size_of(plan.what().type);
    entries.add({fmt::format("{}", e.step), std::string(name_of(e.opcode)), fmt::format("{}", e.flow),
                 e.parent == kNoParent ? "-" : fmt::format("{}", e.parent), list_of(e.children),
                 format_bytes({range.start * size}), format_bytes({range.size * size})});
  }
  fmt::print("rank {} of {}\n{}", rank, study.tables.ranks.size(), entries.text());
  if (study.tables.ranks[rank].aggregation.empty()) return;
  Table aggregation({"step", "flow", "sums from"});
  for (const NiArrival& a : study.tables.ranks[rank].aggregation)
    aggregation.add({fmt::format("{}", a.step), fmt::format("{}", a.flow), list_of(a.children)});
  fmt::print("\naggregation\n{}", aggregation.text());
}

std::string text_of(const Contention& c, const Schedule& schedule, const Topology& topology) {
  if (!c.example) return fmt::format("no two messages on one link in one step ({} links x steps carry one)", c.uses);
  const SharedLink& shared = *c.example;
  return fmt::format("{} of {} links x steps carry two messages or more; the first: step {}, link {}: {}; {}", c.shared,
                     c.uses, shared.step, topology.describe_link(shared.link), schedule.describe(shared.first),
                     schedule.describe(shared.second));
}

std::size_t largest_table(const NiTables& tables) {
  std::size_t largest = 0;
  for (const NiTable& table : tables.ranks) largest = std::max(largest, table.entries.size());
  return largest;
}

}  // namespace

Result<NiStudy> study_ni_tables(const Plan& plan, const Topology& topology, const SimulateOptions& options) {
  NiStudy study;
  HOCKET_TRY_ASSIGN(study.tables, tabulate(plan.schedule(), study.losses));
  HOCKET_TRY_ASSIGN(Schedule again, schedule_of(study.tables));
  HOCKET_TRY_ASSIGN(const VerifiedSchedule verified, prove(std::move(again)));
  HOCKET_TRY_ASSIGN(study.contention, find_contention(verified.schedule(), topology));
  study.contention_text = text_of(study.contention, verified.schedule(), topology);
  HOCKET_TRY_ASSIGN(const Plan read_back, Plan::bind(verified, plan.what(), plan.segment()));
  HOCKET_TRY_ASSIGN(const Plan whole, unsegmented(read_back));
  HOCKET_TRY(add_runs(whole, topology, options, study));
  return study;
}

Result<void> write_ni_study(const NiStudy& study, const Plan& plan, const std::string& file) {
  HOCKET_TRY_ASSIGN(const std::string text, write_ni_tables(study.tables, &plan.what()));
  return write_file(file, text);
}

void show_ni_study(const NiStudy& study, const Plan& plan) {
  fmt::print(
      "\nnetwork-interface tables of '{}': {} flows, {} steps, at most {} entries a rank; read back and proved\n",
      study.tables.algorithm, study.tables.flows.size(), study.tables.steps, largest_table(study.tables));
  for (const std::string& line : study.losses.lines()) fmt::print("lost: {}\n", line);
  print_entries(study, plan, 0);
  fmt::print("\n{}\n", study.contention_text);
  if (!study.not_in_lock_step.empty()) fmt::print("{}\n", study.not_in_lock_step);
  Table runs({"sends leave", "flow control", "time", "algbw GB/s", "head flits %"});
  for (const NiRun& run : study.runs) {
    const double rate =
        run.time.count > 0 ? static_cast<double>(plan.what().bytes().count) / to_seconds(run.time).value : 0;
    runs.add({std::string(name_of(run.injection)), std::string(name_of(run.flow_control)),
              format_seconds(to_seconds(run.time)), fmt::format("{:.2f}", rate / 1e9),
              fmt::format("{:.2f}", 100 * run.head_share)});
  }
  fmt::print("{}", runs.text());
}

nlohmann::ordered_json ni_study_json(const NiStudy& study, const Plan& plan) {
  nlohmann::ordered_json out{{"flows", study.tables.flows.size()},
                             {"steps", study.tables.steps},
                             {"entries_max", largest_table(study.tables)},
                             {"proved", true},
                             {"losses", study.losses.lines()},
                             {"links_x_steps", study.contention.uses},
                             {"links_x_steps_shared", study.contention.shared},
                             {"contention", study.contention_text}};
  for (const NiRun& run : study.runs) {
    out["runs"].push_back({{"inject", std::string(name_of(run.injection))},
                           {"flow_control", std::string(name_of(run.flow_control))},
                           {"time_s", to_seconds(run.time).value},
                           {"head_share", run.head_share}});
  }
  const Result<std::string> text = write_ni_tables(study.tables, &plan.what());
  if (text) out["document"] = nlohmann::ordered_json::parse(*text);
  return out;
}

}  // namespace hocket
