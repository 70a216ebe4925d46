// Logs of nccl-tests: both forms, old columns, what the log does not say, and what is refused with file and line.
#include "exchange/nccl_log.h"

#include <gtest/gtest.h>

#include "exchange/doctor.h"

namespace hocket {
namespace {

const std::string kHead = R"(# nccl-tests version 2.18.0
# Collective test starting: all_gather_perf
# nThread 1 nGpus 2 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 1 iters: 20 validation: 1
# Using devices
#  Rank  0 Group  0 Pid   1000 on     node0 device  0 [0000:0f:00] a device
#  Rank  1 Group  0 Pid   1000 on     node0 device  1 [0000:1f:00] a device
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
)";
const std::string kRows =
    R"(   0     0     float    none      -1     9.80    0.00    0.00       0     9.90    0.00    0.00       0
node0:1000:1001 [0] NCCL INFO Launch mode Parallel
        1024           128     float    none      -1    10.00    0.10    0.05       0     8.00    0.13    0.06       0
        2048           256     float    none      -1    10.50    0.20    0.10       0      N/A     N/A     N/A     N/A
        4096           512     float    none      -1    11.50    0.36    0.18       0    12.00    0.34    0.17       3
# Out of bounds values : 0 OK
)";

NcclLog read(const std::string& text) {
  const auto log = read_nccl_log(text, "a.log");
  EXPECT_TRUE(log) << log.error().text;
  return log.value_or(NcclLog{});
}

