// Words of Chrome's trace format that every timeline of the simulator uses: quoted names, and times in microseconds
// with all picoseconds, so that no bar is rounded away.
// Threading: pure functions. Refuses: nothing; bytes that are no UTF-8 are replaced.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/units.h"

namespace hocket {

inline std::string chrome_quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline std::string chrome_microseconds(Picos time) {
  return fmt::format("{}.{:06}", time.count / 1000000, time.count % 1000000);
}

}  // namespace hocket
