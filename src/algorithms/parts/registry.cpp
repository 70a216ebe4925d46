// The table of algorithms by name, and the schedule of a single rank.
#include <algorithm>
#include <vector>

#include "algorithms/algorithm.h"

namespace hocket {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<const Algorithm*> find_algorithm(std::string_view name) {
  std::string names;
  std::string_view nearest;
  std::size_t best = 4;  // farther names are no help
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->name == name) return algorithm;
    names += names.empty() ? "" : ", ";
    names += algorithm->name;
    if (const std::size_t distance = edit_distance(name.substr(0, 32), algorithm->name); distance < best) {
      best = distance;
      nearest = algorithm->name;
    }
  }
  const std::string hint = nearest.empty() ? "" : fmt::format(", did you mean '{}'?", nearest);
  return fail(Code::kInvalidArgument, "unknown algorithm '{}'{} (there are: {})", name.substr(0, 64), hint, names);
}

Result<Schedule> plan_single_rank(const Collective& collective) {
  ScheduleBuilder builder(collective, Division{}, "copy");
  builder.copy(0, {Buffer::kInput, 0, 1}, {Buffer::kOutput, 0, 1});
  return std::move(builder).finish();
}

}  // namespace hocket
