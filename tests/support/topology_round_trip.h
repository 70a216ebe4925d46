// The property every topology format keeps: what it reads from any bytes and can write, reads back as the same network.
// Used by the fuzz targets and by tests. Aborts (HOCKET_ASSERT) when it does not hold.
// Threading: pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "exchange/topology_format.h"

namespace hocket {

inline void check_topology_round_trip(std::string_view format_name, const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto format = find_topology_format(format_name);
  HOCKET_ASSERT(format.has_value(), "format exists");
  (void)(*format)->recognise(text);
  if ((*format)->describe != nullptr) (void)(*format)->describe(text, "input");
  const auto read = (*format)->read(text, "input");
  if (!read) {
    HOCKET_ASSERT(!read.error().text.empty(), "an error says something");
    return;
  }
  const auto written = (*format)->write(*read);
  if (!written) return;
  HOCKET_ASSERT((*format)->recognise(*written), "own text is recognised");
  const auto again = (*format)->read(*written, "input");
  HOCKET_ASSERT(again.has_value(), "own text is read");
  HOCKET_ASSERT(again->fingerprint() == read->fingerprint(), "own text is the same network");
}

}  // namespace hocket
