// ASTRA-sim's network, system and memory in one input, parted by lines of `---`: refused, or a platform that is written
// and read again as the same.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "exchange/astra_platform.h"
#include "exchange/platform_yaml.h"
#include "support/topology_round_trip.h"

namespace {

hocket::Result<hocket::ImportedPlatform> import(std::string_view text) {
  constexpr std::string_view kBreak = "\n---\n";
  const auto next = [&] {
    const std::size_t end = std::min(text.find(kBreak), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + kBreak.size(), text.size()));
    return part;
  };
  hocket::AstraInput input{.network_file = "n", .system_file = "s", .memory_file = "m"};
  HOCKET_TRY_ASSIGN(input.network, hocket::read_astra_network(next(), "n"));
  HOCKET_TRY_ASSIGN(input.system, hocket::read_astra_system(next(), "s"));
  if (!text.empty()) {
    HOCKET_TRY_ASSIGN(input.memory, hocket::read_astra_memory(text, "m"));
  }
  return hocket::platform_from_astra(input);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (hocket::has_big_number(bytes, size, 4)) return 0;  // big networks take long, nothing more
  const auto imported = import({reinterpret_cast<const char*>(bytes), size});
  HOCKET_ASSERT(imported || !imported.error().text.empty(), "an error says something");
  if (!imported) return 0;
  const auto written = hocket::write_platform(imported->platform);
  HOCKET_ASSERT(written.has_value(), "what was imported can be written");
  const auto again = hocket::read_platform(*written, "copy");
  if (!again) return 0;  // networks beyond the limits
  HOCKET_ASSERT(*hocket::write_platform(*again) == *written, "the copy differs");
  return 0;
}
