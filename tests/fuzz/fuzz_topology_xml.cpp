// NCCL topology XML from any bytes; what is read and written reads back as the same network.
#include "support/topology_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_topology_round_trip("nccl-xml", bytes, size);
  return 0;
}
