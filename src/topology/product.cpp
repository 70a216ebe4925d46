#include "topology/product.h"

#include <array>
#include <charconv>
#include <optional>

#include "topology/grid.h"

namespace hocket {
namespace {

constexpr std::array kShapes{ProductShape::kRing, ProductShape::kFull, ProductShape::kSwitch};

Result<ProductDimension> parse_dimension(std::string_view word, std::string_view spec) {
  for (const ProductShape shape : kShapes) {
    if (!word.starts_with(name_of(shape))) continue;
    const std::string_view number = word.substr(name_of(shape).size());
    std::uint32_t extent = 0;
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), extent);
    if (error != std::errc{} || stop != number.data() + number.size() || extent < 2) break;
    return ProductDimension{.shape = shape, .extent = extent};
  }
  return fail(Code::kInvalidArgument, "topology '{}': '{}' is none of ringN, fullN, switchN with N of 2 or more", spec,
              word.substr(0, 80));
}

std::uint64_t links_of_npu(const ProductDimension& d) { return d.shape == ProductShape::kFull ? d.extent - 1 : 2; }

/// The npus first, first + stride, ...: one line of a dimension. `hub` is its switch, where it has one.
void add_line(TopologyBuilder& builder, const ProductDimension& d, VertexId first, std::uint32_t stride,
              std::optional<VertexId> hub) {
  const auto join = [&](VertexId a, VertexId b) { builder.add_cable(a, b, d.link.bandwidth, d.link.latency); };
  for (std::uint32_t i = 0; i < d.extent; ++i) {
    const VertexId member = first + i * stride;
    if (hub) {
      join(member, *hub);
    } else if (d.shape == ProductShape::kFull) {
      for (std::uint32_t j = 0; j < i; ++j) join(first + j * stride, member);
    } else if (d.extent > 2 || i == 0) {
      join(member, first + (i + 1) % d.extent * stride);
    }
  }
}

}  // namespace

std::string_view name_of(ProductShape shape) {
  constexpr std::array<std::string_view, 3> kNames{"ring", "full", "switch"};
  return kNames[static_cast<std::size_t>(shape)];
}

Result<std::vector<ProductDimension>> parse_product(std::string_view words, std::string_view spec) {
  std::vector<ProductDimension> dimensions;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find('x', begin), words.size());
    HOCKET_TRY_ASSIGN(const ProductDimension dimension, parse_dimension(words.substr(begin, end - begin), spec));
    dimensions.push_back(dimension);
    if (dimensions.size() > kProductDimensionsMax)
      return fail(Code::kInvalidArgument, "topology '{}' has more than {} dimensions", spec, kProductDimensionsMax);
    begin = end + 1;
  }
  return dimensions;
}

std::string product_words(std::span<const ProductDimension> dimensions) {
  std::string words;
  for (const ProductDimension& d : dimensions)
    words += fmt::format("{}{}{}", words.empty() ? "" : "x", name_of(d.shape), d.extent);
  return words;
}

Result<void> add_product(TopologyBuilder& builder, std::span<const ProductDimension> dimensions,
                         std::string_view what) {
  std::vector<std::uint32_t> extents;
  extents.reserve(dimensions.size());
  std::uint64_t npus = 1, links_per_npu = 0;
  for (const ProductDimension& d : dimensions) {
    extents.push_back(d.extent);
    npus *= d.extent;
    links_per_npu += links_of_npu(d);
    if (npus <= kNpusMax && npus * links_per_npu <= kLinksMax) continue;
    return fail(Code::kResourceExhausted, "{} has more than {} npus or {} links", what, kNpusMax, kLinksMax);
  }
  add_npus(builder, extents);
  std::uint32_t stride = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const ProductDimension& d = dimensions[i];
    std::uint32_t lines = 0;
    for (VertexId first = 0; first < npus; ++first) {
      if (first / stride % d.extent != 0) continue;
      std::optional<VertexId> hub;
      if (d.shape == ProductShape::kSwitch)
        hub = builder.add_vertex(fmt::format("switch{}.{}", i, lines), VertexKind::kSwitch);
      ++lines;
      add_line(builder, d, first, stride, hub);
    }
    stride *= d.extent;
  }
  return {};
}

}  // namespace hocket
