// .hkt from any bytes: never a crash; what reads is written, reads back equal, and can be judged by the verifier.
// Beside the bytes as they are, the bytes with a right hash at the end: mutations must reach what lies behind that
// check.
#include <string>

#include "base/hash.h"
#include "support/schedule_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_schedule_round_trip("hkt", bytes, size);
  constexpr std::size_t kHashBytes = 8;
  if (size < kHashBytes) return 0;
  std::string signed_bytes(reinterpret_cast<const char*>(bytes), size - kHashBytes);
  hocket::Hasher hasher;
  hasher.add(std::string_view(signed_bytes));
  const std::uint64_t hash = hasher.finish().high;
  for (std::size_t i = 0; i < kHashBytes; ++i) signed_bytes.push_back(static_cast<char>(hash >> (8 * i) & 0xff));
  hocket::check_schedule_round_trip("hkt", reinterpret_cast<const std::uint8_t*>(signed_bytes.data()),
                                    signed_bytes.size());
  return 0;
}
