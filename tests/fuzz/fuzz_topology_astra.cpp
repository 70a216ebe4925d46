// ASTRA-sim network YAML from any bytes; what is read comes back the same through a format that can be written.
#include "support/topology_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (hocket::has_big_number(bytes, size, 3)) return 0;
  hocket::check_topology_round_trip("astra-yaml", bytes, size);
  return 0;
}
