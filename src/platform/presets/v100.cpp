// v100:N, one machine of N V100 behind NVSwitch, as in the measurements that motivate ACE.
#include "platform/preset.h"
#include "platform/variants.h"

namespace hocket {
namespace {

constexpr std::string_view kSheet = "NVIDIA Tesla V100 data sheet";
constexpr std::string_view kPaper = "Rashidi et al., ISCA 2021, as recalled";

Result<Platform> build(std::string_view arguments) {
  HOCKET_TRY_ASSIGN(const std::uint32_t npus, parse_npus(arguments, 8, "v100:N"));
  Platform p;
  p.name = fmt::format("v100:{}", npus);
  p.description = "V100 SXM2 of one machine behind NVSwitch";
  p.network.topology = fmt::format("switch:{}", npus);
  p.network.links = {{cited(150e9, "NVIDIA Tesla V100 data sheet: 300 GB/s both ways"), assumed(500e-9)}};
  EndpointModel& e = p.endpoint;
  e.compute_units = cited(80, kSheet);
  e.unit_bandwidth = cited(64 * 1245e6, "Rashidi et al., ISCA 2021, recalled: 64 B a cycle at 1245 MHz");
  e.rates[static_cast<std::size_t>(DataType::kF16)] = cited(125e12, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kF32)] = cited(15.7e12, kSheet);
  e.memory_bandwidth = cited(900e9, kSheet);
  e.memory_capacity = cited(32e9, kSheet);
  p.engines = {unit_engine("units", cited(6, kPaper)), dma_engine(), ace_engine(cited(128e9, kPaper)), ideal_engine()};
  p.power.idle = cited(40, "Zeus, NSDI 2023, traces of V100");
  p.power.limit = cited(300, kSheet);
  return p;
}

}  // namespace

extern const PlatformPreset platform_v100{
    .name = "v100",
    .grammar = "v100:N",
    .description = "N V100 of one machine behind NVSwitch, 150 GB/s each way",
    .example = "v100:8",
    .build = build,
};

}  // namespace hocket
