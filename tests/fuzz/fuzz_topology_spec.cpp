// Topology words, link rates and changes: the first line is the spec, the next ones --break, --scale, --group.
// Small networks only, so that a run stays fast: specs with more digits than digits_max() are skipped.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "topology/route.h"
#include "topology/spec.h"

namespace {

/// Families that grow faster than their number are kept smaller.
std::ptrdiff_t digits_max(const std::string& spec) {
  if (spec.starts_with("hypercube")) return 1;
  if (spec.starts_with("random")) return 5;
  return spec.starts_with("full") ? 2 : 3;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (bytes[i] == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(bytes[i]);
    }
  }
  lines.resize(std::max<std::size_t>(lines.size(), 5));
  const auto digits = std::count_if(lines[0].begin(), lines[0].end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits > digits_max(lines[0])) return 0;
  hocket::TopologyOptions options;
  if (const auto rate = hocket::parse_link_rate(lines[4])) options.links.push_back(*rate);
  const auto built = hocket::topology_from_spec(lines[0], options);
  if (!built) return 0;
  if (!lines[1].empty()) options.breaks.push_back(lines[1]);
  if (!lines[2].empty()) options.scales.push_back(lines[2]);
  options.group = lines[3];
  const auto changed = hocket::apply_changes(*built, options);
  if (!changed) return 0;
  hocket::Router router(*changed);
  const auto path = router.route(changed->vertex_of(0), changed->vertex_of(changed->rank_count() - 1), 0);
  HOCKET_ASSERT(path.has_value(), "ranks of a topology are joined");
  return 0;
}
