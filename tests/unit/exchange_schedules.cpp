// Schedule files: what is written reads back and is proved again; damaged foreign files are refused with the place.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "exchange/schedule_format.h"
#include "planner/planner.h"
#include "support/format_named.h"
#include "topology/spec.h"

namespace hocket {
namespace {

/// An all-to-all of three gpus in the form MSCCL's tools write: one thread block per message end.
std::string exchange_of_three() {
  std::string text =
      "<algo name=\"three\" nchannels=\"1\" nchunksperloop=\"3\" ngpus=\"3\" coll=\"alltoall\" inplace=\"0\" "
      "outofplace=\"1\">\n";
  const auto step = [](std::string_view type, int source, int target) {
    return fmt::format(
        "<step s=\"0\" type=\"{}\" srcbuf=\"i\" srcoff=\"{}\" dstbuf=\"o\" dstoff=\"{}\" cnt=\"1\" depid=\"-1\" "
        "deps=\"-1\" hasdep=\"0\"/>",
        type, source, target);
  };
  for (int g = 0; g < 3; ++g) {
    text += fmt::format(
        "<gpu id=\"{}\" i_chunks=\"3\" o_chunks=\"3\" s_chunks=\"0\">\n<tb id=\"0\" send=\"-1\" recv=\"-1\" "
        "chan=\"0\">{}</tb>\n",
        g, step("cpy", g, g));
    int tb = 1;
    for (int p = 0; p < 3; ++p) {
      if (p != g)
        text += fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"-1\" chan=\"0\">{}</tb>\n", tb++, p, step("s", p, g));
    }
    for (int p = 0; p < 3; ++p) {
      if (p != g)
        text += fmt::format("<tb id=\"{}\" send=\"-1\" recv=\"{}\" chan=\"0\">{}</tb>\n", tb++, p, step("r", g, p));
    }
    text += "</gpu>\n";
  }
  return text + "</algo>\n";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The one line a user would read: the reader's error, or the verifier's first finding.
std::string complaint(const std::string& text, Code& code) {
  Result<Schedule> schedule = format_named("msccl-xml").read(text, "three.xml");
  if (schedule) {
    Result<VerifiedSchedule> verified = prove(std::move(*schedule));
    if (verified) return "";
    code = verified.error().code;
    return verified.error().text;
  }
  code = schedule.error().code;
  return schedule.error().text;
}

TEST(MscclXml, ForeignExchangeIsProved) {
  Code code{};
  EXPECT_EQ(complaint(exchange_of_three(), code), "");
}

TEST(MscclXml, ChunksBeyondThoseOfTheirBufferAreRefused) {
  Code code{};
  const std::string said =
      complaint(replaced(exchange_of_three(), "i_chunks=\"3\" o_chunks=\"3\"", "i_chunks=\"2\" o_chunks=\"3\""), code);
  EXPECT_NE(said.find("chunks 2 to 2 of the input, of which gpu 0 has 2"), std::string::npos) << said;
  EXPECT_EQ(code, Code::kMalformed);
}

TEST(MscclXml, AByteOrderMarkDoesNotMatter) {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("bom_{}.xml", ::getpid())).string();
  std::ofstream(path) << "\xEF\xBB\xBF" << exchange_of_three();
  LossReport losses;
  EXPECT_TRUE(load_schedule(path, &losses));
  std::filesystem::remove(path);
  EXPECT_FALSE(losses.entries().empty());
}

TEST(MscclXml, MissingSendNamesTheReceiver) {
  // Gpu 2, thread block 1: its send to gpu 0.
  const std::string step =
      "<tb id=\"1\" send=\"0\" recv=\"-1\" chan=\"0\"><step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
      "dstoff=\"2\"";
  std::string text = exchange_of_three();
  const std::size_t begin =
      text.find(step) + std::string_view("<tb id=\"1\" send=\"0\" recv=\"-1\" chan=\"0\">").size();
  ASSERT_LT(begin, text.size());
  text.erase(begin, text.find("/>", begin) + 2 - begin);
  Code code{};
  const std::string line = complaint(text, code);
  EXPECT_EQ(code, Code::kDisproved);
  EXPECT_NE(line.find("rank 0 never gets this data, rank 2"), std::string::npos) << line;
  EXPECT_NE(line.find("(gpu 0 tb 4 step 0)"), std::string::npos) << line;
}

TEST(MscclXml, WrongLandingPlaceNamesBothEnds) {
  Code code{};
  const std::string line =
      complaint(replaced(exchange_of_three(), "type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"2\"",
                         "type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"1\""),
                code);
  EXPECT_EQ(code, Code::kDisproved);
  EXPECT_NE(line.find("gpu 2 tb 1 step 0 sends to output[1] of gpu 0, but gpu 0 tb 4 step 0 writes output[2]"),
            std::string::npos)
      << line;
}

TEST(MscclXml, SharedConnectionIsRefused) {
  Code code{};
  const std::string line =
      complaint(replaced(exchange_of_three(), "<tb id=\"2\" send=\"2\"", "<tb id=\"2\" send=\"1\""), code);
  EXPECT_EQ(code, Code::kDisproved);
  EXPECT_NE(line.find("gpu 0 tb 1 and tb 2 share a connection"), std::string::npos) << line;
}

TEST(MscclXml, MalformedFilesHaveLineAndColumn) {
  Code code{};
  for (const auto& [from, to] : {std::pair{"cnt=\"1\"", "cnt=\"x\""}, std::pair{"ngpus=\"3\"", "ngpus=\"4\""},
                                 std::pair{"type=\"cpy\"", "type=\"zip\""}, std::pair{"</algo>", ""}}) {
    const std::string line = complaint(replaced(exchange_of_three(), from, to), code);
    EXPECT_EQ(code, Code::kMalformed) << line;
    EXPECT_TRUE(line.starts_with("three.xml:")) << line;
  }
}

TEST(ScheduleFiles, EveryAlgorithmReadsBackProved) {
  const Result<Topology> torus = topology_from_spec("torus:3x3", {});
  ASSERT_TRUE(torus);
  for (const Algorithm* algorithm : algorithms()) {
    for (int k = 0; k < kCollectiveKinds; ++k) {
      const Collective collective{static_cast<CollectiveKind>(k), 9, 0};
      if (!algorithm->supports({*torus, collective}).empty()) continue;
      SCOPED_TRACE(fmt::format("{} {}", algorithm->name, name_of(collective.kind)));
      const Result<VerifiedSchedule> verified = plan_algorithm(*algorithm, {*torus, collective});
      ASSERT_TRUE(verified);
      for (const ScheduleFormat* format : schedule_formats()) {
        const Result<std::string> written = format->write(verified->schedule());
        if (!written && written.error().code == Code::kUnsupported) continue;  // the format's limits
        ASSERT_TRUE(written) << written.error().text;
        if (format->read == nullptr) continue;
        Result<Schedule> again = format->read(*written, "again");
        ASSERT_TRUE(again) << again.error().text;
        const bool own = format->name == "hkt" || format->name == "json";  // the others hold less
        EXPECT_TRUE(!own || again->fingerprint() == verified->schedule().fingerprint());
        EXPECT_TRUE(prove(std::move(*again))) << format->name;
      }
    }
  }
}

TEST(ScheduleFiles, EveryCutOfAnHktFileIsRefused) {
  const Result<Topology> ring = topology_from_spec("ring:3", {});
  const auto verified = plan_algorithm(**find_algorithm("ring"), {*ring, {CollectiveKind::kAllReduce, 3, 0}});
  ASSERT_TRUE(verified);
  const ScheduleFormat& hkt = format_named("hkt");
  const std::string bytes = *hkt.write(verified->schedule());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(hkt.read(std::string_view(bytes).substr(0, length), "cut"));
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    EXPECT_FALSE(hkt.read(damaged, "damaged"));
  }
}

