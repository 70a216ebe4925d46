// Products of networks: npus on a grid where every line of a dimension is a ring, fully connected or around a switch of
// its own, as ASTRA-sim describes networks. A ring of two is one cable (torus:2 has two parallel ones).
//   ring4xswitch2: two rings of four; npu i of one and npu i of the other hang on switch1.i
// Dimension 0 is innermost: ranks count along it first. Ownership: plain values. Threading: pure functions.
// Refuses: extents below 2, unknown shapes, more than 2^22 npus or 2^24 links.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/family.h"

namespace hocket {

inline constexpr std::size_t kProductDimensionsMax = 16;

enum class ProductShape : std::uint8_t { kRing, kFull, kSwitch };
[[nodiscard]] std::string_view name_of(ProductShape shape);  // "ring", "full", "switch"

struct ProductDimension {
  ProductShape shape = ProductShape::kRing;
  std::uint32_t extent = 2;
  LinkRate link;
};

/// "ring4xswitch2" into shapes and extents; `spec` names the whole for messages. Rates are left alone.
[[nodiscard]] Result<std::vector<ProductDimension>> parse_product(std::string_view words, std::string_view spec);
/// What parse_product() reads back.
[[nodiscard]] std::string product_words(std::span<const ProductDimension> dimensions);
/// Adds npus, switches and cables; `what` names the network for messages.
[[nodiscard]] Result<void> add_product(TopologyBuilder& builder, std::span<const ProductDimension> dimensions,
                                       std::string_view what);

}  // namespace hocket
