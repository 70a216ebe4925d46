#include "exchange/nccl_rates.h"

#include <array>
#include <utility>

namespace hocket {
namespace {

// NCCL's table; the first entry that is a prefix of the text counts.
constexpr std::array<std::pair<std::string_view, double>, 11> kSpeeds{{{"2.5 GT/s", 15},
                                                                       {"5 GT/s", 30},
                                                                       {"8 GT/s", 60},
                                                                       {"16 GT/s", 120},
                                                                       {"32 GT/s", 240},
                                                                       {"2.5 GT/s PCIe", 15},
                                                                       {"5.0 GT/s PCIe", 30},
                                                                       {"8.0 GT/s PCIe", 60},
                                                                       {"16.0 GT/s PCIe", 120},
                                                                       {"32.0 GT/s PCIe", 240},
                                                                       {"64.0 GT/s PCIe", 480}}};

constexpr std::array kIdentities{
    CpuIdentity{"x86_64", "GenuineIntel", 6, 85},  CpuIdentity{"x86_64", "AuthenticAMD", 23, 49},
    CpuIdentity{"x86_64", "GenuineIntel", 6, 143}, CpuIdentity{"x86_64", "GenuineIntel", 6, 207},
    CpuIdentity{"x86_64", "GenuineIntel", 6, 79},  CpuIdentity{"ppc64", "", 0, 0}};

}  // namespace

PcieSpeed pcie_speed(std::string_view link_speed) {
  for (const auto& [text, rate] : kSpeeds) {
    if (link_speed.starts_with(text)) return {rate, true};
  }
  return {};
}

BytesPerSecond pcie_bandwidth(const PcieSpeed& speed, std::uint32_t width) {
  return {(width == 0 ? 16 : width) * speed.lane_hundred_mbit / 80 * 1e9};
}

std::optional<PcieAttributes> pcie_attributes(BytesPerSecond bandwidth) {
  for (const std::uint32_t preferred : {16U, 8U, 4U, 2U, 1U, 32U, 12U}) {
    for (const auto& [text, rate] : kSpeeds) {
      if (pcie_bandwidth({rate, true}, preferred) == bandwidth) return PcieAttributes{text, preferred};
    }
  }
  return std::nullopt;
}

std::optional<BytesPerSecond> nvlink_bandwidth(std::int64_t sm) {
  if (sm >= 100) return BytesPerSecond{40.1e9};
  if (sm >= 90) return BytesPerSecond{20.6e9};
  if (sm == 86) return BytesPerSecond{12e9};
  if (sm >= 70) return BytesPerSecond{20e9};
  if (sm >= 60) return BytesPerSecond{18e9};
  return std::nullopt;
}

BytesPerSecond xgmi_bandwidth(std::string_view gcn) {
  if (gcn.starts_with("gfx")) gcn.remove_prefix(3);
  if (gcn.starts_with("94") || gcn.starts_with("95")) return {48e9};
  if (gcn == "910" || gcn == "90a") return {36e9};
  return {24e9};
}

std::optional<BytesPerSecond> socket_bandwidth(const CpuIdentity& cpu) {
  if (cpu.arch == "ppc64") return BytesPerSecond{32e9};
  if (cpu.arch == "arm64") return BytesPerSecond{6e9};
  if (cpu.vendor == "AuthenticAMD") return BytesPerSecond{16e9};
  if (cpu.vendor != "GenuineIntel") return std::nullopt;
  if (cpu.family == 6 && cpu.model >= 207) return BytesPerSecond{40e9};
  if (cpu.family == 6 && cpu.model >= 143) return BytesPerSecond{22e9};
  if (cpu.family == 6 && cpu.model >= 85) return BytesPerSecond{10e9};
  return BytesPerSecond{6e9};
}

std::optional<CpuIdentity> cpu_identity(BytesPerSecond bandwidth) {
  for (const CpuIdentity& cpu : kIdentities) {
    if (socket_bandwidth(cpu) == bandwidth) return cpu;
  }
  return std::nullopt;
}

}  // namespace hocket
