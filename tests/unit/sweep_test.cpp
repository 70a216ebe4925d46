// Sweeps: files are read strictly, points come in the order of the grid, a run goes on where it was, ranks share the
// work, and a point is exactly what simulate_step() says of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "platform/fields.h"
#include "platform/preset.h"
#include "platform/set_field.h"
#include "report/grid_page.h"
#include "simulator/step_metrics.h"
#include "support/step_world.h"
#include "sweep/run_sweep.h"
#include "sweep/step_case.h"

namespace hocket {
namespace {

const std::string kGood = R"(hocket: sweep
name: "engine"
set: {platform: "ace:4x2x2", endpoint: ace, collective: all_reduce, size: 1MiB}
vary:
  engine.sram: [1MiB, 4MiB]
  engine.machines: [4, 8, 16]
plot: {x: engine.sram}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& words) {
  const auto read = read_sweep(text, "s.yaml");
  ASSERT_FALSE(read) << words;
  EXPECT_NE(read.error().text.find(words), std::string::npos) << read.error().text;
  EXPECT_EQ(exit_code(read.error().code), 2);
}

/// Refused when its points are checked, before any is simulated.
void expect_point_refused(const std::string& text, const std::string& words) {
  const auto sweep = read_sweep(text, "s.yaml");
  ASSERT_TRUE(sweep) << sweep.error().text;
  CaseBuilder builder(*sweep);
  for (std::uint64_t point = 0; point < sweep->points(); ++point) {
    const auto made = builder.make(point);
    if (made) continue;
    EXPECT_NE(made.error().text.find(words), std::string::npos) << made.error().text;
    EXPECT_EQ(exit_code(made.error().code), 2);
    return;
  }
  FAIL() << "accepted: " << words;
}

/// A folder of its own for each test.
class SweepRuns : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "sweep_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/results.jsonl"; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  [[nodiscard]] SweepOutcome run(unsigned threads) const {
    const auto outcome = run_sweep(sweep_, {.results = path(), .threads = threads});
    EXPECT_TRUE(outcome) << outcome.error().text;
    return outcome ? *outcome : SweepOutcome{};
  }

  Sweep sweep_ = read_sweep(kGood, "s.yaml").value();
  std::string folder_;
};

TEST(Sweeps, EveryCombinationTheLastKeyFastest) {
  const Sweep sweep = read_sweep(kGood, "s.yaml").value();
  ASSERT_EQ(sweep.points(), 6U);
  std::string order;
  for (std::uint64_t i = 0; i < sweep.points(); ++i) order += sweep.at(i)[0].value + "x" + sweep.at(i)[1].value + " ";
  EXPECT_EQ(order, "1MiBx4 1MiBx8 1MiBx16 4MiBx4 4MiBx8 4MiBx16 ");
}

TEST(Sweeps, KeysOfOneEntryMoveTogether) {
  const std::string text = "hocket: sweep\nset: {platform: ace}\nvary:\n  - {a: [1, 2], b: [3, 4]}\n  - {c: [5, 6]}\n";
  const Sweep sweep = read_sweep(text, "s.yaml").value();
  ASSERT_EQ(sweep.points(), 4U);
  EXPECT_EQ(sweep.at(2)[0].value + sweep.at(2)[1].value + sweep.at(2)[2].value, "245");
}

TEST(Sweeps, FilesAreReadStrictly) {
  expect_refused(with("vary:", "varry:"), "s.yaml:4:1: unknown key 'varry', did you mean 'vary'?");
  expect_refused(with("hocket: sweep", "hocket: platform"), "'hocket: platform' where 'hocket: sweep'");
  expect_refused(with("size: 1MiB", "size: 1MiB, engine.sram: 2MiB"), "s.yaml:5:3: key 'engine.sram' stands twice");
  expect_refused(with("[4, 8, 16]", "[]"), "s.yaml:6:20: engine.machines: not a list of one value or more");
  expect_refused(with("[4, 8, 16]", "[4, [8]]"), "s.yaml:6:24: engine.machines: not a word or a number");
  expect_refused(with("x: engine.sram", "x: engine.srams"), "x 'engine.srams' does not vary, did you mean");
  expect_refused("hocket: sweep\nset: {}\n", "key 'vary' is missing");
  expect_refused("hocket: sweep\nvary: {}\n", "'vary' is empty");
  expect_refused("hocket: sweep\nvary: [{a: [1, 2], b: [1]}]\n", "b has 1 values, a beside it has 2");
  std::string many = "[0";
  for (int i = 1; i < 400; ++i) many += fmt::format(", {}", i);
  expect_refused("hocket: sweep\nvary: {a: " + many + "], b: " + many + "]}\n", "more than 100000 points");
}

