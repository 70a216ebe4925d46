// Tables of size windows from any bytes: never a crash; whatever reads can be looked through for holes.
#include "exchange/size_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hocket;
  if (size > 65536) return 0;
  SizeTable table;
  const Result<bool> known =
      add_size_entries(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz", table);
  if (!known) return 0;
  for (const SizeFinding& finding : find_gaps(table.entries)) {
    if (finding.text.empty()) __builtin_trap();
  }
  return 0;
}
