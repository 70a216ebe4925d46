// The table of algorithms by name, and the schedule of a single rank.
#include <vector>

#include "algorithms/algorithm.h"
#include "base/spelling.h"

namespace hocket {
Result<const Algorithm*> find_algorithm(std::string_view name) {
  std::string names;
  std::vector<std::string_view> known;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->name == name) return algorithm;
    names += names.empty() ? "" : ", ";
    names += algorithm->name;
    known.push_back(algorithm->name);
  }
  return fail(Code::kInvalidArgument, "unknown algorithm '{}'{} (there are: {})", name.substr(0, 64),
              spelling_hint(name, known), names);
}

Result<Schedule> plan_single_rank(const Collective& collective) {
  ScheduleBuilder builder(collective, Division{}, "copy");
  builder.copy(0, {Buffer::kInput, 0, 1}, {Buffer::kOutput, 0, 1});
  return std::move(builder).finish();
}

}  // namespace hocket
