// mi300x:N, one machine of N MI300X, every two of them joined by a link.
#include "platform/preset.h"
#include "platform/variants.h"

namespace hocket {
namespace {

constexpr std::string_view kSheet = "AMD Instinct MI300X data sheet, dense";

Result<Platform> build(std::string_view arguments) {
  HOCKET_TRY_ASSIGN(const std::uint32_t npus, parse_npus(arguments, 8, "mi300x:N"));
  Platform p;
  p.name = fmt::format("mi300x:{}", npus);
  p.description = "MI300X of one machine, fully connected";
  p.network.topology = fmt::format("full:{}", npus);
  p.network.links = {{cited(48e9, "AMD's blog on MI300X: 64 GB/s a link and direction, 48 usable"), assumed(500e-9)}};
  EndpointModel& e = p.endpoint;
  e.compute_units = cited(304, kSheet);
  e.clock = cited(2100e6, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kF16)] = cited(1307e12, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kBf16)] = cited(1307e12, kSheet);
  e.memory_bandwidth = cited(5300e9, kSheet);
  e.memory_capacity = cited(192e9, kSheet);
  p.engines = {unit_engine("units", cited(32, "arXiv 2412.14335: all-gather saturates at 32 units")), dma_engine(),
               ace_engine(cited(128e9, "Rashidi et al., ISCA 2021, as recalled")), ideal_engine()};
  p.power.idle = assumed(130);
  p.power.limit = cited(750, kSheet);
  return p;
}

}  // namespace

extern const PlatformPreset platform_mi300x{
    .name = "mi300x",
    .grammar = "mi300x:N",
    .description = "N MI300X of one machine, fully connected, 48 GB/s a link",
    .example = "mi300x:8",
    .build = build,
};

}  // namespace hocket
