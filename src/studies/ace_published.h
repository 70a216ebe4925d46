// Figures of ACE (Rashidi et al., ISCA 2021) that `hocket reproduce ace` sets beside ours. The abstract's are read; the
// others are recalled of the paper's body, which was not available, and close arithmetically where that is said.
// Ownership: constants. Threading: constants. Refuses: nothing.
#pragma once

#include <string_view>

namespace hocket {

struct AceShape {
  std::string_view words;
  double sent_per_byte;  // arithmetic of the four phases
  double read_ratio;     // 1.5 times that
};
inline constexpr AceShape kAceShapes[] = {
    {"4x2x2", 2.0, 3.0}, {"4x4x2", 2.125, 3.1875}, {"4x4x4", 2.25, 3.375}, {"4x8x4", 2.3125, 3.46875}};

/// What the first-order model allows on 4x4x4: the least of links, units and memory.
struct AceDrive {
  std::string_view endpoint;
  double rate;  // B/s
};
inline constexpr AceDrive kAceDrives[] = {{"comm_opt", 300e9}, {"comp_opt", 85.3e9}, {"ace", 288e9}, {"ideal", 300e9}};

struct AceGain {
  std::string_view model;
  double average, most;
};
inline constexpr AceGain kAceGains[] = {{"resnet50", 1.41, 1.51}, {"gnmt", 1.12, 1.17}, {"dlrm", 1.13, 1.19}};

/// Effective use of the network, ACE over the baselines; the abstract does not say how they are averaged.
inline constexpr double kAceUtilisationAverage = 1.44;
inline constexpr double kAceUtilisationMost = 2.67;

/// DLRM with the next step's lookup and the last one's update in the background, on 128 npus, as recalled.
struct AceBackground {
  std::string_view endpoint;
  double gain;
};
inline constexpr AceBackground kAceBackground[] = {{"comp_opt", 1.05}, {"ace", 1.2}};
inline constexpr double kAceBackgroundUnits = 1;
inline constexpr double kAceBackgroundMemory = 80e9;

struct AcePart {
  std::string_view name;
  double count, area_um2, power_mw;
};
inline constexpr AcePart kAceParts[] = {{"ALU", 4, 16112, 7.552},
                                        {"control unit", 1, 159803, 128},
                                        {"SRAM, 4 x 1 MB", 1, 5113696, 4096},
                                        {"switch and interconnect", 1, 1084, 0.329}};

/// Compute of ResNet-50 in the public layer table (ASTRA-sim 1.0, 1 cycle = 1 ns), per pass; for another npu.
inline constexpr double kResnetTableSeconds[] = {380038e-9, 377463e-9, 337813e-9};

}  // namespace hocket
