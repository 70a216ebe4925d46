// The JSON view from any bytes: never a crash; what reads can be judged by the verifier and, when proved, reads back.
#include "support/schedule_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_schedule_round_trip("json", bytes, size);
  return 0;
}
