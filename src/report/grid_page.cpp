#include "report/grid_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/html.h"
#include "report/page/assets.h"
#include "simulator/step_metrics.h"

namespace hocket {
namespace {

constexpr double kWidth = 760, kHeight = 380, kLeft = 92, kRight = 20, kTop = 16, kBottom = 56;
constexpr int kTicks = 5;
constexpr int kColours = 7;

/// Colours that the colour-blind tell apart, on light and dark; lines beyond them are dashed.
constexpr std::string_view kPlotStyle = R"(
svg.plot { display: block; width: 100%; max-width: 60rem; height: auto; }
svg.plot text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--muted); }
svg.plot .grid { stroke: var(--line); }
svg.plot .axis { stroke: var(--muted); }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
.mark { stroke: none; }
.hue0 { stroke: #0072b2; fill: #0072b2; } .hue1 { stroke: #d55e00; fill: #d55e00; }
.hue2 { stroke: #009e73; fill: #009e73; } .hue3 { stroke: #cc79a7; fill: #cc79a7; }
.hue4 { stroke: #e69f00; fill: #e69f00; } .hue5 { stroke: #56b4e9; fill: #56b4e9; }
.hue6 { stroke: var(--ink); fill: var(--ink); }
path.line { fill: none; }
)";

constexpr std::string_view kDashes[] = {"", "7 4", "2 4", "10 4 2 4"};

std::string line_name(const PageGrid& grid, const GridRow& row) {
  std::string name;
  for (const std::size_t key : grid.line_keys)
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", grid.keys[key], row.at[key]);
  return name;
}

struct Point {
  std::size_t place = 0;  // along x
  double value = 0;
};

struct Plot {
  std::vector<std::string> places;  // values of x, in the order of the rows
  std::vector<std::pair<std::string, std::vector<Point>>> lines;
  double top = 1;
  double step = 1;
};

Plot arrange(const PageGrid& grid) {
  Plot plot;
  std::map<std::string, std::size_t> place_of, line_of;
  double highest = 0;
  for (const GridRow& row : grid.rows) {
    const auto [place, new_place] = place_of.emplace(row.at[grid.x], plot.places.size());
    if (new_place) plot.places.push_back(row.at[grid.x]);
    if (row.figures.empty() || !std::isfinite(row.figures[grid.y])) continue;
    const std::string name = line_name(grid, row);
    const auto [line, new_line] = line_of.emplace(name, plot.lines.size());
    if (new_line) plot.lines.emplace_back(name, std::vector<Point>());
    plot.lines[line->second].second.push_back({place->second, row.figures[grid.y]});
    highest = std::max(highest, row.figures[grid.y]);
  }
  plot.step = round_step(highest / kTicks);
  plot.top = plot.step * std::max(1.0, std::ceil(highest / plot.step - 1e-9));
  return plot;
}

double x_of(const Plot& plot, std::size_t place) {
  const auto count = static_cast<double>(plot.places.size());
  return kLeft + (kWidth - kLeft - kRight) * (static_cast<double>(place) + 0.5) / count;
}

double y_of(const Plot& plot, double value) {
  return kHeight - kBottom - (kHeight - kTop - kBottom) * std::max(0.0, value) / plot.top;
}

std::string draw_axes(const PageGrid& grid, const Plot& plot) {
  std::string svg;
  for (int i = 0; i * plot.step <= plot.top * (1 + 1e-9); ++i) {
    const double y = y_of(plot, i * plot.step);
    svg += fmt::format(
        "<path class=\"{}\" d=\"M{} {:.1f}H{}\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        i == 0 ? "axis" : "grid", kLeft, y, kWidth - kRight, kLeft - 8, y + 4,
        escape_html(metric_text(grid.columns[grid.y], i * plot.step)));
  }
  const std::size_t every = plot.places.size() / 12 + 1;  // labels that have room
  for (std::size_t place = 0; place < plot.places.size(); place += every) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x_of(plot, place),
                       kHeight - kBottom + 20, escape_html(plot.places[place].substr(0, 24)));
  }
  return svg + fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                           (kLeft + kWidth - kRight) / 2, kHeight - 12, escape_html(grid.keys[grid.x]));
}

