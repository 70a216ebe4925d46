// h100:N, one machine of N H100 (80 GB SXM) behind NVSwitch.
#include "platform/preset.h"
#include "platform/variants.h"

namespace hocket {
namespace {

constexpr std::string_view kSheet = "NVIDIA H100 data sheet, SXM, dense";
constexpr std::string_view kKernels = "public table of GEMM power on H200 (aiconfigurator), fitted";

Result<Platform> build(std::string_view arguments) {
  HOCKET_TRY_ASSIGN(const std::uint32_t npus, parse_npus(arguments, 8, "h100:N"));
  Platform p;
  p.name = fmt::format("h100:{}", npus);
  p.description = "H100 SXM of one machine behind NVSwitch";
  p.network.topology = fmt::format("switch:{}", npus);
  p.network.links = {{cited(450e9, "NVIDIA H100 data sheet: 900 GB/s both ways"), assumed(500e-9)}};
  EndpointModel& e = p.endpoint;
  e.compute_units = cited(132, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kF16)] = cited(989e12, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kBf16)] = cited(989e12, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kF32)] = cited(67e12, kSheet);
  e.memory_bandwidth = cited(3350e9, kSheet);
  e.memory_capacity = cited(80e9, kSheet);
  p.engines = {unit_engine("units", cited(20, "Calculon's H100 description: 15 % of the processor for NVLink")),
               dma_engine(), ace_engine(cited(128e9, "Rashidi et al., ISCA 2021, as recalled")), ideal_engine()};
  p.power.idle = cited(70, "public nvidia-smi dumps: 69 to 72 W");
  p.power.limit = cited(700, kSheet);
  p.power.per_flop = cited(0.44e-12, kKernels);
  p.power.per_memory_byte = cited(93e-12, kKernels);
  return p;
}

}  // namespace

extern const PlatformPreset platform_h100{
    .name = "h100",
    .grammar = "h100:N",
    .description = "N H100 of one machine behind NVSwitch, 450 GB/s each way",
    .example = "h100:8",
    .build = build,
};

}  // namespace hocket
