// Workload YAML from any bytes: refused, or written and read again as the same.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "exchange/workload_yaml.h"
#include "support/topology_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (hocket::has_big_number(bytes, size, 5)) return 0;  // many ranks take long, nothing more
  const auto graph = hocket::read_workload_yaml({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!graph) return 0;
  const auto written = hocket::write_workload_yaml(*graph);
  if (!written) return 0;  // names that YAML cannot hold
  const auto again = hocket::read_workload_yaml(*written, "copy");
  HOCKET_ASSERT(again.has_value(), "what was written is refused");
  HOCKET_ASSERT(*hocket::write_workload_yaml(*again) == *written, "the copy differs");
  return 0;
}
