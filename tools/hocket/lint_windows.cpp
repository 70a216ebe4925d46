#include "lint_windows.h"

#include <fmt/format.h>

#include <map>

#include "exchange/size_table.h"
#include "flags.h"

namespace hocket {
namespace {

struct Cover {
  std::uint64_t from = 0, to = 0;
  std::size_t windows = 0;
};

std::map<std::string, Cover> covers_of(const SizeTable& table) {
  std::map<std::string, Cover> covers;
  for (const SizeEntry& entry : table.entries) {
    const auto [at, fresh] = covers.try_emplace(entry.group, Cover{entry.from, entry.to, 0});
    at->second.from = std::min(at->second.from, entry.from);
    at->second.to = std::max(at->second.to, entry.to);
    ++at->second.windows;
  }
  return covers;
}

}  // namespace

Result<int> lint_windows(const std::string& path, bool json) {
  HOCKET_TRY_ASSIGN(SizeTable table, read_size_table(path));
  for (SizeFinding& finding : find_gaps(table.entries)) table.findings.push_back(std::move(finding));
  const std::map<std::string, Cover> covers = covers_of(table);
  const int status = table.findings.empty() ? 0 : 1;
  if (json) {
    nlohmann::ordered_json out = document("verify");
    for (const auto& [group, cover] : covers)
      out["groups"].push_back(
          {{"group", group}, {"windows", cover.windows}, {"from_bytes", cover.from}, {"to_bytes", cover.to}});
    out["findings"] = nlohmann::ordered_json::array();
    for (const SizeFinding& f : table.findings) out["findings"].push_back({{"kind", f.kind}, {"text", f.text}});
    out["left_out"] = table.left_out;
    print_json(out);
    return status;
  }
  for (const auto& [group, cover] : covers)
    fmt::print("{}: {} window{}, {} to {}\n", group, cover.windows, cover.windows == 1 ? "" : "s",
               size_text(cover.from), size_text(cover.to));
  for (const std::string& file : table.left_out) fmt::print("note: {} has no windows\n", file);
  for (const SizeFinding& f : table.findings) fmt::print("{:<8} {}\n", f.kind, f.text);
  if (table.findings.empty()) fmt::print("no holes, no overlaps\n");
  return status;
}

}  // namespace hocket
