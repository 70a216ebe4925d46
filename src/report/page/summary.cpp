#include "report/page/summary.h"

#include <algorithm>
#include <utility>

#include "algorithms/algorithm.h"
#include "bounds/statement.h"
#include "report/html.h"

namespace hocket {
namespace {

std::string time_text(const SimulationResult& r) { return readable_time(to_seconds(r.time)); }

/// "16 processors each hold 64MiB ..."
std::string asked_in_words(const PageEntry& e) {
  const std::string size = readable_bytes(e.what.bytes());
  const std::uint32_t n = e.what.collective.ranks;
  if (n == 1) return fmt::format("One processor holds {} and there is no other to share it with.", size);
  const std::string all = fmt::format("{} processors", n);
  switch (e.what.collective.kind) {
    case CollectiveKind::kAllReduce:
      return fmt::format(
          "{} each hold {} of numbers. At the end every one of them must hold the {} of all {}, number by "
          "number. This is an all-reduce; training a model on many processors does it in every step.",
          all, size, name_of(e.what.op), n);
    case CollectiveKind::kReduceScatter:
      return fmt::format(
          "{} each hold {} of numbers. At the end each must hold its own {}th part of the {} of all (a "
          "reduce-scatter).",
          all, size, n, name_of(e.what.op));
    case CollectiveKind::kAllGather:
      return fmt::format("Each of {} holds one part of {}. At the end every one must hold all of it (an all-gather).",
                         all, size);
    case CollectiveKind::kBroadcast:
      return fmt::format("Processor {} holds {}. At the end all {} must hold a copy (a broadcast).",
                         e.what.collective.root, size, all);
    case CollectiveKind::kReduce:
      return fmt::format("{} each hold {} of numbers. At the end processor {} must hold the {} of all (a reduce).", all,
                         size, e.what.collective.root, name_of(e.what.op));
    default:
      return fmt::format(
          "{} each hold {}, one part for every other. At the end every part must be where it belongs (an "
          "all-to-all).",
          all, size);
  }
}

/// "1.50 times as fast as ring", as a sentence about the usual choice, or about the next best when there is no ring.
std::string compared_in_words(const PageEntry& e) {
  const PagePlan& best = e.plans[e.chosen()];
  if (e.plans.size() == 1) return "No other plan fits this network, so there is nothing to compare it with.";
  if (const std::size_t ring = e.find("ring"); ring < e.plans.size() && ring != e.chosen()) {
    const double factor = static_cast<double>(e.plans[ring].result->time.count) /
                          static_cast<double>(std::max<std::int64_t>(1, best.result->time.count));
    if (factor < 1.005)
      return fmt::format("The ring, the usual choice, takes as long ({}).", time_text(*e.plans[ring].result));
    return fmt::format("The ring, the usual choice, takes {}: this plan is <b>{:.2f} times as fast</b>.",
                       time_text(*e.plans[ring].result), factor);
  }
  if (best.name == "ring") return "It is the ring, the usual choice: nothing tried here beats it.";
  return "There is no ring to compare it with on this network.";
}

/// What holds the chosen plan back, from how long its busiest link is held.
std::string limit_in_words(const PageEntry& e) {
  const SimulationResult& r = *e.plans[e.chosen()].result;
  if (r.messages == 0) return "Nothing has to move, so nothing limits it.";
  if (r.links_used == 0) return "Only how long messages travel: they are empty.";
  const double held = r.utilisation(r.busiest_link);
  const std::string link = link_name(e.topology, r.busiest_link);
  if (e.bound.rule == "latency" && held < 0.9) {
    return fmt::format(
        "The vector is so small that the way counts, not the amount: the links would need {} even for one "
        "byte. The busiest link ({}) is in use {:.0f} % of the time.",
        readable_time(e.bound.latency), link, 100 * held);
  }
  if (held >= 0.9 && r.fraction_of_bound() >= 0.95) {
    return fmt::format(
        "The network itself: the busiest link ({}) is in use {:.0f} % of the time and no plan could do with "
        "much less.",
        link, 100 * held);
  }
  if (held >= 0.9) {
    return fmt::format(
        "Its busiest link ({}), which is in use {:.0f} % of the time: a plan that spreads the load better "
        "could be faster, if there is one.",
        link, 100 * held);
  }
  return fmt::format(
      "Waiting: even the busiest link ({}) is in use only {:.0f} % of the time. The rest goes to data that "
      "must arrive before it can be passed on.",
      link, 100 * held);
}

/// The certificate of the bound, after what it means.
std::string reason_of(const Bound& bound) {
  constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {"latency", "the farthest pair is that far apart"},
      {"cut", "what one side owes the other must cross these links"},
      {"partition", "what these parts owe each other must cross the links between them"},
      {"link lengths", "all links together cannot carry more of what every plan has to send"},
      {"distances", "every part has to travel its distance"}};
  std::string text = certificate_text(bound.rule, bound.limit);
  for (const auto& [rule, meaning] : kMeanings) {
    if (rule == bound.rule) text = fmt::format("{} ({})", meaning, text);
  }
  return escape_html(text);
}

std::string bound_in_words(const PageEntry& e) {
  const SimulationResult& r = *e.plans[e.chosen()].result;
  if (e.bound.time.value <= 0 || r.time.count == 0) return "There is no lower limit above zero here.";
  const double over = to_seconds(r.time).value / e.bound.time.value;
  const std::string distance = over < 1.005
                                   ? std::string("This plan reaches it.")
                                   : fmt::format("This plan takes {:.2f} times as long ({:.0f} % of the bound).", over,
                                                 100 * r.fraction_of_bound());
  return fmt::format(
      "Whatever the plan, it takes at least <b>{}</b> here. {} <span class=\"why\">Why no plan can do "
      "better: {}.</span>",
      readable_time(e.bound.time), distance, reason_of(e.bound));
}

std::string plan_in_words(const PageEntry& e) {
  const PagePlan& best = e.plans[e.chosen()];
  std::string text = e.plans.size() == 1 ? fmt::format("<b>{}</b> is the only plan: {}.", escape_html(best.name),
                                                       time_text(*best.result))
                                         : fmt::format("<b>{}</b> is the fastest of {} plans: {}.",
                                                       escape_html(best.name), e.plans.size(), time_text(*best.result));
  if (e.what.collective.ranks == 1) return text;
  if (!best.file.empty()) return text + fmt::format(" It was read from {}.", escape_html(best.file));
  if (const auto algorithm = find_algorithm(best.name)) {
    text += fmt::format(" How it works: {} ({}).", escape_html((*algorithm)->description),
                        escape_html((*algorithm)->source));
  }
  return text;
}

std::string tile(std::string_view what, std::string_view figure, std::string_view note) {
  return fmt::format("<div class=\"tile\"><dt>{}</dt><dd><strong>{}</strong> <span>{}</span></dd></div>\n", what,
                     figure, note);
}

/// A name that may be broken behind its underscores.
std::string breakable(std::string_view name) {
  std::string html;
  for (const char c : escape_html(name)) html += c == '_' ? std::string("_<wbr/>") : std::string(1, c);
  return html;
}

std::string write_tiles(const PageEntry& e) {
  const PagePlan& best = e.plans[e.chosen()];
  std::string html = "<dl class=\"tiles\">\n";
  html += tile("Fastest plan", breakable(best.name), fmt::format("of {} compared", e.plans.size()));
  html += tile("Time", time_text(*best.result), fmt::format("at least {} on any plan", readable_time(e.bound.time)));
  if (const std::size_t ring = e.find("ring"); ring < e.plans.size() && best.result->time.count > 0) {
    html += tile("Against the ring",
                 fmt::format("{:.2f}&#215;", static_cast<double>(e.plans[ring].result->time.count) /
                                                 static_cast<double>(best.result->time.count)),
                 fmt::format("as fast; ring takes {}", time_text(*e.plans[ring].result)));
  }
  html += tile("Of the bound", fmt::format("{:.1f} %", 100 * best.result->fraction_of_bound()),
               "100 % cannot be beaten by any plan");
  return html + "</dl>\n";
}

std::string answer(std::string_view question, std::string_view text) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", question, text);
}

