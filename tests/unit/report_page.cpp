// The page: well-formed, self-contained, the same bytes every time, with the figures of the plans in words, tables and
// the document its script reads; names from files never become markup.
#include "report/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <pugixml.hpp>

#include "report/drawing.h"
#include "report/html.h"
#include "report/page/rows.h"
#include "topology/spec.h"

namespace hocket {
namespace {

Topology network(std::string_view words) {
  auto topology = topology_from_spec(words, {});
  EXPECT_TRUE(topology) << (topology ? "" : topology.error().text);
  return std::move(*topology);
}

/// A network, its plans and the page about them.
class Reported {
 public:
  Reported(Topology topology, CollectiveKind kind, std::int64_t count) : topology_(std::move(topology)) {
    const BoundCollective what{{kind, topology_.rank_count(), 0}, count, DataType::kF32, ReduceOp::kSum};
    auto planning = plan_collective(topology_, what, {});
    EXPECT_TRUE(planning) << (planning ? "" : planning.error().text);
    planning_ = std::move(*planning);
    entries_.push_back({topology_, what, planning_.bound, page_plans(planning_), planning_.skipped, {}});
  }

  [[nodiscard]] const PageEntry& entry() const { return entries_.front(); }
  [[nodiscard]] const Planning& planning() const { return planning_; }
  [[nodiscard]] std::string page() const {
    auto page = make_page(entries_);
    EXPECT_TRUE(page) << (page ? "" : page.error().text);
    return std::move(*page);
  }

 private:
  Topology topology_;
  Planning planning_;
  std::vector<PageEntry> entries_;
};

Reported all_reduce(std::string_view words) { return {network(words), CollectiveKind::kAllReduce, 1 << 20}; }

/// The page without the insides of style and script elements, which are not markup.
std::string markup_of(std::string page) {
  for (const std::string name : {"style", "script"}) {
    for (std::size_t at = page.find("<" + name); at != page.npos; at = page.find("<" + name, at + 1)) {
      const std::size_t begin = page.find('>', at) + 1;
      page.erase(begin, page.find("</" + name + ">", begin) - begin);
    }
  }
  return page;
}

nlohmann::json figures_of(const std::string& page) {
  const std::string_view mark = "class=\"figures\">";
  const std::size_t begin = page.find(mark) + mark.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Page, IsWellFormedForEveryCollectiveAndShapeOfNetwork) {
  const CollectiveKind kinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                  CollectiveKind::kAllGather, CollectiveKind::kBroadcast,
                                  CollectiveKind::kReduce,    CollectiveKind::kAllToAll};
  for (const CollectiveKind kind : kinds) {
    for (const char* words : {"torus:2x3", "fattree:2x2", "boxes:2x3", "ring:1"}) {
      const std::string markup = markup_of(Reported(network(words), kind, 1200).page());
      pugi::xml_document document;
      const pugi::xml_parse_result result =
          document.load_string(markup.c_str(), pugi::parse_full & ~pugi::parse_doctype);
      EXPECT_TRUE(result) << name_of(kind) << " on " << words << ": " << result.description() << " near "
                          << markup.substr(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, result.offset - 40)),
                                           80);
      EXPECT_STREQ(document.document_element().name(), "html");
    }
  }
}

TEST(Page, IsTheSameBytesEveryTime) { EXPECT_EQ(all_reduce("torus:4x4").page(), all_reduce("torus:4x4").page()); }

TEST(Page, FetchesNothing) {
  const std::string page = all_reduce("torus:3x3").page();
  for (const char* part : {"http:", "https:", "src=", "@import", "url("}) EXPECT_EQ(count_of(page, part), 0U) << part;
  EXPECT_NE(page.find("default-src 'none'"), page.npos);
}

