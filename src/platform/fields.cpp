#include "platform/fields.h"

namespace hocket {
namespace {

using enum FigureUnit;

constexpr FigureField<EndpointModel> kEndpoint[] = {
    {"compute_units", kCount, &EndpointModel::compute_units, true},
    {"unit_bandwidth", kBandwidth, &EndpointModel::unit_bandwidth},
    {"clock", kClock, &EndpointModel::clock},
    {"memory_bandwidth", kBandwidth, &EndpointModel::memory_bandwidth, true},
    {"memory_capacity", kBytes, &EndpointModel::memory_capacity},
    {"remote_bandwidth", kBandwidth, &EndpointModel::remote_bandwidth},
    {"remote_latency", kTime, &EndpointModel::remote_latency},
    {"bus_bandwidth", kBandwidth, &EndpointModel::bus_bandwidth},
};

constexpr FigureField<CommunicationEngine> kEngine[] = {
    {"units", kCount, &CommunicationEngine::units},
    {"memory_bandwidth", kBandwidth, &CommunicationEngine::memory_bandwidth},
    {"chunk", kBytes, &CommunicationEngine::chunk},
    {"message", kBytes, &CommunicationEngine::message},
    {"chunks_in_flight", kCount, &CommunicationEngine::chunks_in_flight},
    {"reaction", kTime, &CommunicationEngine::reaction},
    {"dma_engines", kCount, &CommunicationEngine::dma_engines, false, EngineKind::kDma},
    {"dma_bandwidth", kBandwidth, &CommunicationEngine::dma_bandwidth, false, EngineKind::kDma},
    {"sram", kBytes, &CommunicationEngine::sram, false, EngineKind::kAce},
    {"machines", kCount, &CommunicationEngine::machines, false, EngineKind::kAce},
    {"alus", kCount, &CommunicationEngine::alus, false, EngineKind::kAce},
    {"alu_bandwidth", kBandwidth, &CommunicationEngine::alu_bandwidth, false, EngineKind::kAce},
    {"port_buffer", kBytes, &CommunicationEngine::port_buffer},
};

constexpr FigureField<PowerModel> kPowerFields[] = {
    {"idle", kPower, &PowerModel::idle},
    {"limit", kPower, &PowerModel::limit},
    {"per_flop", kPerFlop, &PowerModel::per_flop},
    {"per_memory_byte", kPerByte, &PowerModel::per_memory_byte},
    {"per_link_byte", kPerByte, &PowerModel::per_link_byte},
};

class Collector {
 public:
  void link(const std::string& name, const PlatformLink& link) {
    found_.push_back({name + ".bandwidth", kBandwidth, link.bandwidth});
    found_.push_back({name + ".latency", kTime, link.latency});
  }
  template <class Owner>
  void fields(const std::string& name, const Owner& owner, std::span<const FigureField<Owner>> fields) {
    for (const FigureField<Owner>& field : fields) {
      if (owner.*field.member)
        found_.push_back({fmt::format("{}.{}", name, field.key), field.unit, *(owner.*field.member)});
    }
  }
  void rates(const std::string& name, const EndpointModel& endpoint) {
    for (std::size_t type = 0; type < endpoint.rates.size(); ++type) {
      if (!endpoint.rates[type]) continue;
      found_.push_back(
          {fmt::format("{}.rates.{}", name, name_of(static_cast<DataType>(type))), kRate, *endpoint.rates[type]});
    }
  }
  [[nodiscard]] std::vector<NamedFigure> take() { return std::move(found_); }

 private:
  std::vector<NamedFigure> found_;
};

}  // namespace

std::span<const FigureField<EndpointModel>> endpoint_fields() { return kEndpoint; }
std::span<const FigureField<CommunicationEngine>> engine_fields() { return kEngine; }
std::span<const FigureField<PowerModel>> power_fields() { return kPowerFields; }

std::vector<NamedFigure> figures_of(const Platform& platform) {
  Collector collector;
  for (std::size_t i = 0; i < platform.network.links.size(); ++i) {
    collector.link(fmt::format("network.links.{}", i), platform.network.links[i]);
  }
  if (platform.network.uplink) collector.link("network.uplink", *platform.network.uplink);
  collector.fields("endpoint", platform.endpoint, endpoint_fields());
  collector.rates("endpoint", platform.endpoint);
  for (std::size_t i = 0; i < platform.exceptions.size(); ++i) {
    const std::string name = fmt::format("exceptions.{}", i);
    collector.fields(name, platform.exceptions[i].model, endpoint_fields());
    collector.rates(name, platform.exceptions[i].model);
  }
  for (const CommunicationEngine& engine : platform.engines) {
    collector.fields(fmt::format("engines.{}", engine.name), engine, engine_fields());
  }
  collector.fields("power", platform.power, power_fields());
  return collector.take();
}

}  // namespace hocket
