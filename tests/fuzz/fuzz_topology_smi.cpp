// `nvidia-smi topo -m` matrices from any bytes; what is read comes back the same through a format that can be written.
#include "support/topology_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_topology_round_trip("nvidia-smi", bytes, size);
  return 0;
}
