// Rates that NCCL and RCCL derive from the attributes of their topology XML, and the inverse for writing.
// The file holds no latencies and no GPU link rates: both come from these tables, and a note says so.
// Threading: pure functions. Refuses nothing: unknown words fall back as NCCL's reader does, and say that they did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace hocket {

inline constexpr Seconds kGpuLinkLatency{600e-9};
inline constexpr Seconds kPcieLatency{250e-9};
inline constexpr BytesPerSecond kLocalBandwidth{5000e9};  // a nic that hangs directly under a cpu

struct PcieSpeed {
  double lane_hundred_mbit = 60;  // x100 Mb/s per lane, NCCL's unit
  bool known = false;             // false: taken as Gen3, which is what NCCL does without saying so
};

/// "16 GT/s", "32.0 GT/s PCIe"; matched by prefix as NCCL does.
[[nodiscard]] PcieSpeed pcie_speed(std::string_view link_speed);
/// Width 0 counts as 16.
[[nodiscard]] BytesPerSecond pcie_bandwidth(const PcieSpeed& speed, std::uint32_t width);

struct PcieAttributes {
  std::string_view link_speed;
  std::uint32_t link_width = 16;
};
/// Attributes that read back as exactly this rate, if there are any.
[[nodiscard]] std::optional<PcieAttributes> pcie_attributes(BytesPerSecond bandwidth);

/// One NVLink by compute capability (sm 60 and up); nothing for older ones.
[[nodiscard]] std::optional<BytesPerSecond> nvlink_bandwidth(std::int64_t sm);
/// One xGMI link by RCCL's gcn attribute ("906", "910", "gfx942"); 24 GB/s for unknown ones.
[[nodiscard]] BytesPerSecond xgmi_bandwidth(std::string_view gcn);

struct CpuIdentity {
  std::string_view arch, vendor;
  std::int64_t family = 0, model = 0;
};
/// Rate between sockets of this kind; nothing when the identity says nothing.
[[nodiscard]] std::optional<BytesPerSecond> socket_bandwidth(const CpuIdentity& cpu);
/// An identity with exactly this rate, if there is one.
[[nodiscard]] std::optional<CpuIdentity> cpu_identity(BytesPerSecond bandwidth);

}  // namespace hocket
