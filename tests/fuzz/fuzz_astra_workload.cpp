// Text workloads of ASTRA-sim from any bytes: refused with a message, or a task graph that validates.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "exchange/astra_workload.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto workload = hocket::parse_astra_workload({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!workload || workload->rows.size() > 256) return 0;
  const auto imported = hocket::graph_of(*workload, "fuzz", {16, {4, 4}});
  if (imported) HOCKET_ASSERT(hocket::validate(imported->graph).has_value(), "an imported graph does not validate");
  return 0;
}