TEST(Page, ShowsEveryPlanWithItsFigures) {
  const Reported reported = all_reduce("torus:4x4");
  const std::string page = markup_of(reported.page());
  for (const Candidate& c : reported.planning().candidates) {
    EXPECT_NE(page.find(">" + c.algorithm + "</th>"), page.npos) << c.algorithm;
    const std::string time = readable_time(to_seconds(c.simulated.time));
    EXPECT_NE(page.find(">" + time + "<small>bound " + readable_time(reported.planning().bound.time)), page.npos)
        << time;
    EXPECT_NE(page.find(fmt::format("{:.1f} %", 100 * c.simulated.fraction_of_bound())), page.npos) << c.algorithm;
  }
  for (const Skipped& s : reported.planning().skipped) EXPECT_NE(page.find(s.algorithm), page.npos) << s.algorithm;
}

TEST(Page, ComparesWithTheRingInWords) {
  const Reported reported = all_reduce("torus:4x4");
  const PageEntry& e = reported.entry();
  const double factor = static_cast<double>(e.plans[e.find("ring")].result->time.count) /
                        static_cast<double>(e.plans[e.chosen()].result->time.count);
  EXPECT_GT(factor, 1.5);
  EXPECT_NE(reported.page().find(fmt::format("<b>{:.2f} times as fast</b>", factor)), std::string::npos);
}

TEST(Page, FiguresOfTheScriptAreThoseOfTheSimulation) {
  const Reported reported = all_reduce("torus:2x3");
  const nlohmann::json figures = figures_of(reported.page());
  const auto& candidates = reported.planning().candidates;
  ASSERT_EQ(figures.at("plans").size(), candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const nlohmann::json& plan = figures.at("plans").at(i);
    const SimulationResult& simulated = candidates[i].simulated;
    EXPECT_EQ(plan.at("name"), candidates[i].algorithm);
    EXPECT_EQ(plan.at("time_ps"), simulated.time.count);
    EXPECT_EQ(plan.at("link_bytes"), nlohmann::json(simulated.link_bytes));
    const auto unit = plan.at("unit_ps").get<std::int64_t>();
    for (std::size_t row = 0; row < plan.at("rows").size(); ++row) {
      const nlohmann::json& bars = plan.at("bars").at(row);
      std::int64_t held = 0;
      for (std::size_t b = 1; b < bars.size(); b += 4) held += bars.at(b).get<std::int64_t>() * unit;
      const auto link = plan.at("rows").at(row).get<LinkId>();
      EXPECT_NEAR(static_cast<double>(held), static_cast<double>(simulated.link_busy[link].count),
                  static_cast<double>(unit * static_cast<std::int64_t>(bars.size())));
    }
  }
}

TEST(Page, SharesAddUpToTheVector) {
  const Reported reported = all_reduce("torus:4x4");
  const nlohmann::json figures = figures_of(reported.page());
  for (const nlohmann::json& plan : figures.at("plans")) {
    std::int64_t bytes = 0;
    for (const nlohmann::json& share : plan.at("shares")) bytes += share.at("bytes").get<std::int64_t>();
    EXPECT_EQ(bytes, reported.entry().what.bytes().count) << plan.at("name");
    EXPECT_EQ(plan.at("shares_note"), "");
  }
}

TEST(Page, NamesFromFilesNeverBecomeMarkup) {
  TopologyBuilder builder("</title><script>alert(1)</script>");
  const char* names[] = {"</script><script>alert(2)</script>", "\"><img onerror='x'>", "a&b", "\xff<b>\x01"};
  for (const char* name : names) builder.add_vertex(name, VertexKind::kNpu);
  for (VertexId v = 0; v < 4; ++v) builder.add_cable(v, (v + 1) % 4, {1e9}, {1e-6});
  auto topology = std::move(builder).build();
  ASSERT_TRUE(topology) << topology.error().text;
  const std::string page = Reported(std::move(*topology), CollectiveKind::kAllReduce, 4096).page();
  EXPECT_EQ(count_of(page, "<script"), 2U);  // figures and program
  EXPECT_EQ(count_of(page, "<img"), 0U);
  EXPECT_NE(page.find("a&amp;b"), page.npos);
  EXPECT_EQ(figures_of(page).at("vertices").at(0), names[0]);
  pugi::xml_document document;
  const std::string markup = markup_of(page);
  EXPECT_TRUE(document.load_string(markup.c_str(), pugi::parse_full & ~pugi::parse_doctype));
}

