#include "report/page.h"

#include <algorithm>

#include "report/drawing.h"
#include "report/html.h"
#include "report/page/assets.h"
#include "report/page/moves.h"
#include "report/page/summary.h"
#include "report/page/tables.h"

namespace hocket {
namespace {

/// Nothing may be fetched, whatever a name in a file tries.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'";

/// "All-reduce".
std::string spelled(CollectiveKind kind) {
  std::string word(name_of(kind));
  std::replace(word.begin(), word.end(), '_', '-');
  word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

std::string title_of(const PageEntry& e) {
  return fmt::format("{} of {} on {}", spelled(e.what.collective.kind), readable_bytes(e.what.bytes()),
                     network_name(e.topology));
}

std::string select(std::string_view what, std::string_view label, const PageEntry& e, std::size_t selected) {
  std::string html = fmt::format("<label>{} <select data-choose=\"{}\">", label, what);
  for (std::size_t i = 0; i < e.plans.size(); ++i) {
    html += fmt::format("<option value=\"{}\"{}>{}</option>", i, i == selected ? " selected=\"selected\"" : "",
                        escape_html(plan_label(e.plans[i])));
  }
  return html + "</select></label>";
}

std::string load_key() {
  std::string html = "<p class=\"key\" aria-label=\"Colours of the links\">Share of the time a link is in use: ";
  constexpr std::string_view kNames[] = {"unused", "up to 20 %", "40 %", "60 %", "80 %", "100 %"};
  for (int i = 0; i < 6; ++i)
    html += fmt::format(
        "<span><svg width=\"26\" height=\"10\" aria-hidden=\"true\"><path class=\"load{}\" d=\"M1 "
        "5H25\"/></svg> {}</span>",
        i, kNames[i]);
  return html +
         "</p>\n<p class=\"key\">Circles are processors with their rank; S switch, H host, N network card.</p>\n";
}

std::string write_network(const PageEntry& e) {
  return "<section class=\"card loads\">\n<h3>How busy every link is</h3>\n<p class=\"controls scripted\">" +
         select("loads", "Plan", e, e.chosen()) + "</p>\n<div class=\"drawing scroll\">" +
         draw_network(e.topology, *e.plans[e.chosen()].result) +
         "</div>\n<p class=\"reading scripted\" aria-live=\"polite\">Point at a link, or focus the drawing and press "
         "the "
         "arrow keys.</p>\n" +
         load_key() + write_link_table(e) + "</section>\n";
}

std::string button(std::string_view action, std::string_view label, std::string_view text) {
  return fmt::format("<button type=\"button\" data-do=\"{}\" aria-label=\"{}\" title=\"{}\">{}</button>", action, label,
                     label, text);
}

std::string write_moves(const PageEntry& e) {
  return "<section class=\"card moves scripted\">\n<h3>How the data moves, step by step</h3>\n<p class=\"controls\">" +
         select("moves", "Plan", e, e.chosen()) +
         "<label>Share <select data-choose=\"share\"></select></label></p>\n<div class=\"drawing scroll\"></div>\n<p "
         "class=\"controls\">" +
         button("share-back", "Previous share", "&#8676;") + button("back", "Previous step", "&#8592;") +
         button("play", "Play", "&#9654; Play") + button("next", "Next step", "&#8594;") +
         button("share-next", "Next share", "&#8677;") +
         "<input type=\"range\" min=\"0\" value=\"0\" aria-label=\"Step\"/></p>\n<p class=\"reading\" "
         "aria-live=\"polite\"></p>\n<p class=\"key\"><span><i class=\"swatch adds\"></i> added up on arrival</span> "
         "<span><i class=\"swatch copies\"></i> copied on arrival</span> <span><i class=\"swatch done\"></i> earlier "
         "step</span> <span><i class=\"swatch root\"></i> root of the tree</span></p>\n<p "
         "class=\"note\"></p>\n</section>\n";
}

std::string write_timeline(const PageEntry& e, std::string_view side, std::size_t selected) {
  return fmt::format(
      "<div class=\"timeline\" data-side=\"{}\">\n<p class=\"controls\">{} <span class=\"total\"></span></p>\n<div "
      "class=\"lanes\" tabindex=\"0\" role=\"application\" aria-roledescription=\"timeline\" aria-label=\"Timeline, "
      "links "
      "as rows\"><div class=\"space\"><canvas></canvas></div></div>\n<p class=\"reading\" "
      "aria-live=\"polite\"></p>\n<p "
      "class=\"note\"></p>\n</div>\n",
      side, select("timeline", side == "left" ? "Left" : "Right", e, selected));
}

/// Beside the chosen plan stands the ring, or what comes nearest to it.
std::size_t counterpart(const PageEntry& e) {
  const std::size_t chosen = e.chosen();
  const std::size_t ring = e.find("ring");
  if (ring < e.plans.size() && ring != chosen) return ring;
  return e.plans.size() == 1 ? 0 : chosen == 0 ? 1 : 0;
}

std::string write_timelines(const PageEntry& e) {
  return "<section class=\"card timelines scripted\">\n<h3>What every link does over time</h3>\n<p class=\"note\">One "
         "row "
         "per link, one bar per transfer, both sides on the same scale of time. Drag to move, Ctrl and wheel to zoom; "
         "keys: "
         "arrows walk bars and rows, + and &#8722; zoom, Shift and arrows move, 0 shows all.</p>\n<p "
         "class=\"controls\">" +
         button("in", "Zoom in", "+") + button("out", "Zoom out", "&#8722;") + button("earlier", "Earlier", "&#8592;") +
         button("later", "Later", "&#8594;") + button("all", "Show the whole run", "Whole run") +
         "<span class=\"key\"><span><i class=\"swatch adds\"></i> added up on arrival</span> <span><i class=\"swatch "
         "copies\"></i> copied on arrival</span></span></p>\n<div class=\"pair\">\n" +
         write_timeline(e, "left", e.chosen()) + write_timeline(e, "right", counterpart(e)) + "</div>\n</section>\n";
}

Result<std::string> write_section(const PageEntry& e, std::size_t index) {
  HOCKET_TRY_ASSIGN(const nlohmann::ordered_json moves, describe_moves(e));
  std::string html = fmt::format(
      "<section class=\"collective\" aria-labelledby=\"network{0}\">\n<h2 "
      "id=\"network{0}\" tabindex=\"-1\">{1}</h2>\n",
      index, title_of(e));
  html += "<section class=\"card\"><h3>In short</h3>\n" + write_summary(e) + "</section>\n";
  html += "<section class=\"card\"><h3>How long each plan takes</h3>\n" + draw_times(e) + write_plan_table(e) +
          "</section>\n";
  html += "<div class=\"pair\">\n" + write_network(e) + write_moves(e) + "</div>\n" + write_timelines(e);
  html += "<script type=\"application/json\" class=\"figures\">" + embed_json(moves) + "</script>\n</section>\n";
  return html;
}

std::string head(const std::vector<PageEntry>& entries) {
  const std::string title = entries.size() == 1 ? title_of(entries.front()) : std::string("planned collectives");
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"/>\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"{}\"/>\n<title>{} &#8211; hocket</title>\n<link rel=\"icon\" href=\"data:,\"/>\n<style>\n{}</style>\n"
      "</head>\n",
      kPolicy, title, page_style());
}

}  // namespace

std::size_t PageEntry::chosen() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < plans.size(); ++i) {
    if (plans[i].result->time < plans[best].result->time) best = i;
  }
  return best;
}

