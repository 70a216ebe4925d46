// What other synthesizers reach, as run by us with their programs on a machine of the same kind: 1 GiB, links of 50
// GB/s and 500 ns where not said otherwise. Shares are % of the bound, times microseconds or seconds of one processor.
// Threading: constants. Refuses: nothing.
#pragma once

#include <array>
#include <string_view>

namespace hocket {

/// Links of a network where they are not 50 GB/s each.
enum class SynthesisRates { kEven, kTwoToOne, kFourToOne, kFourTwoOne, kQuarter, kBoxes };

/// All-gather: share of the cut bound and processor time of TACOS (best number of chunks); ForestColl where TACOS
/// cannot read the network. 0: not run, or not known.
struct SynthesisGather {
  std::string_view network;
  SynthesisRates rates = SynthesisRates::kEven;
  std::string_view algorithm;  // ours
  double bound_us = 0;
  double tacos = 0;
  double tacos_cpu_s = 0;
  double forestcoll = 0;
  double forestcoll_cpu_s = 0;
  unsigned dead_cables = 0;
};

inline constexpr std::array kSynthesisGathers{
    SynthesisGather{"torus:4x4", SynthesisRates::kEven, "packed_trees", 5033, 96.5, 0.005, 100, 0.7},
    SynthesisGather{"torus:8x8", SynthesisRates::kEven, "packed_trees", 5285, 98.0, 0.66, 100, 67},
    SynthesisGather{"torus:16x16", SynthesisRates::kEven, "packed_trees", 5348, 97.5, 0.98},
    SynthesisGather{"torus:24x24", SynthesisRates::kEven, "packed_trees", 5359, 97.2, 10.5},
    SynthesisGather{"torus:32x32", SynthesisRates::kEven, "packed_trees", 5363, 96.4, 89.1},
    SynthesisGather{"mesh:4x4", SynthesisRates::kEven, "packed_trees", 10066, 99.9, 0.003, 100, 0.3},
    SynthesisGather{"mesh:8x8", SynthesisRates::kEven, "packed_trees", 10570, 99.4, 0.22, 98.4, 16},
    SynthesisGather{"mesh:16x16", SynthesisRates::kEven, "packed_trees", 10695, 99.0, 1.3},
    SynthesisGather{"mesh:32x32", SynthesisRates::kEven, "multitree", 10727, 97.6, 113.6},
    SynthesisGather{"torus:4x4x4", SynthesisRates::kEven, "packed_trees", 3523, 97.7, 0.38},
    SynthesisGather{"torus:8x8x8", SynthesisRates::kEven, "packed_trees", 3572, 97.9, 6.2},
    SynthesisGather{"hypercube:4", SynthesisRates::kEven, "packed_trees", 5033, 99.9, 0.002, 100, 0.5},
    SynthesisGather{"hypercube:6", SynthesisRates::kEven, "packed_trees", 3523, 97.7, 0.41},
    SynthesisGather{"hypercube:8", SynthesisRates::kEven, "packed_trees", 2674, 99.0, 0.60},
    SynthesisGather{"hypercube:10", SynthesisRates::kEven, "packed_trees", 2145, 97.0, 43.1},
    SynthesisGather{"torus:8x8", SynthesisRates::kTwoToOne, "packed_trees", 3523, 97.7, 1.2},
    SynthesisGather{"torus:16x16", SynthesisRates::kTwoToOne, "packed_trees", 3565, 97.1, 1.9},
    SynthesisGather{"torus:16x8", SynthesisRates::kFourToOne, "packed_trees", 2131, 94.7, 3.2},
    SynthesisGather{"torus:4x4x8", SynthesisRates::kFourTwoOne, "packed_trees", 1522, 94.5, 3.8},
    SynthesisGather{"mesh:8x8", SynthesisRates::kTwoToOne, "packed_trees", 7046, 99.7, 0.07},
    SynthesisGather{"mesh:16x16", SynthesisRates::kTwoToOne, "packed_trees", 7130, 98.8, 15.7},
    SynthesisGather{"torus:4x4", SynthesisRates::kEven, "packed_trees", 6711, 100, 0.0005, 100, 0, 1},
    SynthesisGather{"torus:8x8", SynthesisRates::kEven, "packed_trees", 7046, 99.9, 0.008, 0, 0, 2},
    SynthesisGather{"torus:16x16", SynthesisRates::kEven, "packed_trees", 7130, 99.4, 1.2, 0, 0, 8},
    SynthesisGather{"random:16,4,1", SynthesisRates::kEven, "packed_trees", 5033, 99.9, 0.002, 100, 0},
    SynthesisGather{"random:64,4,1", SynthesisRates::kEven, "packed_trees", 5285, 99.4, 0.12},
    SynthesisGather{"random:256,4,1", SynthesisRates::kEven, "packed_trees", 5348, 99.0, 1.7},
    SynthesisGather{"dgx1", SynthesisRates::kQuarter, "packed_trees", 6263, 93.3, 0.001, 100, 0.07},
    SynthesisGather{"fattree:8x8", SynthesisRates::kEven, "packed_trees", 21139},
    SynthesisGather{"fattree:8x8x4", SynthesisRates::kEven, "packed_trees", 21139},
    SynthesisGather{"bigraph:4x8", SynthesisRates::kEven, "packed_trees", 20804, 0, 0, 100, 17},
    SynthesisGather{"boxes:2x8", SynthesisRates::kBoxes, "multitree", 3097, 0, 0, 100, 4.1},
    SynthesisGather{"boxes:4x8", SynthesisRates::kBoxes, "multitree", 4027, 0, 0, 100, 19},
    SynthesisGather{"boxes:16x8", SynthesisRates::kBoxes, "multitree", 5033},
    SynthesisGather{"boxes:64x8", SynthesisRates::kBoxes, "multitree", 5285},
};

/// All-reduce: the bound, twice TACOS's all-gather, and our own first prototype of packed trees (replay of link
/// events).
struct SynthesisReduce {
  std::string_view network;
  SynthesisRates rates = SynthesisRates::kEven;
  double bound_us = 0;
  double twice_tacos_us = 0;
  double prototype = 0;  // % of the bound
  unsigned dead_cables = 0;
};

inline constexpr std::array kSynthesisReduces{
    SynthesisReduce{"mesh:4x4", SynthesisRates::kEven, 13422, 20163, 95.8},
    SynthesisReduce{"mesh:8x8", SynthesisRates::kEven, 12080, 21265, 96.8},
    SynthesisReduce{"mesh:16x16", SynthesisRates::kEven, 11409, 21603, 96.4},
    SynthesisReduce{"mesh:32x32", SynthesisRates::kEven, 11073, 21987, 91.9},
    SynthesisReduce{"mesh:16x16", SynthesisRates::kTwoToOne, 7606, 14431, 95.6},
    SynthesisReduce{"mesh:4x4x4", SynthesisRates::kEven, 9395, 14114, 96.6},
    SynthesisReduce{"torus:16x16", SynthesisRates::kEven, 10865, 14346, 98.3, 8},
    SynthesisReduce{"torus:32x32", SynthesisRates::kEven, 10897, 21987, 94.9, 32},
    SynthesisReduce{"torus:16x16", SynthesisRates::kEven, 10695, 10970, 98.4},
    SynthesisReduce{"torus:32x32", SynthesisRates::kEven, 10727, 11122, 94.8},
    SynthesisReduce{"hypercube:8", SynthesisRates::kEven, 5348, 5401, 97.1},
};

}  // namespace hocket
