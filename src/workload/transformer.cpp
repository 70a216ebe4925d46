#include "workload/transformer.h"

namespace hocket {

std::vector<ModelLayer> transformer_layers(const TransformerShape& shape, double tokens) {
  const double h = shape.hidden;
  std::vector<ModelLayer> layers;
  layers.push_back({"words", 0, shape.words * h, 0, h * tokens});
  for (int i = 1; i <= shape.layers; ++i) {
    const auto name = [i](std::string_view part) { return fmt::format("block {} {}", i, part); };
    layers.push_back(fully_connected(name("query key value"), h, 3 * h, tokens));
    layers.back().kept = h * tokens;  // the input of the norm before it
    // Scores and their use: tokens x tokens x hidden each; fused, so that no score goes to memory.
    layers.push_back({name("attention"), 2 * tokens * tokens * h, 0, 3 * h * tokens, h * tokens});
    layers.push_back(fully_connected(name("projection"), h, h, tokens));
    layers.push_back(fully_connected(name("up"), h, (shape.gated ? 2 : 1) * shape.inner, tokens));
    layers.back().kept = h * tokens + layers.back().output;  // input of the norm, inputs of the non-linearity
    layers.push_back(fully_connected(name("down"), shape.inner, h, tokens));
  }
  ModelLayer head = fully_connected("head", h, shape.words, tokens);
  head.owns_weights = !shape.ties_words;
  head.kept = head.output;  // what the loss is made of
  layers.push_back(head);
  return layers;
}

}  // namespace hocket