std::string word(std::string_view name, std::string_view meaning) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, meaning);
}

}  // namespace

std::string write_summary(const PageEntry& e) {
  std::string html = write_tiles(e) + "<dl class=\"answers\">\n";
  html += answer("What was asked", asked_in_words(e));
  html += answer("Which plan wins", plan_in_words(e));
  html += answer("How much faster", compared_in_words(e));
  html += answer("How far from the limit", bound_in_words(e));
  html += answer("What limits it", limit_in_words(e));
  html += "</dl>\n";
  for (const std::string& note : e.topology.notes())
    html += fmt::format("<p class=\"note\">Note: {}.</p>\n", escape_html(note));
  return html;
}

std::string draw_times(const PageEntry& e) {
  std::int64_t longest = 1;
  for (const PagePlan& p : e.plans) longest = std::max(longest, p.result->time.count);
  const double bound = std::min(100.0, 100 * e.bound.time.value / to_seconds({longest}).value);
  std::string html = "<ol class=\"bars\">\n";
  std::vector<std::size_t> order(e.plans.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return e.plans[a].result->time < e.plans[b].result->time; });
  for (const std::size_t i : order) {
    const SimulationResult& r = *e.plans[i].result;
    html += fmt::format(
        "<li{}><span class=\"name\">{}</span><span class=\"track\"><span class=\"bar\" "
        "style=\"width:{:.2f}%\"></span><span class=\"bound\" style=\"left:{:.2f}%\"></span></span><span "
        "class=\"figure\">{}</span></li>\n",
        i == e.chosen() ? " class=\"chosen\"" : "", escape_html(plan_label(e.plans[i])),
        100.0 * static_cast<double>(r.time.count) / static_cast<double>(longest), bound, time_text(r));
  }
  return html + fmt::format(
                    "</ol>\n<p class=\"key\"><span><span class=\"boundmark\"></span> the bound, {}: no plan can be "
                    "faster. Shorter is better.</span></p>\n",
                    readable_time(e.bound.time));
}

