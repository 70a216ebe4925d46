// Transformer blocks from their widths: projections, attention over the sequence, a feed-forward part (with a gate in
// LLaMA's form), and tables of words at the ends.
// Ownership: returns values. Threading: pure function. Refuses: nothing.
#pragma once

#include "workload/layers.h"

namespace hocket {

struct TransformerShape {
  int layers = 0;
  double hidden = 0;
  double inner = 0;  // of the feed-forward part
  double words = 0;
  bool gated = false;       // three matrices in the feed-forward part instead of two
  bool ties_words = false;  // the last layer uses the table of the first
};

[[nodiscard]] std::vector<ModelLayer> transformer_layers(const TransformerShape& shape, double tokens);

}  // namespace hocket