std::string draw_line(const PageGrid& grid, const Plot& plot, std::size_t index) {
  const auto& [name, points] = plot.lines[index];
  std::string path, marks;
  for (const Point& p : points) {
    const double x = x_of(plot, p.place), y = y_of(plot, p.value);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
    marks += fmt::format(
        "<circle class=\"mark hue{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}{}{}: {}</title></circle>\n",
        index % kColours, x, y, escape_html(plot.places[p.place]), name.empty() ? "" : ", ", escape_html(name),
        escape_html(metric_text(grid.columns[grid.y], p.value)));
  }
  return fmt::format("<path class=\"line hue{}\" stroke-dasharray=\"{}\" d=\"{}\"/>\n{}", index % kColours,
                     kDashes[index / kColours], path, marks);
}

std::string draw_key(const Plot& plot, std::size_t drawn) {
  std::string html = "<p class=\"key\">";
  for (std::size_t i = 0; i < drawn; ++i) {
    if (plot.lines[i].first.empty()) continue;
    html += fmt::format(
        "<span><svg width=\"30\" height=\"10\" aria-hidden=\"true\"><path class=\"line hue{}\" "
        "stroke-dasharray=\"{}\" d=\"M1 5H29\"/></svg> {}</span>\n",
        i % kColours, kDashes[i / kColours], escape_html(plot.lines[i].first));
  }
  html += "</p>\n";
  if (drawn < plot.lines.size())
    html += fmt::format("<p class=\"note\">{} more lines are not drawn; the table has them.</p>\n",
                        plot.lines.size() - drawn);
  return html;
}

std::string draw_plot(const PageGrid& grid) {
  const Plot plot = arrange(grid);
  const StepMetric* metric = find_step_metric(grid.columns[grid.y]);
  const std::string what = escape_html(metric == nullptr ? grid.columns[grid.y] : metric->words);
  std::string html = fmt::format(
      "<section class=\"card\"><h2>{0} by {1}</h2>\n<div class=\"scroll\"><svg class=\"plot\" viewBox=\"0 0 {2} {3}\" "
      "role=\"img\" aria-label=\"{0} by {1}; the table below has the same figures\">\n",
      what, escape_html(grid.keys[grid.x]), kWidth, kHeight);
  html += draw_axes(grid, plot);
  const std::size_t drawn = std::min(plot.lines.size(), kPlotLinesMax);
  for (std::size_t i = 0; i < drawn; ++i) html += draw_line(grid, plot, i);
  return html + "</svg></div>\n" + draw_key(plot, drawn) + "</section>\n";
}

std::string write_table(const PageGrid& grid) {
  std::string html = "<section class=\"card\"><h2>All points</h2>\n<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& key : grid.keys) html += fmt::format("<th scope=\"col\">{}</th>", escape_html(key));
  for (const std::string& column : grid.columns) html += fmt::format("<th scope=\"col\">{}</th>", escape_html(column));
  const bool has_fits =
      std::any_of(grid.rows.begin(), grid.rows.end(), [](const GridRow& r) { return !r.fits.empty(); });
  if (has_fits) html += "<th scope=\"col\">fits memory</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const GridRow& row : grid.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.at.size(); ++i)
      html += fmt::format("<{0}>{1}</{0}>", i == 0 ? "th" : "td", escape_html(row.at[i]));
    for (std::size_t i = 0; i < row.figures.size(); ++i)
      html += fmt::format("<td>{}</td>", escape_html(metric_text(grid.columns[i], row.figures[i])));
    if (row.figures.empty())
      html += fmt::format("<td colspan=\"{}\">{}</td>", grid.columns.size(), escape_html(row.error));
    if (has_fits) html += fmt::format("<td>{}</td>", escape_html(row.fits));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></section>\n";
}

}  // namespace

double round_step(double least) {
  if (!(least > 0) || !std::isfinite(least)) return 1;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= least * (1 - 1e-12)) return factor * power;
  }
  return 10 * power;
}

std::string make_grid_page(const PageGrid& grid) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"/>\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
      "'none'\"/>\n"
      "<title>{} &#8211; hocket</title>\n<link rel=\"icon\" href=\"data:,\"/>\n<style>\n{}{}</style>\n</head>\n",
      escape_html(grid.title), page_style(), kPlotStyle);
  html += fmt::format(
      "<body>\n<header><p class=\"brand\">hocket</p><p class=\"tagline\">A sweep over platforms and training "
      "steps</p></header>\n<main id=\"main\">\n<h1>{}</h1>\n",
      escape_html(grid.title));
  if (!grid.description.empty()) html += fmt::format("<p>{}</p>\n", escape_html(grid.description));
  html += draw_plot(grid) + write_table(grid);
  return html +
         "</main>\n<footer><p>Times come from simulating the platform, not from a measurement.</p></footer>\n"
         "</body>\n</html>\n";
}

}  // namespace hocket
