// hocket sweep: simulates every point of a grid over platforms, endpoints, workloads and sizes (exchange/sweep_yaml.h):
// a table, CSV, a page with a plot. Goes on where it was interrupted; under a launcher its points spread over the
// ranks.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "base/file.h"
#include "exchange/csv.h"
#include "flags.h"
#include "net/launch.h"
#include "outputs.h"
#include "progress_line.h"
#include "report/grid_page.h"
#include "report/table.h"
#include "simulator/step_metrics.h"
#include "sweep/run_sweep.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::string file;
  std::string csv;
  std::string page;
  std::string results;
  std::string patience = "600s";
  unsigned jobs = 0;
  bool fresh = false;
  bool json = false;
};

bool is_collective(const Sweep& sweep) {
  const auto is = [](const std::string& key) { return key == "collective"; };
  const std::vector<std::string> keys = sweep.varied();
  return std::any_of(keys.begin(), keys.end(), is) ||
         std::any_of(sweep.fixed.begin(), sweep.fixed.end(), [&](const SweepSetting& s) { return is(s.key); });
}

std::size_t metric_index(std::string_view name) {
  const auto all = step_metrics();
  const auto found = std::find_if(all.begin(), all.end(), [&](const StepMetric& m) { return m.name == name; });
  return static_cast<std::size_t>(found - all.begin());
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  names.reserve(step_metrics().size());
  for (const StepMetric& metric : step_metrics()) names.emplace_back(metric.name);
  return names;
}

/// The figure that the plot shows.
Result<std::size_t> plotted(const Sweep& sweep) {
  if (sweep.plot.y.empty()) return metric_index(is_collective(sweep) ? "network_rate_Bps" : "step_time_s");
  const std::size_t index = metric_index(sweep.plot.y);
  if (index < step_metrics().size()) return index;
  return fail(Code::kMalformed, "{}: no figure '{}' to plot; known: {}", sweep.plot.place, sweep.plot.y.substr(0, 80),
              fmt::join(metric_names(), ", "));
}

/// "yes" or "no"; nothing where the workload or the platform does not say.
std::string fits_word(const SweepRow& row) {
  if (row.outcome.figures.empty()) return {};
  const double needed = row.outcome.figures[metric_index("memory_needed_bytes")];
  const double capacity = row.outcome.memory_capacity;
  if (needed <= 0 || capacity <= 0) return {};
  return needed <= capacity ? "yes" : "no";
}

std::size_t count_unfit(const SweepOutcome& outcome) {
  const auto unfit = [](const SweepRow& row) { return fits_word(row) == "no"; };
  return static_cast<std::size_t>(std::count_if(outcome.rows.begin(), outcome.rows.end(), unfit));
}

std::string text_table(const Sweep& sweep, const SweepOutcome& outcome) {
  const std::vector<std::string_view> shown =
      is_collective(sweep)
          ? std::vector<std::string_view>{"step_time_s", "network_rate_Bps", "sent_bytes", "memory_bytes_read"}
          : std::vector<std::string_view>{"step_time_s", "compute_slowdown", "exposed_s", "hidden_fraction",
                                          "network_rate_Bps"};
  const std::vector<std::string_view> heads =
      is_collective(sweep) ? std::vector<std::string_view>{"time", "network rate", "sent", "read"}
                           : std::vector<std::string_view>{"step", "slowdown", "exposed", "hidden", "network rate"};
  std::vector<std::string> head = sweep.varied();
  head.insert(head.end(), heads.begin(), heads.end());
  const bool has_fits = std::any_of(outcome.rows.begin(), outcome.rows.end(),
                                    [](const SweepRow& row) { return !fits_word(row).empty(); });
  if (has_fits) head.emplace_back("fits");
  Table table(head);
  for (const SweepRow& row : outcome.rows) {
    std::vector<std::string> cells;
    cells.reserve(head.size());
    for (const SweepSetting& setting : row.at) cells.push_back(setting.value);
    for (const std::string_view name : shown) {
      const bool refused = row.outcome.figures.empty();
      cells.push_back(refused ? "refused" : metric_text(name, row.outcome.figures[metric_index(name)]));
    }
    if (has_fits) cells.push_back(fits_word(row));
    table.add(std::move(cells));
  }
  return table.text();
}