TEST(Sweeps, PointsAreCheckedWithPlaceKeyAndValue) {
  expect_point_refused(with("4MiB]", "4MB/s]"), "s.yaml:5:23: engine.sram: '4MB/s' is not a size");
  expect_point_refused(with("engine.machines:", "engine.machine:"),
                       "s.yaml:6:20: unknown key 'engine.machine' (value '4'), did you mean 'engine.machines'?");
  expect_point_refused(with("size: 1MiB", "size: 1MiB, engine.srams: 1MiB"),
                       "unknown key 'engine.srams' (value '1MiB'), did you mean 'engine.sram'?");
  expect_point_refused(with("4MiB]", "64KiB]"), "less than two chunks");
  expect_point_refused(with("endpoint: ace", "endpoint: acee"), "s.yaml:3:40: endpoint: platform 'ace:4x2x2' has no");
  expect_point_refused(with("all_reduce, size: 1MiB", "all_reduce"), "neither 'set' nor 'vary' has 'size'");
  expect_point_refused(with("collective: all_reduce", "collective: reduce_al"), "collective: ");
  expect_point_refused(with("size: 1MiB", "size: 1MiB, workload: resnet50"), "only one of them");
  expect_point_refused(with("size: 1MiB", "size: 1MiB, batch: 4"), "only one of them");
  expect_point_refused(with("size: 1MiB", "size: 1MiB, steps: 0"), "'0' is not a whole number above 0");
  expect_point_refused(with("size: 1MiB", "size: 1MiB, algorithm: rings"), "algorithm: unknown algorithm 'rings'");
  expect_point_refused(with("\"ace:4x2x2\"", "\"ace:4x\""), "s.yaml:3:17: platform: ");
  expect_point_refused(with("size: 1MiB", "size: 1MiB, network.links.1.bandwidth: 0GB/s"), "must be above zero");
}

TEST(Sweeps, APointIsWhatTheSimulatorSays) {
  const Sweep sweep = read_sweep(kGood, "s.yaml").value();
  CaseBuilder builder(sweep);
  const StepResult point = builder.make(5).value().simulate().value();
  const test::StepWorld world("ace:4x2x2");
  EXPECT_EQ(point.time, world.run(test::workload_of({test::all_reduce_node(1 << 20)}), "ace").time);
}

TEST(Sweeps, ModelsAreSpreadOverTheRanks) {
  const auto sweep = read_sweep(R"(hocket: sweep
set: {platform: "h100:4", workload: bert, batch: 4, sequence: 64, sp: true}
vary: {tp: [1, 2, 4], fsdp: [false, true]}
)",
                                "s.yaml");
  ASSERT_TRUE(sweep) << sweep.error().text;
  CaseBuilder builder(*sweep);
  std::set<std::string> keys;
  for (std::uint64_t point = 0; point < sweep->points(); ++point) {
    const auto made = builder.make(point);
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_TRUE(keys.insert(made->key().value()).second) << point;
    EXPECT_EQ(made->spread->plan.tensor, 1U << point / 2);
    const StepResult result = made->simulate().value();
    EXPECT_GT(result.time.count, 0);
    EXPECT_GT(result.memory.total(), 0);
    EXPECT_EQ(result.memory.total(),
              parallel_memory(made->spread->model, made->spread->request, made->spread->plan).total());
  }
  const std::string head = "hocket: sweep\nset: {platform: \"h100:4\", ";
  expect_point_refused(head + "workload: bert}\nvary: {tp: [1, 3]}\n", "s.yaml:3:16: tp: tp 3 x pp 1 = 3 ranks");
  expect_point_refused(head + "workload: resnet50}\nvary: {pp: [1, 2]}\n", "s.yaml:3:16: pp: pp 2: 'resnet50' has no");
  expect_point_refused(head + "workload: bert}\nvary: {fsdp: [yes]}\n", "fsdp: 'yes' is neither true nor false");
  expect_point_refused(head + "workload: dlrm}\nvary: {fsdp: [true]}\n", "'dlrm' is not made of layers alone");
  expect_point_refused(head + "collective: all_reduce, size: 1MiB}\nvary: {tp: [1]}\n", "only one of them");
}