void expect_refused(const std::string& text, const std::string& words) {
  const auto log = read_nccl_log(text, "a.log");
  ASSERT_FALSE(log) << words;
  EXPECT_NE(log.error().text.find(words), std::string::npos) << log.error().text;
  EXPECT_EQ(exit_code(log.error().code), 2);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NcclLogs, TablesHoldBothHalvesOfARow) {
  const NcclLog log = read(kHead + kRows);
  EXPECT_EQ(log.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(log.ranks, 2U);
  EXPECT_EQ(log.rows, 3U);
  ASSERT_EQ(log.times.size(), 4U);
  EXPECT_EQ(log.times[1].size.count, 1024);
  EXPECT_DOUBLE_EQ(log.times[1].time.value, 8e-6);
  EXPECT_EQ(log.times[3].size.count, 4096);
  // Two of no bytes, one with wrong results, one line of somebody else.
  EXPECT_EQ(log.losses.count(LossKind::kIgnored), 4U);
  EXPECT_EQ(log.losses.count(LossKind::kAssumed), 0U);
}

TEST(NcclLogs, DocumentsHoldTheSame) {
  const NcclLog log = read(R"({"version": 3, "args": ["./build/reduce_scatter_perf", "-b", "1K"],
    "config": {"devices": [{"rank": 0}, {"rank": 1}, {"rank": 2}]},
    "results": [{"size": 3072, "count": 256, "type": "float", "redop": "sum", "root": -1,
                 "out_of_place": {"time": 10.0, "alg_bw": 0.31, "bus_bw": 0.2, "nwrong": 0},
                 "in_place": {"time": "11.0", "alg_bw": "0.28", "bus_bw": "0.19", "nwrong": "N/A"}}]})");
  EXPECT_EQ(log.kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(log.ranks, 3U);
  ASSERT_EQ(log.times.size(), 2U);
  EXPECT_DOUBLE_EQ(log.times[1].time.value, 11e-6);
}

// Without redop and root, the greatest difference in place of the number of wrong results, bandwidth without the own
// block; the collective is not named.
TEST(NcclLogs, OldColumnsAreFoundByTheirHeading) {
  const NcclLog log = read(R"(#   Rank  0 Pid  1 on node0 device 0
#   Rank  1 Pid  1 on node0 device 1
#       size         count    type    time   algbw   busbw  error     time   algbw   busbw  error
     1048576        131072   float   100.0    5.24    5.24  2e-07    90.00    5.83    5.83  0e+00
)");
  EXPECT_EQ(log.times.size(), 2U);
  EXPECT_EQ(log.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(log.losses.count(LossKind::kAssumed), 1U);
}

TEST(NcclLogs, ReductionAndRootSayTheCollective) {
  const std::string head = with(kHead, "# Collective test starting: all_gather_perf\n", "");
  for (const auto& [row, kind] : {std::pair{"sum      -1", CollectiveKind::kAllReduce},
                                  {"sum       0", CollectiveKind::kReduce},
                                  {"none       0", CollectiveKind::kBroadcast},
                                  {"none      -1", CollectiveKind::kAllGather}}) {
    const NcclLog log = read(head + fmt::format("1024 128 float {} 10.00 0.10 0.05 0 8.00 0.13 0.06 0\n", row));
    EXPECT_EQ(log.kind, kind) << row;
    EXPECT_EQ(log.losses.count(LossKind::kAssumed), 1U);
  }
}

TEST(NcclLogs, GarbageIsRefusedWithItsLine) {
  expect_refused("", "a.log: no rows of nccl-tests");
  expect_refused(kHead, "a.log: no rows of nccl-tests");
  expect_refused("some words\nand more\n", "a.log: no rows of nccl-tests");
  expect_refused(kHead +
                     "           0             0     float    none      -1     9.80    0.00    0.00       0     9.90"
                     "    0.00    0.00       0\n",
                 "a.log: no row that could be used");
  expect_refused(kRows, "a.log: names 0 ranks");
  expect_refused(kHead + with(kRows, "11.50 ", "11.5x "), "a.log:14: '11.5x' is no number");
  expect_refused(kHead + with(kRows, "10.50 ", "-1.00 "), "a.log:13: a time of -1 us");
  expect_refused(kHead + with(kRows, "  0.36", "  3.60"),
                 "a.log:14: algbw 3.6 GB/s, but size over time is 0.3562 GB/s");
  expect_refused(kHead + "        1024           128     float    none\n",
                 "a.log:10: a row of 4 columns, 13 are wanted");
  expect_refused(R"({"config": {}, "results": 7})", "a.log: key 'results' is no list");
  expect_refused(R"({"config": {}, "results": [{"count": 7}]})", "a.log:results 1: key 'size' is missing");
  expect_refused(R"({"config": {}, "results": [{"size": 1.5}]})", "a.log:results 1: 1.5 is no size");
  expect_refused(R"({"config": {}, "results": [)", "a.log:");
}

TEST(NcclLogs, WhatContradictsItselfIsRefused) {
  expect_refused(kHead + with(kRows, "2048           256", "2048           255"),
                 "a.log:13: a size of 2048 bytes, but 255 elements of float are 1020 bytes, 2040 on 2 ranks");
  expect_refused(kHead + with(kRows, "0.18       0", "0.36       0"),
                 "a.log:14: busbw 0.36 GB/s, but size over time of all_gather on 2 ranks gives 0.1781 GB/s");
  expect_refused(with(kHead, "(us)  (GB/s)  (GB/s)      ", "(ms)  (GB/s)  (GB/s)      ") + kRows,
                 "a.log:9: a column in (ms): those of nccl-tests are in (B), (elements), (us), (GB/s)");
  expect_refused(with(kHead, "Rank  1", "Rank  0") + kRows, "a.log:6: rank 0 is named twice in one run");
  const NcclLog twice = read(kHead + kRows + kHead + kRows);  // two runs in one file
  EXPECT_EQ(twice.rows, 6U);
  EXPECT_EQ(twice.ranks, 2U);
}

TEST(NcclLogs, DoctorKnowsThem) {
  const auto table = diagnose_bytes(kHead + kRows, "a.log");
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_EQ(table->format, "nccl-tests-log");
  EXPECT_EQ(table->examination.contents.front(), "all_gather on 2 ranks, 3 rows of 1KiB to 4KiB");
  const auto document = diagnose_bytes(R"({"hocket": "0", "args": "hocket bench all_reduce", "config":
    {"bound": {"topology": null}, "devices": [{"rank": 0}, {"rank": 1}]}, "results": [{"size": 8, "redop": "sum",
     "root": -1, "out_of_place": {"time": 10}}]})",
                                       "b.json");
  ASSERT_TRUE(document) << document.error().text;
  EXPECT_EQ(document->format, "nccl-tests-log");
}

}  // namespace
}  // namespace hocket
