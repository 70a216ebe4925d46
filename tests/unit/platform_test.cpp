// Platforms: figures parse and print exactly, presets carry sources, files come back the same, and every kind of
// mistake in a file is named with its place and both values.
#include <gtest/gtest.h>

#include <algorithm>

#include "exchange/platform_yaml.h"
#include "platform/fields.h"
#include "platform/preset.h"

namespace hocket {
namespace {

const std::string kGood = R"(hocket: platform
name: mine
network:
  topology: "ring:4"
  links:
    - {bandwidth: 25GB/s, latency: 500ns}
endpoint:
  compute_units: 80
  rates: {f16: 120TFLOPS}
  memory_bandwidth: {value: 900GB/s, source: "data sheet"}
engines:
  - name: ace
    kind: ace
    memory_bandwidth: 128GB/s
    chunk: 64KiB
    message: 8KiB
    sram: 4MiB
    machines: 16
  - {name: sms, kind: compute-units, units: 6, split: static, memory_bandwidth: 450GB/s, order: lifo}
power: {limit: 300W, per_flop: 0.44pJ/FLOP}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& words) {
  const auto read = read_platform(text, "p.yaml");
  ASSERT_FALSE(read) << words;
  EXPECT_NE(read.error().text.find(words), std::string::npos) << read.error().text;
  EXPECT_EQ(exit_code(read.error().code), 2);
  EXPECT_TRUE(read.error().text.starts_with("p.yaml")) << read.error().text;
}

TEST(Figures, ParseAndPrintExactly) {
  const std::vector<std::pair<FigureUnit, std::string>> texts{
      {FigureUnit::kCount, "80"},          {FigureUnit::kBytes, "4MiB"},
      {FigureUnit::kBandwidth, "900GB/s"}, {FigureUnit::kTime, "402ns"},
      {FigureUnit::kClock, "1245MHz"},     {FigureUnit::kRate, "120TFLOPS"},
      {FigureUnit::kRate, "15.7TFLOPS"},   {FigureUnit::kPower, "700W"},
      {FigureUnit::kPower, "7.552mW"},     {FigureUnit::kPerFlop, "0.44pJ/FLOP"},
      {FigureUnit::kPerByte, "93pJ/B"}};
  for (const auto& [unit, text] : texts) {
    const auto value = parse_figure(unit, text);
    ASSERT_TRUE(value) << value.error().text;
    const std::string printed = format_figure(unit, *value);
    EXPECT_EQ(parse_figure(unit, printed).value(), *value) << text << " printed as " << printed;
  }
  EXPECT_EQ(format_figure(FigureUnit::kClock, 1245e6), "1245MHz");
  EXPECT_EQ(format_figure(FigureUnit::kRate, 312e12), "312TFLOPS");
  EXPECT_EQ(parse_figure(FigureUnit::kPerByte, "93pJ/B").value(), 93e-12);
}

TEST(Figures, RefuseWhatIsNone) {
  for (const std::string_view text : {"", "0", "-1", "1.5", "nan", "80x", "99999999999"}) {
    EXPECT_FALSE(parse_figure(FigureUnit::kCount, text)) << text;
  }
  for (const std::string_view text : {"120", "-1TFLOPS", "0TFLOPS", "infTFLOPS", "1e30TFLOPS", "120GB/s", "TFLOPS"}) {
    EXPECT_FALSE(parse_figure(FigureUnit::kRate, text)) << text;
  }
  EXPECT_FALSE(parse_figure(FigureUnit::kBytes, "0"));
  EXPECT_FALSE(parse_figure(FigureUnit::kBandwidth, "0GB/s"));
}

TEST(Presets, BuildAndCarryTheirSources) {
  ASSERT_GE(platform_presets().size(), 7U);
  for (const PlatformPreset* preset : platform_presets()) {
    const auto platform = platform_from_words(preset->example);
    ASSERT_TRUE(platform) << platform.error().text;
    ASSERT_TRUE(platform->build_topology()) << preset->name;
    const auto figures = figures_of(*platform);
    const auto bare = std::count_if(figures.begin(), figures.end(), [](const auto& f) { return !f.figure.sourced(); });
    EXPECT_LE(5 * bare, static_cast<std::ptrdiff_t>(figures.size())) << preset->name;
    EXPECT_TRUE(platform->engine("ideal")) << preset->name;
  }
}

TEST(Presets, WrittenAndReadAgainAreTheSame) {
  for (const PlatformPreset* preset : platform_presets()) {
    const Platform platform = platform_from_words(preset->example).value();
    const std::string text = write_platform(platform).value();
    const auto again = read_platform(text, "again");
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(write_platform(*again).value(), text);
    const auto a = figures_of(platform);
    const auto b = figures_of(*again);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].name, b[i].name);
      EXPECT_EQ(a[i].figure, b[i].figure) << a[i].name;
    }
    EXPECT_EQ(platform.build_topology()->fingerprint(), again->build_topology()->fingerprint());
  }
}

