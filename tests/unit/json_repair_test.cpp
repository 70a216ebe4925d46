// repair_json(): every kind of break that traces come with, and a trace cut at every byte.
#include "exchange/json_repair.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exchange/doctor.h"

namespace hocket {
namespace {

constexpr std::string_view kHead = R"({"schemaVersion":1,"traceEvents":[)";
constexpr std::string_view kTail = R"(],"distributedInfo":{"rank":3}})";

std::string event(int number) {
  return fmt::format(R"({{"ph":"X","name":"a\u00e9 [{}","ts":{}.5,"args":{{"dims":[[1,2],[{}]],"p":null}}}})", number,
                     number, number);
}

std::string trace(int events) {
  std::string text(kHead);
  for (int i = 0; i < events; ++i) text += (i == 0 ? "" : ",\n") + event(i);
  return text + std::string(kTail);
}

struct Case {
  std::string_view broken;
  std::string_view mended;
  std::size_t repairs;
};

TEST(JsonRepair, MendsEachKindOfBreak) {
  const Case cases[] = {
      {R"({"a": , "b":1})", R"({"a": null, "b":1})", 1},
      {R"({"a":})", R"({"a":null})", 1},
      {R"([1,,2])", R"([1,null,2])", 1},
      {R"([1,2,])", R"([1,2 ])", 1},
      {R"({"a":1,})", R"({"a":1 })", 1},
      {"[\"x\x01y\tz\"]", R"(["x\u0001y\u0009z"])", 2},
      {"[\"x\xff yz12\"]", R"(["x? yz12"])", 1},
      {R"([NaN,-Infinity,1])", R"([null,null,1])", 2},
      {R"([1,2)", R"([1])", 1},  // the 2 may have gone on
      {R"([1,"ab","c)", R"([1,"ab"])", 1},
      {R"([{"a":1},{"b":[2)", R"([{"a":1}])", 1},
      {R"({"a":1,"list":[{"x":1},{"y")", R"({"a":1,"list":[{"x":1}]})", 1},
      {R"({"a":1,"b":{"c":2)", R"({"a":1})", 1},
      {R"([)", R"([])", 1},
  };
  for (const Case& c : cases) {
    const RepairedJson repaired = repair_json(c.broken);
    EXPECT_EQ(repaired.text, c.mended) << c.broken;
    EXPECT_EQ(repaired.count, c.repairs) << c.broken;
    EXPECT_TRUE(nlohmann::json::accept(repaired.text)) << repaired.text;
  }
}

TEST(JsonRepair, LeavesGoodTextAndWhatItCannotMendAlone) {
  for (const std::string_view text :
       {R"({"a":[1,2,{"b":"\"\\é"}],"c":-1.5e3})", "[]", "{}", "1", " [true,false,null]\n", "", "[1 2]", "{]", "[[}",
        "{1:2}", "[1]]", "[a]", "[\"a\" \"b\"]", ":", ",", "[,1]", R"({"a"})"}) {
    const RepairedJson repaired = repair_json(text);
    EXPECT_EQ(repaired.text, text);
    EXPECT_EQ(repaired.count, 0U) << text;
  }
}

TEST(JsonRepair, ATraceCutAtAnyByteKeepsItsWholeEvents) {
  constexpr int kEvents = 20;
  const std::string text = trace(kEvents);
  for (std::size_t cut = kHead.size(); cut < text.size(); ++cut) {
    const RepairedJson repaired = repair_json(text.substr(0, cut));
    ASSERT_EQ(repaired.count, 1U) << cut;
    const auto json = nlohmann::json::parse(repaired.text, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << cut << ": " << repaired.text;
    std::size_t whole = 0, at = kHead.size();
    for (int i = 0; i < kEvents && at + event(i).size() <= cut; ++i, ++whole) at += event(i).size() + 2;
    EXPECT_EQ(json["traceEvents"].size(), whole) << cut;
    for (const auto& kept : json["traceEvents"]) EXPECT_EQ(kept["args"]["dims"].size(), 2U);
  }
}

TEST(JsonRepair, DeepNestingIsLeftAlone) {
  const std::string deep(200, '[');
  EXPECT_EQ(repair_json(deep).count, 0U);
}

TEST(JsonRepair, DoctorCountsRepairsAndKeptEvents) {
  std::string text = trace(20);
  text.replace(text.find("\"p\":null"), 8, "\"p\":    ");
  text.replace(text.find("\"ts\":3.5"), 8, "\"ts\":NaN");
  text.resize(text.find(event(15)) + 20);
  const auto diagnosis = diagnose_bytes(text, "t.json");
  ASSERT_TRUE(diagnosis.has_value()) << diagnosis.error().text;
  EXPECT_EQ(diagnosis->examination.contents[0].substr(0, 10), "15 events,");
  EXPECT_EQ(diagnosis->examination.losses.count(LossKind::kRepaired), 3U);
  EXPECT_EQ(diagnosis->examination.losses.entries()[1].where, fmt::format("byte {}", text.find("NaN")));
  const auto broken = diagnose_bytes("[{\"ph\":\"X\" 1}]", "t.json");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().text.substr(0, 45), "t.json:1:12: JSON breaks at byte 11 of 14: ex");
}

}  // namespace
}  // namespace hocket