TEST(Page, EscapesEveryByte) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(escape_html("\xC3\xA9\xE2\x86\x92\xF0\x9F\x8E\xB5"), "\xC3\xA9\xE2\x86\x92\xF0\x9F\x8E\xB5");
  const std::string lost = "\xEF\xBF\xBD";
  EXPECT_EQ(escape_html(std::string_view("\0\x1f\x7f", 3)), lost + lost + lost);
  EXPECT_EQ(escape_html("\xC0\xAF"), lost + lost);             // overlong
  EXPECT_EQ(escape_html("\xED\xA0\x80"), lost + lost + lost);  // a surrogate
  EXPECT_EQ(escape_html("\xE2\x86"), lost + lost);             // cut
  EXPECT_EQ(escape_html("\xF4\x90\x80\x80"), lost + lost + lost + lost);
  EXPECT_EQ(embed_json({{"a", "</script>"}}), "{\"a\":\"\\u003c/script>\"}");
}

TEST(Page, DrawsTwoNpusAsGolden) {
  const Reported reported(network("line:2"), CollectiveKind::kAllReduce, 1 << 20);
  const std::string svg = draw_network(reported.entry().topology, *reported.entry().plans[0].result);
  EXPECT_EQ(
      svg.substr(0, svg.find("<g class=\"vertices\">")),
      "<svg class=\"network\" viewBox=\"0 0 212 100\" style=\"--wide:212px;--thin:1.00\" role=\"img\" "
      "aria-label=\"Drawing of the "
      "network; every link is also in the table of links\"><g class=\"links\"><path data-link=\"0\" class=\"load5\" "
      "d=\"M62.9 51.6Q106.0 57.0 148.1 51.7M141.6 56.1L148.1 51.7L140.7 49.1\"><title>0 &#8594; 1: 4.194 MB, held 100 "
      "% "
      "of 262.3 \xC2\xB5s; 16 GB/s, 150 ns</title></path>\n"
      "<path data-link=\"1\" class=\"load5\" d=\"M149.1 48.4Q106.0 43.0 63.9 48.3M70.4 43.9L63.9 48.3L71.3 "
      "50.9\"><title>1 &#8594; 0: 4.194 MB, held 100 % of 262.3 \xC2\xB5s; 16 GB/s, 150 ns</title></path>\n</g>");
}

TEST(Rows, AreJoinedWhereTheyWouldBeTooMany) {
  const Topology topology = network("ring:2");
  const BoundCollective what{{CollectiveKind::kAllReduce, 2, 0}, 1 << 20, DataType::kF32, ReduceOp::kSum};
  const auto planning = plan_collective(topology, what, {.algorithm = "ring"});
  ASSERT_TRUE(planning) << planning.error().text;
  const Plan& plan = planning->candidates[0].plan;
  std::vector<OpId> sends;
  for (OpId id = 0; id < plan.schedule().ops().size(); ++id) {
    if (plan.schedule().op(id).sends() && adds_up(plan.schedule(), id)) sends.push_back(id);
  }
  ASSERT_GE(sends.size(), 2U);
  SimulationResult result = planning->candidates[0].simulated;
  result.links_used = 1;
  result.timeline.clear();
  const std::int64_t bars = static_cast<std::int64_t>(kBarsMax) * 4;
  result.time = {bars * 10};
  for (std::int64_t i = 0; i < bars; ++i) result.timeline.push_back({0, sends[i % 2], {i * 10}, {i * 10 + 10}});
  const Rows rows = choose_rows(plan.schedule(), result);
  ASSERT_EQ(rows.links, std::vector<LinkId>{0});
  ASSERT_EQ(rows.bars[0].size(), kBarsMax);
  EXPECT_EQ(rows.bars[0][0].others, 1U);
  EXPECT_EQ(rows.bars[0].back().end, result.time);
  EXPECT_NE(rows.note.find("take turns"), std::string::npos);
  result.timeline.resize(100);
  EXPECT_EQ(choose_rows(plan.schedule(), result).bars[0].size(), 100U);
}

}  // namespace
}  // namespace hocket
