#include "workload/transformer.h"

namespace hocket {
namespace {

/// Appends the layers of one block after another.
class Blocks {
 public:
  Blocks(const TransformerShape& shape, double tokens, std::vector<ModelLayer>& layers)
      : shape_(shape), tokens_(tokens), layers_(layers) {}

  void add(std::uint32_t block) {
    block_ = block;
    attend();
    if (shape_.experts == 0) {
      feed_forward("", 0, tokens_);
      return;
    }
    add(fully_connected(name("router"), shape_.hidden, shape_.experts, tokens_), TensorSplit::kNone, 0);
    feed_forward("experts ", shape_.experts, shape_.taken * tokens_);
  }

 private:
  [[nodiscard]] std::string name(std::string_view part) const { return fmt::format("block {} {}", block_, part); }

  ModelLayer& add(ModelLayer layer, TensorSplit split, std::uint32_t cut_width) {
    layer.split = split;
    layer.cut_width = cut_width;
    layer.block = block_;
    layers_.push_back(std::move(layer));
    return layers_.back();
  }

  void attend() {
    const double h = shape_.hidden;
    const double key_value = shape_.key_value > 0 ? shape_.key_value : h;
    const std::uint32_t whole_heads = static_cast<std::uint32_t>(key_value * shape_.heads / h);
    add(fully_connected(name("query key value"), h, h + 2 * key_value, tokens_), TensorSplit::kColumn, whole_heads)
        .kept_whole = h * tokens_;  // the input of the norm before it
    // Scores and their use: tokens x tokens x hidden each; fused, so that no score goes to memory.
    add({name("attention"), 2 * tokens_ * tokens_ * h, 0, (h + 2 * key_value) * tokens_, h * tokens_},
        TensorSplit::kInside, whole_heads);
    add(fully_connected(name("projection"), h, h, tokens_), TensorSplit::kRow, whole_heads);
  }

  /// `rows`: tokens, each as often as experts take it.
  void feed_forward(std::string_view who, std::uint32_t experts, double rows) {
    const double h = shape_.hidden;
    const double copies = experts > 0 ? experts : 1;
    const auto columns = static_cast<std::uint32_t>(shape_.inner);
    ModelLayer& up =
        add(fully_connected(name(fmt::format("{}up", who)), h, (shape_.gated ? 2 : 1) * shape_.inner, rows),
            TensorSplit::kColumn, columns);
    up.kept = up.output;          // inputs of the non-linearity
    up.kept_whole = h * tokens_;  // the input of the norm before it
    up.weights *= copies;
    up.experts = experts;
    ModelLayer& down =
        add(fully_connected(name(fmt::format("{}down", who)), shape_.inner, h, rows), TensorSplit::kRow, columns);
    down.weights *= copies;
    down.experts = experts;
  }

  const TransformerShape& shape_;
  double tokens_;
  std::vector<ModelLayer>& layers_;
  std::uint32_t block_ = 0;
};

}  // namespace

std::vector<ModelLayer> transformer_layers(const TransformerShape& shape, double tokens) {
  const double h = shape.hidden;
  std::vector<ModelLayer> layers;
  layers.push_back({"words", 0, shape.words * h, 0, h * tokens});
  layers.back().split = TensorSplit::kRow;  // each part looks up the words that it has
  Blocks blocks(shape, tokens, layers);
  for (std::uint32_t i = 1; i <= shape.layers; ++i) blocks.add(i);
  ModelLayer head = fully_connected("head", h, shape.words, tokens);
  head.split = TensorSplit::kColumn;
  head.owns_weights = !shape.ties_words;
  head.kept = head.output;  // what the loss is made of
  layers.push_back(head);
  return layers;
}

}  // namespace hocket
