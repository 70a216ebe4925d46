// What a run in the lab prints: a table with a row per plan, or a document that also has every link. Also the
// judgement: data must be right, and every link must have sent the bytes of the schedule and their headers, no more.
// Ownership: plain values. Threading: pure functions. Refuses: nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/collective.h"
#include "topology/topology.h"

namespace hocket {

struct LabRow {
  std::string file;
  std::string algorithm;
  BoundCollective what;
  Bytes segment;
  Seconds bound;
  Seconds predicted;
  std::vector<double> times;             // seconds, of each run
  std::uint64_t wrong = 0;               // elements, of all runs
  std::vector<std::int64_t> link_bytes;  // by link: what the schedule sends in one execution
  std::vector<double> sent_bytes;        // by link: what its device has sent, mean of all executions
  std::vector<double> sent_again;        // by link: what TCP has sent again of that at most, mean of all executions
  std::vector<std::uint64_t> lost;       // by link: frames, of all runs

  [[nodiscard]] double measured() const;

  /// Least and most of sent over scheduled, of links with enough bytes to tell; none where no link has.
  struct ByteRatios {
    double least = 0;
    double most = 0;
  };
  [[nodiscard]] std::optional<ByteRatios> byte_ratios() const;
  [[nodiscard]] std::uint64_t frames_lost() const;
  /// What is wrong: data, or a link that has not sent the schedule's bytes and headers, and again what TCP missed.
  [[nodiscard]] std::optional<std::string> complaint(const Topology& topology) const;
};

struct LabReport {
  const Topology* topology = nullptr;  // with the nominal rates
  double goodput_share = 1;
  std::size_t slow_cables = 0;  // whose latency is real
  double loss = 0;              // share of frames
  std::vector<LabRow> rows;
};

void print_lab_table(const LabReport& report);
void print_lab_document(const LabReport& report);

}  // namespace hocket
