// ace:LxVxH, the target of ACE: packages of L npus on a fast ring, rings of V and H packages; the five endpoints that
// the paper compares. The paper's body was not available: figures are those recalled of it, and those that follow from
// arithmetic that closes (400, 50 and 50 GB/s per npu; 2.25 bytes sent per byte on 4x4x4).
#include "platform/preset.h"
#include "platform/variants.h"

namespace hocket {
namespace {

constexpr std::string_view kRecalled = "Rashidi et al., ISCA 2021, as recalled";
constexpr std::string_view kDerived = "Rashidi et al., ISCA 2021, recalled; closes with 300 GB/s on 4x4x4";
constexpr std::string_view kCycles = "Rashidi et al., ISCA 2021, recalled in cycles of 1245 MHz";
constexpr double kClock = 1245e6;

CommunicationEngine baseline(std::string_view name, double units, double memory, std::string_view source) {
  CommunicationEngine engine = unit_engine(name, cited(units, source));
  engine.charge = MemoryCharge::kReads;
  engine.order = CollectiveOrder::kLifo;
  engine.memory_bandwidth = cited(memory, source);
  engine.chunk = cited(64 << 10, kRecalled);
  engine.message = cited(8 << 10, kRecalled);
  return engine;
}

Result<Platform> build(std::string_view arguments) {
  const std::string_view shape = arguments.empty() ? std::string_view("4x4x4") : arguments;
  Platform p;
  p.name = fmt::format("ace:{}", shape);
  p.description = "ACE's target: npus of 80 units on a 3-D torus, the inner dimension inside a package";
  p.network.topology = fmt::format("torus:{}", shape);
  p.network.forwards = Forwarding::kNpus;
  const PlatformLink outer{cited(25e9, kDerived), cited(402e-9, kCycles)};
  p.network.links = {{cited(200e9, kDerived), cited(72e-9, kCycles)}, outer, outer};
  EndpointModel& e = p.endpoint;
  e.compute_units = cited(80, kRecalled);
  e.unit_bandwidth = cited(64 * kClock, "Rashidi et al., ISCA 2021, recalled: 64 B a cycle at 1245 MHz");
  e.clock = cited(kClock, kRecalled);
  e.rates[static_cast<std::size_t>(DataType::kF16)] = cited(120e12, kRecalled);
  e.memory_bandwidth = cited(900e9, kRecalled);
  e.bus_bandwidth = cited(500e9, kRecalled);
  p.engines.push_back(ace_engine(cited(128e9, "Rashidi et al., ISCA 2021, figure of the memory sweep")));
  p.engines.push_back(baseline("comm_opt", 6, 450e9, kDerived));
  p.engines.push_back(baseline("comp_opt", 2, 128e9, kRecalled));
  p.engines.push_back(baseline("no_overlap", 80, 900e9, kRecalled));
  p.engines.back().overlaps = false;
  p.engines.push_back(ideal_engine());
  p.engines.back().order = CollectiveOrder::kLifo;
  p.engines.back().chunk = cited(64 << 10, kRecalled);
  p.engines.back().message = cited(8 << 10, kRecalled);
  p.engines.back().reaction = cited(1 / kClock, "Rashidi et al., ISCA 2021, recalled: one cycle of 1245 MHz");
  return p;
}

}  // namespace

extern const PlatformPreset platform_ace{
    .name = "ace",
    .grammar = "ace:LxVxH",
    .description = "ACE's 3-D torus of npus with 80 units and 900 GB/s; endpoints ace, comm_opt, comp_opt, no_overlap",
    .example = "ace:4x4x4",
    .build = build,
};

}  // namespace hocket
