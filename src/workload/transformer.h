// Transformer blocks from their widths: projections, attention over the sequence, a feed-forward part (with a gate in
// LLaMA's form; as experts of which each token takes some, Lepikhin et al., arXiv 2006.16668), and tables of words at
// the ends. Layers say how tensor parallelism cuts them: as Megatron does (Shoeybi et al., arXiv 1909.08053).
// Ownership: returns values. Threading: pure function. Refuses: nothing. Tokens are taken to be spread evenly over
// experts.
#pragma once

#include "workload/layers.h"

namespace hocket {

struct TransformerShape {
  std::uint32_t layers = 0;
  double hidden = 0;
  std::uint32_t heads = 1;
  double key_value = 0;  // width of keys and of values; 0: hidden
  double inner = 0;      // of the feed-forward part
  double words = 0;
  bool gated = false;       // three matrices in the feed-forward part instead of two
  bool ties_words = false;  // the last layer uses the table of the first
  std::uint32_t experts = 0;
  std::uint32_t taken = 1;  // experts of a token
};

[[nodiscard]] std::vector<ModelLayer> transformer_layers(const TransformerShape& shape, double tokens);

}  // namespace hocket
