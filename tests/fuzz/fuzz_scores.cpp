// Score files from any bytes: never a crash; every rule that reads can be asked.
#include "planner/scores.h"
#include "topology/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hocket;
  if (size > 65536) return 0;
  const Result<Scores> scores = Scores::parse(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz");
  if (!scores) return 0;
  static const Result<Topology> ring = topology_from_spec("ring:3", {});
  for (const std::int64_t border : scores->borders()) {
    static_cast<void>(scores->wish(*ring, CollectiveKind::kAllReduce, border));
    if (!(scores->factor("ring", *ring, CollectiveKind::kAllReduce, border) >= 0)) __builtin_trap();
  }
  return 0;
}
