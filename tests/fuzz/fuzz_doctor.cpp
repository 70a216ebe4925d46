// hocket doctor on any bytes: unpacked where they are packed, recognised or refused, never two answers.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "exchange/doctor.h"
#include "exchange/file_text.h"
#include "support/topology_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  const auto text = hocket::decode_text(std::string(reinterpret_cast<const char*>(bytes), size), "input", kLimit);
  if (!text) {
    HOCKET_ASSERT(!text.error().text.empty(), "an error says something");
    return 0;
  }
  const auto* const plain = reinterpret_cast<const std::uint8_t*>(text->bytes.data());
  if (hocket::has_big_number(plain, text->bytes.size(), 3)) return 0;
  const auto result = hocket::diagnose_bytes(text->bytes, "input");
  HOCKET_ASSERT(result.has_value() || !result.error().text.empty(), "an error says something");
  if (result) HOCKET_ASSERT(result->examination.round_trip != hocket::RoundTrip::kDiffers, "comes back the same");
  return 0;
}
