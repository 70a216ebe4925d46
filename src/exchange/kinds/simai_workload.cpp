// Text workload of ASTRA-sim 1.0 or SimAI (exchange/astra_workload.h): its policy and keys, collectives by word.
#include <algorithm>
#include <map>
#include <set>

#include "exchange/astra_workload.h"
#include "exchange/file_kind.h"

namespace hocket {
namespace {

bool recognise(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end > 65'536) return false;  // also without an end of line
  const std::string_view line = bytes.substr(0, end);
  const std::size_t start = line.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return false;
  return is_astra_policy(line.substr(start, line.find_first_of(" \t\r", start) - start));
}

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const AstraWorkload workload, parse_astra_workload(bytes, file_name));
  std::map<std::string, std::size_t> collectives;
  std::set<std::string> names;
  std::uint64_t largest = 0;
  for (const AstraRow& row : workload.rows) {
    names.insert(row.name);
    for (const AstraPass& pass : row.passes) {
      ++collectives[pass.collective ? pass.collective->word : "NONE"];
      if (pass.collective) largest = std::max(largest, pass.collective->bytes);
    }
  }
  std::vector<std::string> counts;
  counts.reserve(collectives.size());
  for (const auto& [word, count] : collectives) counts.push_back(fmt::format("{} {}", count, word));
  Examination result;
  result.contents = {fmt::format("policy {}, {} rows, {} names", workload.policy, workload.rows.size(), names.size()),
                     fmt::format("collectives: {}", fmt::join(counts, ", ")),
                     fmt::format("largest collective {} B", largest)};
  for (const auto& [key, value] : workload.keys) result.contents.push_back(fmt::format("{}: {}", key, value));
  result.losses = workload.losses;
  result.losses.assumed("", "times in ns, sizes in B", "the file has no units");
  result.round_trip_text = "workloads are read only";
  return result;
}

}  // namespace

extern const FileKind file_kind_simai_workload{
    .name = "simai-workload",
    .description = "a text workload of ASTRA-sim 1.0 or SimAI",
    .not_a_topology = "; it says what the ranks compute and send, not what joins them",
    .recognise = recognise,
    .examine = examine,
};

}  // namespace hocket
