// hocket reproduce: a publication's figures beside our own, row by row; exit status 1 when a row misses its band.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/spelling.h"
#include "flags.h"
#include "progress_line.h"
#include "report/table.h"
#include "studies/study.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::string name;
  bool json = false;
};

Result<const Study*> find_study(const std::string& name) {
  std::vector<std::string_view> known;
  std::string list;
  for (const Study* study : studies()) {
    if (study->name == name) return study;
    known.push_back(study->name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", study->name);
  }
  return fail(Code::kInvalidArgument, "unknown study '{}'{}; known: {}", name, spelling_hint(name, known), list);
}

nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

void print_document(const Study& study, const StudyReport& report) {
  nlohmann::ordered_json out = document("reproduce");
  out["study"] = std::string(study.name);
  out["source"] = std::string(study.source);
  out["setup"] = report.setup;
  out["rows"] = nlohmann::ordered_json::array();
  for (const StudyRow& row : report.rows) {
    const std::optional<bool> pass = row.pass();
    out["rows"].push_back({{"name", row.name},
                           {"published", or_null(row.published)},
                           {"ours", or_null(row.ours)},
                           {"unit", row.unit},
                           {"deviation", or_null(row.deviation())},
                           {"band", std::string(name_of(row.band))},
                           {"pass", pass ? nlohmann::ordered_json(*pass) : nlohmann::ordered_json()},
                           {"note", row.note}});
  }
  for (const StudyPoint& point : report.points) {
    const double time = to_seconds(point.time).value;
    out["points"].push_back({{"network", point.network},
                             {"scheme", point.scheme},
                             {"size_bytes", point.size.count},
                             {"time_s", time},
                             {"algbw_Bps", time > 0 ? static_cast<double>(point.size.count) / time : 0.0}});
  }
  print_json(out);
}

/// Bandwidth against size, a table per network.
void print_points(const StudyReport& report) {
  std::vector<std::string> networks;
  for (const StudyPoint& p : report.points) {
    if (std::find(networks.begin(), networks.end(), p.network) == networks.end()) networks.push_back(p.network);
  }
  for (const std::string& network : networks) {
    std::vector<std::string> schemes;
    std::vector<Bytes> sizes;
    for (const StudyPoint& p : report.points) {
      if (p.network != network) continue;
      if (std::find(schemes.begin(), schemes.end(), p.scheme) == schemes.end()) schemes.push_back(p.scheme);
      if (std::find(sizes.begin(), sizes.end(), p.size) == sizes.end()) sizes.push_back(p.size);
    }
    std::sort(sizes.begin(), sizes.end());
    std::vector<std::string> head{network + ", GB/s"};
    for (const Bytes size : sizes) head.push_back(format_bytes(size));
    Table table(head);
    for (const std::string& scheme : schemes) {
      std::vector<std::string> line{scheme};
      for (const Bytes size : sizes) {
        const auto at = std::find_if(report.points.begin(), report.points.end(), [&](const StudyPoint& p) {
          return p.network == network && p.scheme == scheme && p.size == size;
        });
        line.push_back(at == report.points.end()
                           ? "-"
                           : fmt::format("{:.2f}", static_cast<double>(size.count) / to_seconds(at->time).value / 1e9));
      }
      table.add(line);
    }
    fmt::print("{}\n", table.text());
  }
}

std::string figure(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

/// Rows, and their notes once each below.
void print_rows(const StudyReport& report) {
  Table table({"row", "published", "ours", "unit", "off %", "band", "result", "note"});
  std::vector<std::string> notes;
  for (const StudyRow& row : report.rows) {
    const std::optional<bool> pass = row.pass();
    const std::optional<double> off = row.deviation();
    const auto known = std::find(notes.begin(), notes.end(), row.note);
    const auto number = known - notes.begin() + 1;
    if (known == notes.end() && !row.note.empty()) notes.push_back(row.note);
    table.add({row.name, figure(row.published), figure(row.ours), row.unit,
               off ? fmt::format("{:+.1f}", 100 * *off) : "-", std::string(name_of(row.band)),
               pass ? (*pass ? "pass" : "MISS") : "-", row.note.empty() ? "-" : fmt::format("{}", number)});
  }
  fmt::print("{}\n", table.text());
  for (std::size_t i = 0; i < notes.size(); ++i) fmt::print("({}) {}\n", i + 1, notes[i]);
}

int list_studies(bool json) {
  if (json) {
    nlohmann::ordered_json out = document("reproduce");
    for (const Study* study : studies())
      out["studies"].push_back({{"name", std::string(study->name)}, {"source", std::string(study->source)}});
    print_json(out);
    return 0;
  }
  for (const Study* study : studies()) fmt::print("{}  {}\n", study->name, study->source);
  return 0;
}

Result<StudyReport> run_watched(const Study& study) {
  ProgressLine line;
  return study.run({.progress = [&line](std::string_view what) { line.progress().begin(std::string(what)); }});
}

Result<int> run(const Flags& flags) {
  if (flags.name.empty()) return list_studies(flags.json);
  HOCKET_TRY_ASSIGN(const Study* const study, find_study(flags.name));
  const Result<StudyReport> report = run_watched(*study);
  if (!report) return tl::unexpected<Error>(report.error());
  const auto misses = std::count_if(report->rows.begin(), report->rows.end(), missed);
  if (flags.json) {
    print_document(*study, *report);
    return misses == 0 ? 0 : 1;
  }
  fmt::print("{}: {}\n", study->name, study->source);
  for (const std::string& line : report->setup) fmt::print("  {}\n", line);
  fmt::print("\n");
  print_points(*report);
  print_rows(*report);
  const auto judged = std::count_if(report->rows.begin(), report->rows.end(),
                                    [](const StudyRow& row) { return row.pass().has_value(); });
  fmt::print("\n{}\n", emphasised(fmt::format("{} of {} rows pass, {} without a judgement", judged - misses, judged,
                                              static_cast<std::ptrdiff_t>(report->rows.size()) - judged)));
  return misses == 0 ? 0 : 1;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("study", flags->name, "which publication; without it, those known are listed");
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_reproduce{
    .name = "reproduce",
    .summary = "a publication's figures beside our own, row by row",
    .example = "hocket reproduce",
    .declare = declare,
};

}  // namespace hocket