Result<std::string> csv_text(const Sweep& sweep, const SweepOutcome& outcome) {
  std::vector<std::string> head = sweep.varied();
  const std::vector<std::string> names = metric_names();
  head.insert(head.end(), names.begin(), names.end());
  head.insert(head.end(), {"memory_capacity_bytes", "fits", "error"});
  HOCKET_TRY_ASSIGN(std::string text, csv_line(head));
  for (const SweepRow& row : outcome.rows) {
    std::vector<std::string> fields;
    fields.reserve(head.size());
    for (const SweepSetting& setting : row.at) fields.push_back(setting.value);
    for (const double figure : row.outcome.figures) fields.push_back(exact_number(figure));
    fields.resize(head.size() - 3);
    fields.push_back(row.outcome.memory_capacity > 0 ? exact_number(row.outcome.memory_capacity) : std::string());
    fields.push_back(fits_word(row));
    fields.push_back(row.outcome.error);
    HOCKET_TRY_ASSIGN(const std::string line, csv_line(fields));
    text += line;
  }
  return text;
}

PageGrid grid_of(const Sweep& sweep, const SweepOutcome& outcome, std::size_t y) {
  PageGrid grid{sweep.name, sweep.description, sweep.varied(), metric_names(), {}, 0, {}, y};
  const auto x = std::find(grid.keys.begin(), grid.keys.end(), sweep.plot.x);
  grid.x = x == grid.keys.end() ? 0 : static_cast<std::size_t>(x - grid.keys.begin());
  std::size_t first = 0;  // keys that move with x are no lines of their own
  for (const SweepAxis& axis : sweep.axes) {
    const std::size_t keys = axis.steps.front().size();
    const bool has_x = grid.x >= first && grid.x < first + keys;
    for (std::size_t key = first; key < first + keys && !has_x; ++key) grid.line_keys.push_back(key);
    first += keys;
  }
  grid.rows.reserve(outcome.rows.size());
  for (const SweepRow& row : outcome.rows) {
    GridRow one{{}, row.outcome.figures, row.outcome.error, fits_word(row)};
    for (const SweepSetting& setting : row.at) one.at.push_back(setting.value);
    grid.rows.push_back(std::move(one));
  }
  return grid;
}

void print_document(const Sweep& sweep, const SweepOutcome& outcome) {
  nlohmann::ordered_json out = document("sweep");
  out["name"] = sweep.name;
  out["points"] = outcome.rows.size();
  out["refused"] = outcome.refused;
  for (const SweepSetting& setting : sweep.fixed) out["set"][setting.key] = setting.value;
  out["rows"] = nlohmann::ordered_json::array();
  for (const SweepRow& row : outcome.rows) {
    nlohmann::ordered_json one;
    for (const SweepSetting& setting : row.at) one["at"][setting.key] = setting.value;
    for (std::size_t i = 0; i < row.outcome.figures.size(); ++i)
      one[std::string(step_metrics()[i].name)] = row.outcome.figures[i];
    const std::string fits = fits_word(row);
    const double capacity = row.outcome.memory_capacity;
    one["memory_capacity_bytes"] = capacity > 0 ? nlohmann::ordered_json(capacity) : nlohmann::ordered_json(nullptr);
    one["fits"] = fits.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(fits == "yes");
    if (row.outcome.figures.empty()) one["error"] = row.outcome.error;
    out["rows"].push_back(std::move(one));
  }
  print_json(out);
}

std::string points_text(std::size_t count) { return fmt::format("{} point{}", count, count == 1 ? "" : "s"); }

void print_text(const Sweep& sweep, const SweepOutcome& outcome, const Flags& flags) {
  std::string fixed;
  for (const SweepSetting& s : sweep.fixed) fixed += fmt::format("{}{} {}", fixed.empty() ? "" : ", ", s.key, s.value);
  fmt::print("{}: {}{}{}\n{}", sweep.name, points_text(outcome.rows.size()), fixed.empty() ? "" : "; ", fixed,
             text_table(sweep, outcome));
  for (const SweepRow& row : outcome.rows) {
    if (row.outcome.figures.empty()) {
      fmt::print("refused: {} {}: {}\n", row.at.front().key, row.at.front().value, row.outcome.error);
    }
  }
  if (const std::size_t unfit = count_unfit(outcome); unfit > 0)
    fmt::print("{} of {}: the memory of an npu is too small\n", unfit, points_text(outcome.rows.size()));
  fmt::print("{} of {} were in {}\n", outcome.reused, points_text(outcome.rows.size()), flags.results);
}

