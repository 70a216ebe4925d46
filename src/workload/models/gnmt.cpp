// GNMT (Wu et al., 2016): eight layers of LSTM cells of 1024 units on each side, the first encoder layer both ways,
// attention over the encoder's last layer, 32,000 word pieces. The attention's own products over positions are left
// out.
#include "workload/layers.h"

namespace hocket {
namespace {

constexpr double kUnits = 1024;
constexpr double kWords = 32000;
constexpr int kDepth = 8;

/// Four gates, each over input and state.
ModelLayer cell(std::string name, double in, double tokens) {
  const double weights = 4 * kUnits * (in + kUnits);
  return {std::move(name),    weights * tokens, weights, (in + kUnits) * tokens, kUnits * tokens, true,
          5 * kUnits * tokens};  // gates and state
}

/// A table of vectors, of which a token reads one: its gradient is as large as the table.
ModelLayer embedding(std::string name, double tokens) {
  return {std::move(name), 0, kWords * kUnits, 0, kUnits * tokens};
}

std::vector<ModelLayer> layers(const ModelRequest& request) {
  const double tokens = request.sequence;
  std::vector<ModelLayer> all;
  all.push_back(embedding("source words", tokens));
  all.push_back(cell("encoder 1 forwards", kUnits, tokens));
  all.push_back(cell("encoder 1 backwards", kUnits, tokens));
  for (int i = 2; i <= kDepth; ++i)
    all.push_back(cell(fmt::format("encoder {}", i), i == 2 ? 2 * kUnits : kUnits, tokens));
  all.push_back(embedding("target words", tokens));
  for (int i = 1; i <= kDepth; ++i) all.push_back(cell(fmt::format("decoder {}", i), 2 * kUnits, tokens));
  all.push_back(fully_connected("attention", kUnits, kUnits, 2 * tokens));
  all.push_back(fully_connected("softmax", kUnits, kWords, tokens));
  return all;
}

}  // namespace

extern const WorkloadModel workload_gnmt{
    .name = "gnmt",
    .description = "GNMT with eight layers a side",
    .source = "Wu et al., arXiv 1609.08144; 50 tokens a sentence are assumed",
    .batch = 128,
    .sequence = 50,
    .layers = layers,
};

}  // namespace hocket