std::string json_of_small_ring() {
  const Result<Topology> ring = topology_from_spec("ring:3", {});
  const auto verified = plan_algorithm(**find_algorithm("ring"), {*ring, {CollectiveKind::kAllReduce, 3, 0}});
  return *format_named("json").write(verified->schedule());
}

TEST(ScheduleFiles, EveryCutOfAJsonViewIsRefused) {
  const ScheduleFormat& json = format_named("json");
  const std::string text = json_of_small_ring();
  const std::size_t whole = text.find_last_of('}') + 1;
  for (std::size_t length = 0; length < whole; ++length)
    EXPECT_FALSE(json.read(std::string_view(text).substr(0, length), "cut"));
}

TEST(ScheduleFiles, JsonMistakesAreNamed) {
  const ScheduleFormat& json = format_named("json");
  const std::string text = json_of_small_ring();
  struct Mistake {
    std::string from, to, complaint;
  };
  for (const Mistake& m :
       {Mistake{"\"op\":\"send\"", "\"op\":\"sent\"", "rank 0 op 0: unknown op 'sent'"},
        Mistake{"\"source\":\"input 0\"", "\"source\":\"input -1\"", "'source' is 'input -1', expected input, output"},
        Mistake{"\"peer\"", "\"pier\"", "unknown member 'pier'"},
        Mistake{"\"ranks\": 3", "\"ranks\": 4", "'ranks' is 4 but there are 3 programs"},
        Mistake{"\"hocket_schedule\": 1", "\"hocket_schedule\": 9", "version 9, this program reads 1"},
        Mistake{"\"algorithm\"", "\"algorithm\" 5", "line 3, column 13"}}) {
    const Result<Schedule> read = json.read(replaced(text, m.from, m.to), "ring.json");
    ASSERT_FALSE(read) << m.to;
    EXPECT_TRUE(read.error().text.starts_with("ring.json: ")) << read.error().text;
    EXPECT_NE(read.error().text.find(m.complaint), std::string::npos) << read.error().text;
  }
}

}  // namespace
}  // namespace hocket