Result<SweepOptions> options_of(const Flags& flags) {
  SweepOptions options;
  options.results = flags.results;
  HOCKET_TRY_ASSIGN(const Seconds patience, parse_seconds(flags.patience));
  options.patience = std::chrono::milliseconds(static_cast<std::int64_t>(std::min(patience.value, 1e6) * 1e3));
  HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, read_launch(environment));
  std::uint32_t here = 1;
  if (launch) {
    options.rank = launch->rank;
    options.ranks = launch->size;
    here = std::max(1U, launch->local_size);
  }
  options.threads = flags.jobs > 0 ? flags.jobs : std::max(1U, std::thread::hardware_concurrency() / here);
  return options;
}

Result<void> check_files(const Flags& flags) {
  if (!flags.page.empty() && !flags.page.ends_with(".html") && !flags.page.ends_with(".htm"))
    return fail(Code::kInvalidArgument, "{}: the page is written as .html", flags.page);
  return check_outputs({{"--csv", flags.csv}, {"-o", flags.page}, {"--results", flags.results}}, {flags.file});
}

Result<void> forget_results(const Flags& flags, const SweepOptions& options) {
  if (options.ranks > 1)
    return fail(Code::kInvalidArgument, "--fresh with {} ranks: delete {} instead", options.ranks, flags.results);
  std::error_code error;
  std::filesystem::remove(flags.results, error);
  if (error) return fail(Code::kIo, "{}: {}", flags.results, error.message());
  return {};
}

Result<int> run(Flags flags) {
  HOCKET_TRY_ASSIGN(const Sweep sweep, load_sweep(flags.file));
  HOCKET_TRY_ASSIGN(const std::size_t y, plotted(sweep));
  if (flags.results.empty()) flags.results = std::filesystem::path(flags.file).stem().string() + ".results.jsonl";
  HOCKET_TRY_ASSIGN(SweepOptions options, options_of(flags));
  HOCKET_TRY(check_files(flags));
  if (flags.fresh) HOCKET_TRY(forget_results(flags, options));
  std::optional<ProgressLine> line;
  if (options.rank == 0) line.emplace();
  options.progress = line ? &line->progress() : nullptr;
  HOCKET_TRY_ASSIGN(const SweepOutcome outcome, run_sweep(sweep, options));
  line.reset();
  const int status = outcome.refused > 0 ? 1 : 0;
  if (options.rank != 0) return status;
  if (!flags.csv.empty()) {
    HOCKET_TRY_ASSIGN(const std::string text, csv_text(sweep, outcome));
    HOCKET_TRY(write_file(flags.csv, text));
  }
  if (!flags.page.empty()) HOCKET_TRY(write_file(flags.page, make_grid_page(grid_of(sweep, outcome, y))));
  if (flags.json) {
    print_document(sweep, outcome);
  } else {
    print_text(sweep, outcome, flags);
  }
  return status;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("file", flags->file, "what varies, and what is fixed (docs/sweeps.md)")->required();
  app.add_option("--csv", flags->csv, "write all figures of all points as CSV");
  app.add_option("-o,--output", flags->page, "write a page with a plot and the table (.html)");
  app.add_option("--results", flags->results, "where points are kept as they end [NAME.results.jsonl, in this folder]");
  app.add_flag("--fresh", flags->fresh, "forget what the results file has");
  app.add_option("--jobs", flags->jobs, "points at a time [cores, shared by the ranks of a launcher]");
  app.add_option("--patience", flags->patience, "launcher: how long rank 0 waits for a further point")
      ->capture_default_str();
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_sweep{
    .name = "sweep",
    .summary = "simulate every point of a grid over platforms, endpoints, workloads and sizes",
    .example = "hocket sweep examples/sweep-ace-sram.yaml",
    .declare = declare,
};

}  // namespace hocket
