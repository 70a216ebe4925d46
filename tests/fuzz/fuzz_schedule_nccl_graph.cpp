// NCCL graph XML as a schedule, from any bytes: never a crash; every schedule that is made is proved and written again.
#include "support/schedule_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_schedule_round_trip("nccl-graph-xml", bytes, size);
  return 0;
}