TEST(Sweeps, KeysNameTheQuestionAndNotItsWords) {
  const Sweep sweep = read_sweep(with("[1MiB, 4MiB]", "[1MiB, 1024KiB]"), "s.yaml").value();
  CaseBuilder builder(sweep);
  EXPECT_EQ(builder.make(0).value().key().value(), builder.make(3).value().key().value());
  EXPECT_NE(builder.make(0).value().key().value(), builder.make(1).value().key().value());
}

TEST_F(SweepRuns, TheSameBytesHoweverManyThreads) {
  const SweepOutcome one = run(1);
  const std::string written = content();
  std::filesystem::remove(path());
  const SweepOutcome three = run(3);
  EXPECT_EQ(content(), written);
  ASSERT_EQ(three.rows.size(), one.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i)
    EXPECT_EQ(one.rows[i].outcome.figures, three.rows[i].outcome.figures);
}

TEST_F(SweepRuns, GoesOnWhereItWasAfterACutLine) {
  const SweepOutcome whole = run(2);
  EXPECT_EQ(whole.reused, 0U);
  const std::string written = content();
  std::size_t third = 0;
  for (int i = 0; i < 3; ++i) third = written.find('\n', third) + 1;
  put(written.substr(0, third + 40));
  const SweepOutcome rest = run(2);
  EXPECT_EQ(rest.reused, 3U);
  EXPECT_EQ(content(), written);
  EXPECT_EQ(run(1).reused, 6U);
}

TEST_F(SweepRuns, ForeignLinesAreRefusedByPlace) {
  (void)run(1);
  const std::string written = content();
  put(written.substr(0, written.find('\n') + 1) + "hello\n");
  const auto outcome = run_sweep(sweep_, {.results = path()});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().text.find("results.jsonl:2: "), std::string::npos) << outcome.error().text;
}

TEST_F(SweepRuns, EditedFiguresAreNeverBelieved) {
  (void)run(1);
  const std::string written = content();
  for (const std::string figure : {"\"step_time_s\":", "\"time_s\":"}) {
    std::string edited = written;
    const std::size_t begin = edited.find(figure) + figure.size();
    edited.replace(begin, edited.find(',', begin) - begin, "-1");
    put(edited);
    const auto outcome = run_sweep(sweep_, {.results = path()});
    ASSERT_FALSE(outcome) << figure;
    EXPECT_NE(outcome.error().text.find("results.jsonl:1: its check value is "), std::string::npos)
        << outcome.error().text;
  }
  put("{\"key\":\"a\",\"error\":\"x\"}\n");
  EXPECT_FALSE(run_sweep(sweep_, {.results = path()}));
}

TEST_F(SweepRuns, RanksShareThePointsAndRankZeroGathers) {
  (void)run(1);
  const std::string written = content();
  std::filesystem::remove(path());
  Result<SweepOutcome> second = SweepOutcome{};
  std::jthread other([&] { second = run_sweep(sweep_, {.results = path(), .rank = 1, .ranks = 2}); });
  const auto first = run_sweep(sweep_, {.results = path(), .rank = 0, .ranks = 2});
  other.join();
  ASSERT_TRUE(first) << first.error().text;
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_EQ(first->rows.size(), 6U);
  EXPECT_TRUE(second->rows.empty());
  EXPECT_EQ(content(), written);
  EXPECT_FALSE(std::filesystem::exists(path() + ".rank1"));
}

