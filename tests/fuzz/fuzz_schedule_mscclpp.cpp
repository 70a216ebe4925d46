// MSCCL++ plans from any bytes: never a crash; what reads can be judged by the verifier and, when proved, written
// again.
#include "support/schedule_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_schedule_round_trip("mscclpp-json", bytes, size);
  return 0;
}
