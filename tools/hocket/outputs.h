// Files that a verb is to write, checked before it works: a place that can be written, and none of those it reads.
// Ownership: none. Threading: pure functions.
// Refuses: an output that is an input, however the two are spelled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hocket {

struct Output {
  std::string_view flag;  // "--csv"
  std::string path;       // empty: not asked for
};

[[nodiscard]] Result<void> check_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs);

}  // namespace hocket
