// fit_network(): latency and bandwidth from measured times of collectives by size: robust least squares of
//     t = a + y / B      y = bytes that a rank's port carries: size times nccl-tests' bus factor
// for each collective and number of ranks (a is a time by itself, B its bus bandwidth), and over all of them at once
//     t = x l + y / B    x = links that one segment crosses after another, for rings on a star: 4 (n - 1) of an
//                        all-reduce, 2 (n - 1) of the others that go round, 2 of an all-to-all
// which makes l and B figures of a link. Errors are relative, so that small sizes count as large ones do; Huber's
// weights, then Tukey's, take outliers out. Every fit is checked on what it has not seen: fitted on every second size,
// tried on the others. Ownership: returns values. Threading: pure functions. Refuses: collectives with fewer than four
// sizes, times that do not grow with size.
#pragma once

#include <span>
#include <vector>

#include "platform/platform.h"

namespace hocket {

struct NetworkSample {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint32_t ranks = 2;
  Bytes size;
  Seconds time;
};

/// Relative errors of a fit on sizes that it has not seen.
struct HeldOut {
  std::size_t samples = 0;
  double median = 0;
  double most = 0;
};

struct CollectiveFit {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint32_t ranks = 2;
  std::size_t samples = 0;
  Seconds alpha;
  BytesPerSecond busbw;
  HeldOut held_out;
};

struct NetworkFit {
  std::vector<CollectiveFit> collectives;  // by kind and ranks
  Seconds latency;                         // of a link
  BytesPerSecond bandwidth;
  std::size_t samples = 0;
  HeldOut held_out;
  std::uint32_t ranks = 2;  // the most of any sample
};

[[nodiscard]] Result<NetworkFit> fit_network(std::span<const NetworkSample> samples);

/// The platform with a star of links as fitted in place of its network. `source` says where the figures come from.
[[nodiscard]] Platform with_network(const Platform& base, const NetworkFit& fit, const std::string& source);

}  // namespace hocket