std::size_t PageEntry::find(std::string_view name) const {
  std::size_t i = 0;
  while (i < plans.size() && (plans[i].name != name || !plans[i].file.empty())) ++i;
  return i;
}

std::string plan_label(const PagePlan& plan) {
  return plan.file.empty() ? plan.name : fmt::format("{} ({})", plan.name, plan.file);
}

std::vector<PagePlan> page_plans(const Planning& planning) {
  std::vector<PagePlan> plans;
  plans.reserve(planning.candidates.size());
  for (const Candidate& c : planning.candidates) plans.push_back({c.algorithm, "", &c.plan, &c.simulated});
  return plans;
}

Result<std::string> make_page(const std::vector<PageEntry>& entries) {
  std::string html = head(entries);
  html +=
      "<body>\n<a class=\"skip\" href=\"#main\">Skip to the summary</a>\n<header><p class=\"brand\">hocket</p><p "
      "class=\"tagline\">Collectives planned, proved and timed by simulation</p><button type=\"button\" "
      "class=\"theme scripted\">Dark</button></header>\n<main id=\"main\" tabindex=\"-1\">\n<h1>" +
      (entries.size() == 1 ? std::string("Which plan moves the data fastest?")
                           : fmt::format("Which plan moves the data fastest, on {} networks", entries.size())) +
      "</h1>\n" + write_overview(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    HOCKET_TRY_ASSIGN(const std::string section, write_section(entries[i], i));
    html += section;
  }
  const bool network_only = entries.empty() || entries.front().plans.front().result->network_only;
  html += write_words();
  html += fmt::format(
      "</main>\n<footer><p>Times come from simulating the network, not from a measurement{}. Every plan was "
      "proved right by symbolic execution.</p></footer>\n",
      network_only ? "; copying and adding inside a processor count nothing" : "");
  return html + fmt::format("<script>\n\"use strict\";\n{}</script>\n</body>\n</html>\n", page_script());
}

}  // namespace hocket
