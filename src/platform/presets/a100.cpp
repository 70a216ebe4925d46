// a100:N, one machine of N A100 (40 GB) behind NVSwitch.
#include "platform/preset.h"
#include "platform/variants.h"

namespace hocket {
namespace {

constexpr std::string_view kSheet = "NVIDIA A100 data sheet, 40 GB SXM, dense";

Result<Platform> build(std::string_view arguments) {
  HOCKET_TRY_ASSIGN(const std::uint32_t npus, parse_npus(arguments, 8, "a100:N"));
  Platform p;
  p.name = fmt::format("a100:{}", npus);
  p.description = "A100 SXM of one machine behind NVSwitch";
  p.network.topology = fmt::format("switch:{}", npus);
  p.network.links = {{cited(300e9, "NVIDIA A100 data sheet: 600 GB/s both ways"), assumed(500e-9)}};
  EndpointModel& e = p.endpoint;
  e.compute_units = cited(108, kSheet);
  e.clock = cited(1410e6, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kF16)] = cited(312e12, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kBf16)] = cited(312e12, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kF32)] = cited(19.5e12, kSheet);
  e.memory_bandwidth = cited(1555e9, kSheet);
  e.memory_capacity = cited(40e9, kSheet);
  p.engines = {unit_engine("units", cited(16, "Calculon's A100 description: 15 % of the processor for NVLink")),
               dma_engine(), ace_engine(cited(128e9, "Rashidi et al., ISCA 2021, as recalled")), ideal_engine()};
  p.power.idle = cited(50, "arXiv 2507.03114's platforms: 50 to 60 W");
  p.power.limit = cited(400, kSheet);
  return p;
}

}  // namespace

extern const PlatformPreset platform_a100{
    .name = "a100",
    .grammar = "a100:N",
    .description = "N A100 of one machine behind NVSwitch, 300 GB/s each way",
    .example = "a100:8",
    .build = build,
};

}  // namespace hocket
