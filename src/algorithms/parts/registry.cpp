// What belongs to the table of algorithms as a whole: finding by name, and the plan of a single rank.
#include <algorithm>
#include <string>

#include "algorithms/algorithm.h"

namespace hocket {

Result<const Algorithm*> find_algorithm(std::string_view name) {
  std::string known;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->name == name) return algorithm;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", algorithm->name);
  }
  return fail(Code::kInvalidArgument, "unknown algorithm '{}'; known: {}", name, known);
}

Result<Schedule> plan_single_rank(const Collective& collective) {
  ScheduleBuilder builder(collective, {}, "copy");
  builder.copy(0, {Buffer::kInput, 0, 1}, {Buffer::kOutput, 0, 1});
  return std::move(builder).finish();
}

}  // namespace hocket
