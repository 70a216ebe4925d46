// Sweep YAML from any bytes: refused, or a grid whose every axis is whole.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "exchange/sweep_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto sweep = hocket::read_sweep({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!sweep) return 0;
  HOCKET_ASSERT(sweep->points() >= 1 && sweep->points() <= hocket::kSweepPointsMax, "a grid without points");
  const std::size_t keys = sweep->varied().size();
  for (const std::uint64_t point : {std::uint64_t{0}, sweep->points() / 2, sweep->points() - 1})
    HOCKET_ASSERT(sweep->at(point).size() == keys, "a point without all that varies");
  return 0;
}
