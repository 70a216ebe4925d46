// tpu:AxBxC, a torus of chips like TPU v4: two cores, copies and additions driven by DMA engines.
#include "platform/preset.h"
#include "platform/variants.h"

namespace hocket {
namespace {

constexpr std::string_view kPaper = "Jouppi et al., TPU v4, ISCA 2023";

Result<Platform> build(std::string_view arguments) {
  const std::string_view shape = arguments.empty() ? std::string_view("4x4x4") : arguments;
  Platform p;
  p.name = fmt::format("tpu:{}", shape);
  p.description = "chips like TPU v4 on a torus";
  p.network.topology = fmt::format("torus:{}", shape);
  p.network.links = {{cited(50e9, kPaper), assumed(1e-6)}};
  EndpointModel& e = p.endpoint;
  e.compute_units = cited(2, kPaper);
  e.clock = cited(1050e6, kPaper);
  e.rates[static_cast<std::size_t>(DataType::kBf16)] = cited(275e12, kPaper);
  e.memory_bandwidth = cited(1200e9, kPaper);
  e.memory_capacity = cited(32.0 * (1 << 30), kPaper);
  p.engines = {dma_engine(), ace_engine(cited(128e9, "Rashidi et al., ISCA 2021, as recalled")), ideal_engine()};
  p.power.idle = cited(90, kPaper);
  p.power.limit = cited(192, "Jouppi et al., TPU v4, ISCA 2023: the most that was measured");
  return p;
}

}  // namespace

extern const PlatformPreset platform_tpu{
    .name = "tpu",
    .grammar = "tpu:AxBxC",
    .description = "chips like TPU v4 on a torus, 50 GB/s a link",
    .example = "tpu:4x4x4",
    .build = build,
};

}  // namespace hocket