std::string write_overview(const std::vector<PageEntry>& entries) {
  if (entries.size() < 2) return "";
  std::string html =
      "<section class=\"card\" aria-labelledby=\"overview\"><h2 id=\"overview\">All networks at a glance</h2>\n<div "
      "class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table of networks\"><table><thead><tr><th "
      "scope=\"col\">network</th><th scope=\"col\">processors</th><th scope=\"col\">fastest plan</th><th "
      "scope=\"col\">time</th><th scope=\"col\">bound</th><th scope=\"col\">of the bound</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const PageEntry& e = entries[i];
    const PagePlan& best = e.plans[e.chosen()];
    html += fmt::format(
        "<tr><th scope=\"row\"><a href=\"#network{}\">{}</a></th><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{:.1f} %</td></tr>\n",
        i, network_name(e.topology), e.topology.rank_count(), escape_html(best.name), time_text(*best.result),
        readable_time(e.bound.time), 100 * best.result->fraction_of_bound());
  }
  return html + "</tbody></table></div></section>\n";
}

std::string write_words() {
  std::string html = "<details class=\"card words\"><summary>What the words mean</summary><dl>\n";
  html += word("processor, rank", "one participant, numbered from 0; for example a GPU.");
  html +=
      word("link", "one direction of a cable. Both directions carry data at the same time without slowing each other.");
  html += word("latency, bandwidth",
               "how long the first byte travels, and how many bytes follow per second. 1 GB/s is 10<sup>9</sup> bytes "
               "per second; MiB are 2<sup>20</sup> bytes.");
  html += word("plan",
               "who sends which part to whom, in which order. Every plan on this page was proved right: whatever the "
               "data, each processor ends with exactly what it should.");
  html += word("bound",
               "the least time that network and amount allow, proved; no plan can be faster. Every figure on this "
               "page stands beside it.");
  html += word("share", "a part of the vector that takes the same way through the network all along.");
  html += word("tree", "the way of one share: collected towards one processor (its root), then handed out from it.");
  html +=
      word("step", "the plan's own counter. A transfer waits for the data it needs, not for the others of its step.");
  html += word("algbw", "amount divided by time.");
  html += word("busbw", "algbw scaled so that one number compares collectives; the same as in nccl-tests.");
  return html + "</dl></details>\n";
}

}  // namespace hocket
