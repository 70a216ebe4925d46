// The property every topology format keeps: what it reads from any bytes and can write (in its own
// format or in hocket's YAML) reads back as the same network.
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
  const auto read = (*format)->load(text, "input");
  if (!read) {
    HOCKET_ASSERT(!read.error().text.empty(), "an error says something");
    return;
  }
  const TopologyFormat* const writer = (*format)->write != nullptr ? *format : *find_topology_format("hocket-yaml");
  const auto written = writer->write(*read);
  if (!written) return;
  HOCKET_ASSERT(writer->recognise(*written), "own text is recognised");
  const auto again = writer->load(*written, "input");
  HOCKET_ASSERT(again.has_value(), "own text is read");
  HOCKET_ASSERT(again->fingerprint() == read->fingerprint(), "own text is the same network");
}

/// A long run of digits, or an exponent, may ask for a network of millions of links, which is read but takes a fuzzer's
/// time, and whose own text is longer than readers take.
inline bool has_big_number(const std::uint8_t* bytes, std::size_t size, std::size_t digits_max) {
  std::size_t run = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const bool exponent = (bytes[i] == 'e' || bytes[i] == 'E') && (run > 0 || (i > 0 && bytes[i - 1] == '.'));
    run = bytes[i] >= '0' && bytes[i] <= '9' ? run + 1 : 0;
    if (run > digits_max || exponent) return true;
  }
  return false;
}

}  // namespace hocket
