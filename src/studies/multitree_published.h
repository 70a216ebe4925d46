// The figures that MultiTree's reproduction is measured by: bandwidths of the authors' simulator, data over total time,
// run anew with their program (the paper shows them in plots only). 0: not run. Threading: constants.
// Refuses: nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hocket {

/// GB/s of one network and size.
struct MultitreePublished {
  std::string_view network;
  std::int64_t bytes = 0;
  double ring = 0;
  double dbtree = 0;
  std::string_view prior;  // the best earlier scheme beside ring: "2d-ring" or "hdrm"
  double prior_rate = 0;
  double packet = 0;   // MultiTree
  double message = 0;  // MultiTree
};

inline constexpr std::int64_t kKiB = 1024;

inline constexpr std::array<MultitreePublished, 10> kMultitreePublished{{
    {"torus:4x4", 32 * kKiB, 3.51, 3.22, "2d-ring", 5.59, 9.34, 10.01},
    {"torus:4x4", 128 * kKiB, 5.88, 4.45, "2d-ring", 7.75, 11.81, 13.52},
    {"torus:4x4", 512 * kKiB, 7.07, 4.51, "2d-ring", 14.33, 13.99, 16.96},
    {"torus:4x4", 2048 * kKiB, 7.45, 4.10, "2d-ring", 15.32, 20.63, 22.30},
    {"mesh:4x4", 32 * kKiB, 3.51, 0, "2d-ring", 4.10, 6.10, 6.17},
    {"mesh:4x4", 128 * kKiB, 5.88, 0, "2d-ring", 5.15, 7.46, 8.30},
    {"mesh:4x4", 512 * kKiB, 7.07, 0, "2d-ring", 6.91, 8.51, 9.89},
    {"bigraph:4x8", 32 * kKiB, 0.98, 0, "hdrm", 3.54, 6.12, 6.39},
    {"bigraph:4x8", 128 * kKiB, 2.81, 0, "hdrm", 5.79, 7.29, 7.68},
    {"bigraph:4x8", 512 * kKiB, 5.23, 0, "hdrm", 6.88, 7.64, 8.10},
}};

/// Steps of an all-gather; an all-reduce has twice as many.
struct MultitreeSteps {
  std::string_view network;
  std::uint32_t steps = 0;
  bool at_most = false;  // the authors' construction takes more; this is what rotating the first root reaches
};

inline constexpr std::array<MultitreeSteps, 8> kMultitreeSteps{{
    {"torus:4x4", 5},
    {"torus:8x8", 17},
    {"mesh:4x4", 8, true},
    {"mesh:8x8", 32, true},
    {"bigraph:4x8", 31},
    {"bigraph:4x16", 63},
    {"fattree:4x4", 15},
    {"fattree:8x8", 63},
}};

}  // namespace hocket