TEST(Presets, RefuseWhatTheyAreNot) {
  EXPECT_NE(platform_from_words("acee:4x4x4").error().text.find("did you mean 'ace'?"), std::string::npos);
  EXPECT_FALSE(platform_from_words("v100:0"));
  EXPECT_FALSE(platform_from_words("h100:8x8"));
  const auto zero = platform_from_words("ace:4x0x4");
  EXPECT_FALSE(zero && zero->build_topology());
}

// 400, 50 and 50 GB/s of links leave every npu of the target; a dimension of 2 has two cables.
TEST(Presets, AceHasTheLinksOfItsPaper) {
  for (const char* words : {"ace:4x2x2", "ace:4x4x4"}) {
    const Topology t = platform_from_words(words)->build_topology().value();
    for (const VertexId v : t.ranks()) {
      double fast = 0;
      double slow = 0;
      for (const LinkId link : t.outgoing(v)) {
        (t.link(link).bandwidth.value > 100e9 ? fast : slow) += t.link(link).bandwidth.value;
      }
      EXPECT_EQ(fast, 400e9);
      EXPECT_EQ(slow, 100e9);
    }
  }
}

TEST(PlatformFile, ReadsFiguresWithAndWithoutSources) {
  const auto p = read_platform(kGood, "p.yaml");
  ASSERT_TRUE(p) << p.error().text;
  EXPECT_EQ(p->endpoint.memory_bandwidth->value, 900e9);
  EXPECT_EQ(p->endpoint.memory_bandwidth->source, "data sheet");
  EXPECT_FALSE(p->endpoint.compute_units->sourced());
  EXPECT_FALSE(p->endpoint.memory_capacity);
  ASSERT_EQ(p->engines.size(), 2U);
  EXPECT_EQ(p->engines[1].split, BudgetSplit::kStatic);
  EXPECT_EQ(p->engines[1].order, CollectiveOrder::kLifo);
  EXPECT_EQ(*p->engine("sms").value()->units, (Figure{6, ""}));
  EXPECT_NE(p->engine("acee").error().text.find("did you mean 'ace'?"), std::string::npos);
}

TEST(PlatformFile, NamesEveryMistake) {
  expect_refused(with("memory_bandwidth: {value: 900GB/s", "memory_bandwith: {value: 900GB/s"),
                 "p.yaml:10:3: unknown key 'memory_bandwith', did you mean 'memory_bandwidth'?");
  expect_refused(with("900GB/s", "900"), "p.yaml:10:29: memory_bandwidth: '900' is not a bandwidth");
  expect_refused(with("900GB/s", "-900GB/s"), "must be finite and not negative");
  expect_refused(with("900GB/s", "0GB/s"), "must be above zero");
  expect_refused(with("120TFLOPS", "infTFLOPS"), "'infTFLOPS' is not a rate");
  expect_refused(with("compute_units: 80", "compute_units: 0"), "'0' is not a whole number above 0");
  expect_refused(with("  compute_units: 80\n", ""), "key 'compute_units' is missing");
  expect_refused(with("rates: {f16", "rates: {fp17"), "unknown key 'fp17'");
  expect_refused(with("kind: ace", "kind: acme"), "kind 'acme' is none of compute-units, dma, ace, ideal");
  expect_refused(with("    sram: 4MiB\n", ""), "engine 'ace' of kind ace lacks 'sram'");
  expect_refused(with("kind: ace", "kind: dma"), "engine 'ace' of kind dma has 'sram' 4MiB: only kind ace reads it");
  expect_refused(with("units: 6,", "units: 6, machines: 4,"), "engine 'sms' of kind compute-units has 'machines' 4");
  expect_refused(with("name: sms", "name: all"), "an engine is called 'all': 'all' means every engine");
  expect_refused(with("name: sms", "name: \"\""), "an engine is called ''");
  expect_refused(with("limit: 300W", "idle: 301W, limit: 300W"), "power: idle 301W is above the limit 300W");
  expect_refused(with("units: 6", "units: 81"), "takes 81 compute units, the endpoint has 80");
  expect_refused(with("450GB/s", "901GB/s"), "takes 901 GB/s of memory bandwidth, the endpoint has 900 GB/s");
  expect_refused(with("message: 8KiB", "message: 128KiB"), "messages of 131072 B in chunks of 65536 B");
  expect_refused(with("name: sms", "name: ace"), "two engines are called 'ace'");
  expect_refused(with("ring:4", "ringg:4"), "unknown");
  expect_refused(with("name: mine", "name: mine\nname: mine"), "key 'name' stands twice");
  expect_refused(with("    chunk: 64KiB\n", "    chunk: 64KiB\n    chunk: 64KiB\n"), "key 'chunk' stands twice");
  expect_refused(with("hocket: platform", "hocket: platforms"), "'hocket: platforms'");
  expect_refused(with("limit: 300W", "limit: 300"), "'300' is not a power");
  expect_refused("", "p.yaml");
  expect_refused("hocket: platform\n", "key 'network' is missing");
}

}  // namespace
}  // namespace hocket
