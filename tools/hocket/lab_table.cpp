#include "lab_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/median.h"
#include "flags.h"
#include "report/table.h"

namespace hocket {
namespace {

/// Of a link: below, signs of life and acknowledgements weigh more than what is to be told.
constexpr std::int64_t kBytesToTell = 65536;
/// Frames of 16 KiB with their headers, acknowledgements, signs of life.
constexpr double kHeadersMax = 1.02;
/// Each segment has a frame's header, headers of its packet, and those of the acknowledgement that goes back where
/// another segment of its size may go.
constexpr double kHeadersOfSegment = 48 + 2 * 66;
/// Making connections, saying hello, the meeting before and the table after, of one run.
constexpr double kMeetingBytes = 4096;

double slowest(const LabRow& row) { return *std::max_element(row.times.begin(), row.times.end()); }
double fastest(const LabRow& row) { return *std::min_element(row.times.begin(), row.times.end()); }

/// Where nothing has to move the bound is 0.
std::string ratio_text(double time, Seconds least) {
  return least.value > 0 ? fmt::format("{:.3f}", time / least.value) : "-";
}

nlohmann::ordered_json row_document(const LabRow& row, const Topology& topology) {
  nlohmann::ordered_json out{{"plan", row.file},
                             {"collective", std::string(name_of(row.what.collective.kind))},
                             {"algorithm", row.algorithm},
                             {"size_bytes", row.what.bytes().count},
                             {"segment_bytes", row.segment.count},
                             {"bound_s", row.bound.value},
                             {"predicted_s", row.predicted.value},
                             {"measured_s", row.measured()},
                             {"fastest_s", fastest(row)},
                             {"slowest_s", slowest(row)},
                             {"measured_over_predicted", row.measured() / row.predicted.value},
                             {"measured_over_bound", row.measured() / row.bound.value},
                             {"correct", row.wrong == 0},
                             {"wrong_elements", row.wrong},
                             {"lost_frames", row.frames_lost()}};
  const std::optional<std::string> complaint = row.complaint(topology);
  out["complaint"] = complaint ? nlohmann::ordered_json(*complaint) : nlohmann::ordered_json(nullptr);
  const auto ratios = row.byte_ratios();
  out["bytes_over_schedule"] =
      ratios ? nlohmann::ordered_json{ratios->least, ratios->most} : nlohmann::ordered_json(nullptr);
  for (LinkId link = 0; link < row.link_bytes.size(); ++link) {
    out["links"].push_back({{"link", link},
                            {"name", topology.describe_link(link)},
                            {"schedule_bytes", row.link_bytes[link]},
                            {"sent_bytes", row.sent_bytes[link]},
                            {"sent_again_bytes", row.sent_again[link]},
                            {"lost_frames", row.lost[link]}});
  }
  return out;
}

}  // namespace

double LabRow::measured() const { return median_of(times); }

std::optional<LabRow::ByteRatios> LabRow::byte_ratios() const {
  std::optional<ByteRatios> found;
  for (LinkId link = 0; link < link_bytes.size(); ++link) {
    if (link_bytes[link] < kBytesToTell) continue;
    const double ratio = sent_bytes[link] / static_cast<double>(link_bytes[link]);
    if (!found) found = ByteRatios{ratio, ratio};
    found->least = std::min(found->least, ratio);
    found->most = std::max(found->most, ratio);
  }
  return found;
}

std::uint64_t LabRow::frames_lost() const { return std::accumulate(lost.begin(), lost.end(), std::uint64_t{0}); }

std::optional<std::string> LabRow::complaint(const Topology& topology) const {
  if (wrong > 0) return fmt::format("{}: wrong data in {} elements", file, wrong);
  const double share = kHeadersMax + kHeadersOfSegment / static_cast<double>(std::max<std::int64_t>(segment.count, 1));
  for (LinkId link = 0; link < link_bytes.size(); ++link) {
    const auto planned = static_cast<double>(link_bytes[link]);
    const double most = planned * share + kMeetingBytes + sent_again[link];
    if (link_bytes[link] < kBytesToTell) continue;
    if (sent_bytes[link] >= planned && (sent_bytes[link] <= most || frames_lost() > 0)) continue;
    return fmt::format("{}: {} carried {:.0f} bytes where the plan has {:.0f}, with headers at most {:.0f}", file,
                       topology.describe_link(link), sent_bytes[link], planned, most);
  }
  return std::nullopt;
}

void print_lab_table(const LabReport& report) {
  fmt::print("{}: {} ranks, each in a network namespace; goodput of a link {:.1f} % of its rate\n",
             report.topology->name(), report.topology->rank_count(), 100 * report.goodput_share);
  fmt::print("bounds and predictions are for the goodput; medians of {} runs\n", report.rows.front().times.size());
  if (report.slow_cables > 0) fmt::print("{} cables have their latency in a process of ours\n", report.slow_cables);
  if (report.loss > 0) {
    std::uint64_t lost = 0;
    for (const LabRow& row : report.rows) lost += row.frames_lost();
    fmt::print("every link loses {:.4g} % of its frames, which neither bounds nor predictions know: {} were lost\n",
               100 * report.loss, lost);
  }
  fmt::print("\n");
  Table table({"algorithm", "size", "segment", "bound ms", "predicted ms", "measured ms", "fastest ms", "slowest ms",
               "/ predicted", "/ bound", "bytes / plan", "data"});
  for (const LabRow& row : report.rows) {
    const auto ratios = row.byte_ratios();
    table.add({row.algorithm, format_bytes(row.what.bytes()), format_bytes(row.segment),
               fmt::format("{:.1f}", 1e3 * row.bound.value), fmt::format("{:.1f}", 1e3 * row.predicted.value),
               fmt::format("{:.1f}", 1e3 * row.measured()), fmt::format("{:.1f}", 1e3 * fastest(row)),
               fmt::format("{:.1f}", 1e3 * slowest(row)), ratio_text(row.measured(), row.predicted),
               ratio_text(row.measured(), row.bound),
               ratios ? fmt::format("{:.3f}-{:.3f}", ratios->least, ratios->most) : "-",
               row.wrong == 0 ? "right" : fmt::format("WRONG in {} elements", row.wrong)});
  }
  fmt::print("{}", table.text());
}

void print_lab_document(const LabReport& report) {
  nlohmann::ordered_json out = document("run");
  out["transport"] = "tcp";
  out["topology"] = report.topology->name();
  out["ranks"] = report.topology->rank_count();
  out["goodput_share"] = report.goodput_share;
  out["slow_cables"] = report.slow_cables;
  out["link_loss"] = report.loss;
  for (const LabRow& row : report.rows) out["rows"].push_back(row_document(row, *report.topology));
  print_json(out);
}

}  // namespace hocket
