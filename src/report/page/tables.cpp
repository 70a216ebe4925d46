#include "report/page/tables.h"

#include <algorithm>
#include <numeric>

#include "report/html.h"

namespace hocket {
namespace {

std::string column(std::string_view name, std::string_view unit, bool sorted = false) {
  return fmt::format("<th scope=\"col\"{}><span class=\"sort\">{}{}</span></th>",
                     sorted ? " aria-sort=\"ascending\"" : "", name,
                     unit.empty() ? std::string() : fmt::format(" <small>{}</small>", unit));
}

/// A figure with what it cannot exceed below it.
std::string cell(double value, std::string_view text, std::string_view bound = "") {
  return fmt::format("<td data-value=\"{}\">{}{}</td>", value, text,
                     bound.empty() ? std::string() : fmt::format("<small>bound {}</small>", bound));
}

std::string open_table(std::string_view label, std::string_view hint) {
  return fmt::format(
      "<p class=\"note\">{}</p>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table "
      "class=\"sortable\"><thead><tr>",
      hint, label);
}

std::string plan_row(const PageEntry& e, std::size_t index) {
  const PagePlan& p = e.plans[index];
  const SimulationResult& s = *p.result;
  const Picos bound = to_picos(e.bound.time);
  const double algbw = algbw_Bps(e.what, s.time) / 1e9;
  const double busbw = busbw_Bps(e.what, s.time) / 1e9;
  std::string html = fmt::format(
      "<tr{}><th scope=\"row\">{}{}</th>", index == e.chosen() ? " class=\"chosen\"" : "", escape_html(p.name),
      p.file.empty() ? std::string() : fmt::format("<small>{}</small>", escape_html(p.file)));
  html += cell(to_seconds(s.time).value, readable_time(to_seconds(s.time)), readable_time(e.bound.time));
  html += cell(s.fraction_of_bound(), fmt::format("{:.1f} %", 100 * s.fraction_of_bound()));
  html += cell(algbw, fmt::format("{:.2f} GB/s", algbw), fmt::format("{:.2f}", algbw_Bps(e.what, bound) / 1e9));
  html += cell(busbw, fmt::format("{:.2f} GB/s", busbw), fmt::format("{:.2f}", busbw_Bps(e.what, bound) / 1e9));
  html += cell(static_cast<double>(s.links_used), fmt::format("{}", s.links_used),
               fmt::format("{}", e.topology.links().size()));
  const double held = s.links_used == 0 ? 0 : s.utilisation(s.busiest_link);
  html += cell(
      held, fmt::format("{:.0f} %{}", 100 * held,
                        s.links_used == 0 ? std::string()
                                          : fmt::format("<small>{}</small>", link_name(e.topology, s.busiest_link))));
  html += cell(p.plan->schedule().steps(), fmt::format("{}", p.plan->schedule().steps()));
  html += cell(static_cast<double>(s.messages), fmt::format("{}", s.messages));
  html += cell(static_cast<double>(p.plan->segment().count), readable_bytes(p.plan->segment()));
  return html + "<td>yes</td></tr>\n";
}

std::string link_row(const Topology& t, const SimulationResult& s, LinkId link) {
  const Link& l = t.link(link);
  const double megabytes = static_cast<double>(s.link_bytes[link]) * 1e-6;
  const double most = l.bandwidth.value * to_seconds(s.time).value * 1e-6;
  std::string html = fmt::format("<tr data-link=\"{}\"><th scope=\"row\">{}</th>", link, link_name(t, link));
  html += cell(s.utilisation(link), fmt::format("{:.1f} %", 100 * s.utilisation(link)));
  html += cell(megabytes, fmt::format("{:.4g} MB", megabytes), fmt::format("{:.4g}", most));
  html += cell(l.bandwidth.value, format_bandwidth(l.bandwidth));
  return html + cell(l.latency.value, readable_time(l.latency)) + "</tr>\n";
}

}  // namespace

std::string write_plan_table(const PageEntry& e) {
  std::string html = open_table("Table of plans",
                                "Every plan that fits. A bound stands below each figure that has one; "
                                "the head of a column sorts.");
  html += column("plan", "") + column("time", "", true) + column("of the bound", "%") + column("algbw", "GB/s") +
          column("busbw", "GB/s") + column("links used", "") + column("busiest link in use", "% of time") +
          column("steps", "") + column("messages", "") + column("segment", "") + column("proved", "");
  html += "</tr></thead><tbody>\n";
  std::vector<std::size_t> order(e.plans.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return e.plans[a].result->time < e.plans[b].result->time; });
  for (const std::size_t i : order) html += plan_row(e, i);
  html += "</tbody></table></div>\n";
  if (e.skipped.empty()) return html;
  html += fmt::format("<details class=\"skipped\"><summary>Left out: {} that cannot do this</summary><ul>\n",
                      e.skipped.size());
  for (const Skipped& s : e.skipped)
    html += fmt::format("<li><b>{}</b>: {}</li>\n", escape_html(s.algorithm), escape_html(s.reason));
  return html + "</ul></details>\n";
}

std::string write_link_table(const PageEntry& e) {
  const SimulationResult& s = *e.plans[e.chosen()].result;
  std::vector<LinkId> order(e.topology.links().size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](LinkId a, LinkId b) { return s.link_busy[a] > s.link_busy[b]; });
  std::string html = fmt::format("<details class=\"links\"><summary>Every link in numbers, under {}</summary>\n",
                                 escape_html(e.plans[e.chosen()].name));
  html += open_table("Table of links", "Bound of the data: what the link could carry in that time.");
  html += column("link", "") +
          "<th scope=\"col\" aria-sort=\"descending\"><span class=\"sort\">in use <small>% of "
          "time</small></span></th>" +
          column("data", "MB") + column("bandwidth", "") + column("latency", "") + "</tr></thead><tbody>\n";
  const std::size_t shown = std::min(order.size(), kLinkRowsMax);
  for (std::size_t i = 0; i < shown; ++i) html += link_row(e.topology, s, order[i]);
  html += "</tbody></table></div>\n";
  if (shown < order.size()) {
    html += fmt::format("<p class=\"note\">The {} links in use the longest, of {}.</p>\n", shown, order.size());
  }
  return html + "</details>\n";
}

}  // namespace hocket
