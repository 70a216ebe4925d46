// .hkt from any bytes: never a crash; what reads is written, reads back equal, and can be judged by the verifier.
#include "support/schedule_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_schedule_round_trip("hkt", bytes, size);
  return 0;
}
