// cpu:N, a cluster of N plain servers: collectives run on the cores that compute, or on an engine they might have.
#include "platform/preset.h"
#include "platform/variants.h"

namespace hocket {
namespace {

constexpr std::string_view kSheet = "AMD EPYC 9654 data sheet";

Result<Platform> build(std::string_view arguments) {
  HOCKET_TRY_ASSIGN(const std::uint32_t npus, parse_npus(arguments, 16, "cpu:N"));
  Platform p;
  p.name = fmt::format("cpu:{}", npus);
  p.description = "servers of 96 cores behind one switch";
  p.network.topology = fmt::format("switch:{}", npus);
  p.network.links = {{cited(25e9, "NVIDIA ConnectX-6 data sheet: 200 Gb/s"), assumed(1e-6)}};
  EndpointModel& e = p.endpoint;
  e.compute_units = cited(96, kSheet);
  e.clock = cited(2400e6, kSheet);
  e.rates[static_cast<std::size_t>(DataType::kF32)] =
      cited(96 * 32 * 2400e6, "AMD EPYC 9654 data sheet; 32 FLOP a cycle and core (Zen 4 optimisation guide)");
  e.memory_bandwidth = cited(460.8e9, kSheet);
  e.bus_bandwidth = cited(31.5e9, "PCIe 4.0 x16");
  p.engines = {unit_engine("units", assumed(1)), dma_engine(),
               ace_engine(cited(128e9, "Rashidi et al., ISCA 2021, as recalled")), ideal_engine()};
  p.power.limit = cited(360, kSheet);
  return p;
}

}  // namespace

extern const PlatformPreset platform_cpu{
    .name = "cpu",
    .grammar = "cpu:N",
    .description = "N servers of 96 cores behind one switch, 25 GB/s each",
    .example = "cpu:16",
    .build = build,
};

}  // namespace hocket
