#include "platform/variants.h"

#include <charconv>

namespace hocket {
namespace {

constexpr double kClock = 1245e6;
constexpr std::string_view kPaper = "Rashidi et al., ISCA 2021, as recalled";
constexpr std::uint32_t kNpusMaxOfPreset = 1U << 16;

}  // namespace

CommunicationEngine ace_engine(const Figure& memory_bandwidth) {
  return {
      .name = "ace",
      .kind = EngineKind::kAce,
      .charge = MemoryCharge::kReads,
      .order = CollectiveOrder::kLifo,
      .memory_bandwidth = memory_bandwidth,
      .chunk = cited(64 << 10, kPaper),
      .message = cited(8 << 10, kPaper),
      .sram = cited(4 << 20, kPaper),
      .machines = cited(16, kPaper),
      .alus = cited(4, "Rashidi et al., ISCA 2021: the area table closes with four"),
      .alu_bandwidth = cited(64 * kClock, "Rashidi et al., ISCA 2021, as recalled: 64 B a cycle at 1245 MHz"),
  };
}

CommunicationEngine unit_engine(std::string_view name, const Figure& units) {
  return {.name = std::string(name), .kind = EngineKind::kComputeUnits, .units = units};
}

CommunicationEngine dma_engine() { return {.name = "dma", .kind = EngineKind::kDma}; }

CommunicationEngine ideal_engine() { return {.name = "ideal", .kind = EngineKind::kIdeal}; }

Result<std::uint32_t> parse_npus(std::string_view arguments, std::uint32_t otherwise, std::string_view grammar) {
  if (arguments.empty()) return otherwise;
  std::uint32_t npus = 0;
  const auto [end, error] = std::from_chars(arguments.data(), arguments.data() + arguments.size(), npus);
  if (error == std::errc{} && end == arguments.data() + arguments.size() && npus >= 1 && npus <= kNpusMaxOfPreset)
    return npus;
  return fail(Code::kInvalidArgument, "platform {}: '{}' is not a number of npus from 1 to {}", grammar, arguments,
              kNpusMaxOfPreset);
}

}  // namespace hocket
