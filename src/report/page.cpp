#include "report/page.h"

namespace hocket {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--ink:#1c2330;--paper:#fbfbf8;--soft:#e6e8ee;--accent:#0b6e99;--hot:#d1495b}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8f0;--paper:#14181f;--soft:#2b3240;--accent:#5ab4dd;
--hot:#ff7b8a}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:64rem;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:2.5rem;border-top:1px solid var(--soft);padding-top:1rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--soft)}
th:first-child,td:first-child{text-align:left}tr.chosen td{font-weight:600;color:var(--accent)}
.wrap{overflow-x:auto}svg{width:100%;height:auto}svg.net{max-width:30rem}
svg text{font:9px system-ui,sans-serif;fill:var(--ink);text-anchor:middle}
svg text.row{text-anchor:end;font-size:7px}path{fill:none}path.idle{stroke:var(--soft)}
path.load{stroke:color-mix(in srgb,var(--hot) var(--load),var(--accent))}
circle.npu{fill:var(--paper);stroke:var(--ink)}circle.switch{fill:var(--soft);stroke:var(--ink)}
.c0{fill:#0b6e99}.c1{fill:#d1495b}.c2{fill:#edae49}.c3{fill:#66a182}.c4{fill:#8d6a9f}.c5{fill:#7a8ba3}
.small{font-size:.85rem;opacity:.8}
)css";

std::string row(const PageEntry& e, const Candidate& c, bool chosen) {
  const SimulationResult& s = c.simulated;
  return fmt::format(
      "<tr{}><td>{}</td><td>{}</td><td>{:.2f}</td><td>{:.2f}</td><td>{:.1f} %</td><td>{}</td><td>{} / "
      "{}</td><td>{}</td><td>yes</td></tr>\n",
      chosen ? " class=\"chosen\"" : "", escape_html(c.algorithm), format_seconds(to_seconds(s.time)),
      algbw_Bps(e.what, s.time) / 1e9, busbw_Bps(e.what, s.time) / 1e9, 100 * s.fraction_of_bound(),
      s.links_used == 0 ? "-" : escape_html(e.topology.describe_link(s.busiest_link)), s.links_used,
      e.topology.links().size(), c.plan.schedule().steps());
}

std::string table(const PageEntry& e) {
  std::string html =
      "<div class=\"wrap\"><table><thead><tr><th>algorithm</th><th>time</th><th>algbw GB/s</th><th>busbw "
      "GB/s</th><th>of the bound</th>"
      "<th>busiest link</th><th>links used</th><th>steps</th><th>proved</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < e.planning.candidates.size(); ++i)
    html += row(e, e.planning.candidates[i], i == e.planning.chosen);
  html += "</tbody></table></div>\n";
  for (const Skipped& s : e.planning.skipped) {
    html += fmt::format("<p class=\"small\">Skipped {}: {}</p>\n", escape_html(s.algorithm), escape_html(s.reason));
  }
  return html;
}

/// The same plan again with its bars kept, in coarse segments so that a reader can tell them apart.
Result<std::string> timeline(const PageEntry& e, const Candidate& c) {
  SimulateOptions options;
  options.timeline = true;
  options.bound = &e.planning.bound;
  HOCKET_TRY_ASSIGN(const SimulationResult result, simulate(c.plan, e.topology, options));
  return fmt::format(
      "<h3>Timeline of {}</h3>\n<p class=\"small\">One row per link, one bar per segment, colours tell operations "
      "apart.</p>\n{}\n",
      escape_html(c.algorithm), draw_timeline(e.topology, result));
}

Result<std::string> section(const PageEntry& e) {
  const Candidate& best = e.planning.candidates[e.planning.chosen];
  std::string html = fmt::format("<h2>{} of {} on {}</h2>\n", name_of(e.what.collective.kind),
                                 format_bytes(e.what.bytes()), escape_html(e.topology.name()));
  html += fmt::format(
      "<p>{} npus each hold {} and must all end with the combined result. No plan that sends each number once per "
      "message can finish sooner than "
      "<b>{}</b> here ({}: {}). The chosen plan, <b>{}</b>, takes {}: {:.0f} % of that limit. {}.</p>\n",
      e.topology.rank_count(), format_bytes(e.what.bytes()), format_seconds(e.planning.bound.time),
      e.planning.bound.rule, escape_html(e.planning.bound.limit), escape_html(best.algorithm),
      format_seconds(to_seconds(best.simulated.time)), 100 * best.simulated.fraction_of_bound(),
      escape_html(e.planning.reason));
  html += table(e);
  for (const std::string& run : e.runs) html += fmt::format("<p>{}</p>\n", escape_html(run));
  html += fmt::format("<h3>Load of every link under {}</h3>\n{}\n", escape_html(best.algorithm),
                      draw_topology(e.topology, best.simulated));
  HOCKET_TRY_ASSIGN(std::string lines, timeline(e, best));
  html += lines;
  for (const Candidate& c : e.planning.candidates) {
    if (c.algorithm != "ring" || best.algorithm == "ring") continue;
    HOCKET_TRY_ASSIGN(lines, timeline(e, c));
    html += lines;
  }
  return html;
}

}  // namespace

Result<std::string> make_page(const std::vector<PageEntry>& entries) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\">"
      "<title>hocket: planned collectives</title><style>{}</style></head><body>\n<h1>hocket: planned collectives</h1>\n"
      "<p>Every plan below was proved right by symbolic execution and timed by simulation; times are network "
      "only.</p>\n",
      kStyle);
  for (const PageEntry& entry : entries) {
    HOCKET_TRY_ASSIGN(const std::string part, section(entry));
    html += part;
  }
  return html + "</body></html>\n";
}

}  // namespace hocket
