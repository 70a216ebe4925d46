// Platform YAML from any bytes: refused, or written and read again as the same.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "exchange/platform_yaml.h"
#include "support/topology_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (hocket::has_big_number(bytes, size, 4)) return 0;  // big networks take long, nothing more
  const auto platform = hocket::read_platform({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!platform) return 0;
  const auto written = hocket::write_platform(*platform);
  if (!written) return 0;  // names that YAML cannot hold
  const auto again = hocket::read_platform(*written, "copy");
  HOCKET_ASSERT(again.has_value(), "what was written is refused");
  HOCKET_ASSERT(*hocket::write_platform(*again) == *written, "the copy differs");
  return 0;
}