TEST_F(SweepRuns, ARankThatDeliversNothingIsNamed) {
  const auto outcome =
      run_sweep(sweep_, {.results = path(), .rank = 0, .ranks = 3, .patience = std::chrono::milliseconds(1)});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kTimeout);
  EXPECT_NE(outcome.error().text.find("4 points missing"), std::string::npos) << outcome.error().text;
  EXPECT_NE(outcome.error().text.find("ranks 1, 2 have them"), std::string::npos) << outcome.error().text;
}

TEST_F(SweepRuns, APointThatCannotBeSimulatedIsARowWithItsError) {
  const Sweep mixed =
      read_sweep("hocket: sweep\nset: {platform: \"ace:4x2x2\", workload: vgg16}\nvary: {precision: [f16, f64]}\n",
                 "s.yaml")
          .value();
  const auto outcome = run_sweep(mixed, {.results = path()});
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_EQ(outcome->refused, 1U);
  EXPECT_FALSE(outcome->rows[0].outcome.figures.empty());
  EXPECT_NE(outcome->rows[1].outcome.error.find("has no rate for it"), std::string::npos);
}

TEST(SetField, TakesEveryFigureOfEveryPreset) {
  for (const PlatformPreset* preset : platform_presets()) {
    Platform platform = platform_from_words(preset->example).value();
    for (const NamedFigure& f : figures_of(platform)) {
      const std::string text = format_figure(f.unit, 2 * f.figure.value);
      const auto set = set_field(platform, f.name, text);
      EXPECT_TRUE(set) << f.name << ": " << set.error().text;
    }
    const std::vector<NamedFigure> doubled = figures_of(platform);
    const std::vector<NamedFigure> before = figures_of(platform_from_words(preset->example).value());
    ASSERT_EQ(doubled.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_NEAR(doubled[i].figure.value / before[i].figure.value, 2, 1e-9) << before[i].name;
      EXPECT_FALSE(doubled[i].figure.sourced());
    }
  }
}

TEST(SetField, WordsOfEnginesAndRefusals) {
  Platform p = platform_from_words("ace:4x2x2").value();
  ASSERT_TRUE(set_field(p, "engines.ace.order", "fifo"));
  EXPECT_EQ(p.engines[0].order, CollectiveOrder::kFifo);
  ASSERT_TRUE(set_field(p, "engines.ace.overlaps", "false"));
  EXPECT_FALSE(p.engines[0].overlaps);
  EXPECT_NE(set_field(p, "engines.ace.order", "life").error().text.find("did you mean 'lifo'"), std::string::npos);
  EXPECT_NE(set_field(p, "engines.ace.overlaps", "yes").error().text.find("'yes' is neither"), std::string::npos);
  EXPECT_EQ(set_field(p, "endpoint.memory", "1GB").error().code, Code::kUnsupported);
}

TEST(GridPage, DrawsEveryLineAndNothingThatFetches) {
  PageGrid grid{"<b>t</b>", "", {"k", "l"}, {"step_time_s"}, {}, 0, {1}, 0};
  for (const std::string k : {"1", "2"}) {
    for (const std::string l : {"a", "b"}) grid.rows.push_back({{k, l}, {k == "1" ? 1e-3 : 2e-3}, "", ""});
  }
  EXPECT_EQ(make_grid_page(grid).find("fits memory"), std::string::npos);
  grid.rows[0].fits = "no";
  EXPECT_NE(make_grid_page(grid).find("<td>no</td>"), std::string::npos);
  grid.rows.push_back({{"3", "a"}, {}, "too <small>", ""});
  const std::string page = make_grid_page(grid);
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<circle"), 4U);
  EXPECT_EQ(count("<title>"), 5U);  // of the page and of the marks
  EXPECT_EQ(count("<b>"), 0U);
  EXPECT_EQ(count("too &lt;small&gt;"), 1U);
  EXPECT_EQ(count("://"), 0U);
}

TEST(GridPage, TicksAreRound) {
  EXPECT_DOUBLE_EQ(round_step(0.0013), 0.002);
  EXPECT_DOUBLE_EQ(round_step(21), 25);
  EXPECT_DOUBLE_EQ(round_step(60e9), 100e9);
  EXPECT_DOUBLE_EQ(round_step(5), 5);
  EXPECT_EQ(round_step(0), 1);
}

}  // namespace
}  // namespace hocket
