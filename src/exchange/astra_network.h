// ASTRA-sim's analytical network YAML: lists of equal length, one entry per dimension, dimension 0 innermost.
//   topology: [ Ring, Switch ]   npus_count: [ 4, 2 ]   bandwidth: [ 50.0, 25.0 ]   latency: [ 500, 700 ]
// What its "GB/s" means is GiB/s (2^30); latencies are ns, of every hop. Read once, for the topology and for platforms.
// Ownership: the result owns all it holds. Threading: pure functions. Refuses: lists of unequal length (both lengths),
// unknown shapes, counts below 2, rates and latencies that are none; errors carry line and column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exchange/loss.h"
#include "topology/product.h"

namespace hocket {

struct AstraNetwork {
  std::vector<ProductDimension> dimensions;
  LossReport losses;
};

/// True for text with the keys of such a file, and none of ours.
[[nodiscard]] bool looks_like_astra_network(std::string_view text);
[[nodiscard]] Result<AstraNetwork> read_astra_network(std::string_view text, std::string_view file_name);

}  // namespace hocket
