#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>

#include "exchange/chakra.h"
#include "exchange/doctor.h"
#include "exchange/file_text.h"
#include "exchange/load_topology.h"
#include "exchange/schedule_format.h"
#include "support/corpus.h"

namespace hocket {
namespace {

std::string format_of(std::string_view bytes) {
  const auto result = diagnose_bytes(bytes, "f");
  return result.has_value() ? result->format : result.error().text;
}

std::string packed(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

struct Saved {
  const char* path;
  const char* format;
  RoundTrip trip;
};

constexpr Saved kSaved[] = {
    {"topology_csv/plain", "link-csv", RoundTrip::kSame},
    {"topology_xml/islands", "nccl-xml", RoundTrip::kSame},
    {"topology_smi/pairs_sys", "nvidia-smi", RoundTrip::kSame},
    {"topology_astra/three", "astra-yaml", RoundTrip::kSame},
    {"topology_yaml/triangle", "hocket-yaml", RoundTrip::kSame},
    {"topology_hwloc/two_packages", "hwloc-xml", RoundTrip::kSame},
    {"topology_taccl/matrix", "taccl-json", RoundTrip::kSame},
    {"schedule_hkt/ring3.hkt", "hkt", RoundTrip::kSame},
    {"schedule_msccl/ring3.xml", "msccl-xml", RoundTrip::kSame},
    {"kind_chakra/two_nodes.et", "chakra-et", RoundTrip::kSame},
    {"kind_nccl_graph/ring", "nccl-graph-xml", RoundTrip::kSame},
    {"kind_astra_system/two", "astra-system-json", RoundTrip::kSame},
    {"kind_astra_memory/pool", "astra-memory-json", RoundTrip::kSame},
    {"kind_chrome_trace/kineto", "chrome-trace-json", RoundTrip::kNotWritten},
    {"kind_simai_workload/micro", "simai-workload", RoundTrip::kNotWritten},
    {"kind_simai_busbw/rates", "simai-busbw", RoundTrip::kNotWritten},
};

TEST(Doctor, SaysWhatEveryFormatIsAndRoundTripsIt) {
  for (const Saved& saved : kSaved) {
    const std::string bytes = corpus_text(saved.path);
    ASSERT_FALSE(bytes.empty()) << saved.path;
    const auto result = diagnose_bytes(bytes, saved.path);
    ASSERT_TRUE(result.has_value()) << result.error().text;
    EXPECT_EQ(result->format, saved.format);
    EXPECT_EQ(result->examination.round_trip, saved.trip) << saved.path << result->examination.round_trip_text;
    EXPECT_FALSE(result->examination.contents.empty()) << saved.path;
    EXPECT_EQ(result->lacking, "");
  }
}

TEST(Doctor, NoFormatIsTakenForAnother) {
  for (const Saved& saved : kSaved) {
    const std::string bytes = corpus_text(saved.path);
    int recognised = 0;
    for (const TopologyFormat* f : topology_formats())
      recognised += f->recognise != nullptr && f->recognise(bytes) ? 1 : 0;
    for (const ScheduleFormat* f : schedule_formats())
      recognised += f->recognise != nullptr && f->recognise(bytes) ? 1 : 0;
    const bool both = std::string_view(saved.format) == "nccl-graph-xml";  // described, and read where it is whole
    for (const FileKind* f : file_kinds()) recognised += !both && f->recognise(bytes) ? 1 : 0;
    EXPECT_EQ(recognised, 1) << saved.path;
  }
}

TEST(Doctor, DamageIsAMessageAndNeverTwoAnswers) {
  for (const Saved& saved : kSaved) {
    for (const std::string& copy : damaged_copies(corpus_text(saved.path))) {
      const auto result = diagnose_bytes(copy, "f");
      if (result) {
        EXPECT_NE(result->examination.round_trip, RoundTrip::kDiffers) << saved.path << copy;
      } else {
        EXPECT_FALSE(result.error().text.empty());
        EXPECT_EQ(result.error().text.find('\n'), std::string::npos) << result.error().text;
      }
    }
  }
}

TEST(Doctor, TextFormatsReadWithForeignLineEndsAndEncodings) {
  for (const Saved& saved : kSaved) {
    const std::string bytes = corpus_text(saved.path);
    const auto plain = diagnose_bytes(bytes, "f");
    const auto unpacked = decode_text(packed(bytes), "f", kFileBytesMax);
    ASSERT_TRUE(unpacked.has_value()) << unpacked.error().text;
    EXPECT_EQ(unpacked->bytes, bytes);
    EXPECT_EQ(unpacked->losses.count(LossKind::kAssumed), 1U);
    const std::string format = saved.format;
    if (format == "hkt" || format == "chakra-et") continue;
    EXPECT_EQ(format_of(with_crlf(bytes)), saved.format) << saved.path;
    const auto marked = decode_text("\xEF\xBB\xBF" + bytes, "f", kFileBytesMax);
    EXPECT_EQ(marked->bytes, bytes);
    std::string wide = "\xFF\xFE";
    for (const char c : bytes) wide += {c, '\0'};
    const auto narrow = decode_text(wide, "f", kFileBytesMax);
    ASSERT_TRUE(narrow.has_value()) << narrow.error().text;
    EXPECT_EQ(narrow->bytes, bytes);
    EXPECT_FALSE(narrow->losses.refuse_repairs("f").has_value());
  }
}

TEST(Doctor, GzipAndUtf16DamageNamesTheByte) {
  const std::string good = packed(std::string(10'000, 'a'));
  const auto cut = decode_text(good.substr(0, good.size() - 4), "f.gz", kFileBytesMax);
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().text,
            fmt::format("f.gz: gzip stream ends early, at byte {} (10000 bytes unpacked)", good.size() - 4));
  const auto bomb = decode_text(good, "f.gz", 5'000);
  ASSERT_FALSE(bomb.has_value());
  EXPECT_EQ(bomb.error().text, "f.gz: unpacks to more than 5000 bytes");
  std::string broken = good;
  broken[15] = static_cast<char>(broken[15] ^ 0x55);
  EXPECT_FALSE(decode_text(broken, "f.gz", kFileBytesMax).has_value());
  EXPECT_FALSE(decode_text("\xFF\xFE"
                           "a",
                           "f", 100)
                   .has_value());
  EXPECT_EQ(decode_text(std::string("\xFF\xFE\x00\xD8", 4), "f", 100).error().text,
            "f: byte 2: half a UTF-16 surrogate pair");
  EXPECT_EQ(decode_text(std::string("\xFE\xFF\xD8\x3D\xDE\x00", 6), "f", 100)->bytes, "\xF0\x9F\x98\x80");
}

TEST(Doctor, UnknownFilesAreNamedForWhatTheyLookLike) {
  EXPECT_EQ(format_of(""), "f: the file is empty");
  EXPECT_EQ(format_of(" \r\n\t"), "f: the file is empty");
  EXPECT_EQ(format_of("hello"), "f: text of no format known (5 bytes)");
  EXPECT_EQ(format_of("{\"a\": 1}"), "f: JSON of no format known (8 bytes)");
  EXPECT_EQ(format_of("<a/>"), "f: XML with a root element of no format known (4 bytes)");
  EXPECT_EQ(format_of(std::string("\0\1\2\3", 4)), "f: binary of no format known (4 bytes)");
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(format_of(tar), "f: a tar archive: unpack it and give a file of it (512 bytes)");
}

TEST(Doctor, FoldersFifosAndMissingFilesAreRefused) {
  const auto folder = diagnose_file(HOCKET_SOURCE_DIR);
  ASSERT_FALSE(folder.has_value());
  EXPECT_NE(folder.error().text.find("is a folder"), std::string::npos);
  EXPECT_FALSE(diagnose_file("no/such/file").has_value());
  EXPECT_FALSE(diagnose_file("/dev/null").has_value());
  EXPECT_FALSE(read_file_bytes("/dev/zero", 1 << 20).has_value());
  const std::string fifo = std::filesystem::temp_directory_path() / fmt::format("hocket_fifo_{}", getpid());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::FILE* const both = std::fopen(fifo.c_str(), "r+");  // keeps a writer, so that a reader waits for bytes
  std::fputs("from,to,bandwidth,latency\n0,1,1GB/s,1ns\n", both);
  std::fflush(both);
  const auto bytes = read_file_bytes(fifo, 16);  // refused by its size: a FIFO is read, and not past the limit
  std::fclose(both);
  std::filesystem::remove(fifo);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_NE(bytes.error().text.find("larger than 16 bytes"), std::string::npos) << bytes.error().text;
}

TEST(Doctor, WhatCannotBePlannedOnIsReadAndSaysWhatLacks) {
  const auto unknown = diagnose_bytes(corpus_text("topology_xml/unknown"), "g.xml");
  ASSERT_TRUE(unknown.has_value()) << unknown.error().text;
  EXPECT_NE(unknown->lacking.find("2 devices of unknown class"), std::string::npos) << unknown->lacking;
  EXPECT_FALSE(unknown->examination.contents.empty());
}

TEST(Chakra, OneNodeFilesComeBackByteForByte) {
  const std::string bytes = corpus_text("kind_chakra/all_gather.et");
  const auto trace = read_chakra(bytes, "a.et");
  ASSERT_TRUE(trace.has_value()) << trace.error().text;
  EXPECT_EQ(trace->version, "0.0.4");
  ASSERT_EQ(trace->nodes.size(), 1U);
  const ChakraNode& node = trace->nodes[0];
  EXPECT_EQ(node.id, 0U);
  EXPECT_EQ(node.type, ChakraNodeType::kCollective);
  EXPECT_EQ(node.attribute("comm_type")->value, 2U);
  EXPECT_EQ(node.attribute("comm_size")->value, 1048576U);
  EXPECT_EQ(node.attribute("is_cpu_op")->value, 0U);
  EXPECT_EQ(node.attribute("none"), nullptr);
  EXPECT_EQ(write_chakra(*trace), bytes);
  const auto cut = read_chakra(bytes.substr(0, 40), "a.et");
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().text, "a.et: byte 8: 54 bytes are announced, 31 are left");
}

TEST(ChromeTrace, BreaksAreRepairedAndNamedByByte) {
  const auto first_repair = [](std::string_view text) {
    const auto diagnosis = diagnose_bytes(text, "t.json");
    return diagnosis ? text_of(diagnosis->examination.losses.entries()[0]) : diagnosis.error().text;
  };
  EXPECT_EQ(format_of(corpus_text("kind_chrome_trace/no_bracket")), "chrome-trace-json");
  EXPECT_EQ(first_repair(corpus_text("kind_chrome_trace/empty_value")),
            "byte 90: repaired a missing value (read as null)");
  EXPECT_EQ(first_repair("[{\"ph\":\"X\",\"name\":\"a\x01\"}]"),
            "byte 20: repaired a raw control character 0x01 in a string (escaped)");
  const auto kineto = diagnose_bytes(corpus_text("kind_chrome_trace/kineto"), "k.json");
  ASSERT_TRUE(kineto.has_value());
  EXPECT_EQ(kineto->examination.contents[0].substr(0, 9), "2 events,");
  EXPECT_EQ(kineto->examination.contents[1], "rank 3 (distributedInfo)");
  EXPECT_EQ(kineto->examination.losses.count(LossKind::kRepaired), 1U);  // ts as text
  const auto refusal = [](std::string_view text) {
    const auto diagnosis = diagnose_bytes(text, "t.json");
    return diagnosis ? "accepted" : diagnosis.error().text;
  };
  EXPECT_EQ(refusal(R"([{"ph":"X","ts":"abc","dur":"5"}])"),
            "t.json: event 0: ts is \"abc\", which is no number (taken for chrome-trace-json)");
  EXPECT_EQ(refusal(R"([{"ph":"X","ts":1},{"ph":"X","ts":1,"dur":-2.5}])"),
            "t.json: event 1: dur is -2.5, below zero (taken for chrome-trace-json)");
}

TEST(SimaiWorkload, CountsWordsSizesAndWhatTheHeaderLacks) {
  const auto good = diagnose_bytes(corpus_text("kind_simai_workload/micro"), "w.txt");
  ASSERT_TRUE(good.has_value()) << good.error().text;
  EXPECT_EQ(good->examination.contents[0], "policy HYBRID_TRANSFORMER_FWD_IN_BCKWD, 2 rows, 1 names");
  EXPECT_EQ(good->examination.contents[1], "collectives: 1 ALLGATHER_DP_EP, 1 ALLREDUCE, 1 ALLTOALL_EP, 3 NONE");
  EXPECT_EQ(good->examination.contents[2], "largest collective 5615517696 B");
  EXPECT_EQ(good->examination.losses.count(LossKind::kRepaired), 1U);  // pp_comm without a colon
  const auto count = diagnose_bytes(corpus_text("kind_simai_workload/count"), "w.txt");
  ASSERT_TRUE(count.has_value());
  EXPECT_EQ(text_of(count->examination.losses.entries()[0]), "line 2: repaired row count 3 (1 rows follow)");
  EXPECT_EQ(format_of("DATA\n1\na -1 1 SUM 0 1 NONE 0 1 NONE 0 1\n"),
            "f:3: field 4 'SUM' is no collective (taken for simai-workload)");
  EXPECT_EQ(format_of("DATA\n1\na -1 1\n"), "f:3: 3 fields, a row has 12 (taken for simai-workload)");
}

TEST(LossReport, KeepsTheFirstRepairHoweverManyEntriesThereAre) {
  LossReport report;
  for (int i = 0; i < 200; ++i) report.ignored("line 1", "x", "");
  report.repaired("line 2", "y", "z");
  EXPECT_EQ(report.entries().size(), LossReport::kLossesMax);
  EXPECT_EQ(report.total(), 201U);
  ASSERT_FALSE(report.refuse_repairs("f").has_value());
  LossReport both;
  both.append(report);
  both.append(report);
  EXPECT_EQ(both.total(), 402U);
  EXPECT_EQ(both.count(LossKind::kRepaired), 2U);
  EXPECT_FALSE(both.refuse_repairs("f").has_value());
}

/// Public files below the folder HOCKET_SAMPLES names; they are not part of the repository.
TEST(PublicFiles, EveryFileIsDiagnosedAndNoneTwice) {
  const char* const folder = std::getenv("HOCKET_SAMPLES");
  if (folder == nullptr) GTEST_SKIP() << "HOCKET_SAMPLES is not set to a folder with public files";
  int known = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto result = diagnose_file(entry.path());
    if (!result) {
      EXPECT_EQ(exit_code(result.error().code), 2) << result.error().text;
      continue;
    }
    ++known;
    EXPECT_NE(result->examination.round_trip, RoundTrip::kDiffers) << entry.path();
  }
  if (known == 0) GTEST_SKIP() << "no file of a known format in " << folder;
}

}  // namespace
}  // namespace hocket
