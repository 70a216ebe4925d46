#include "topology/grid.h"

#include <algorithm>
#include <charconv>

namespace hocket {
namespace {

std::vector<std::int32_t> coordinates_of(std::uint64_t index, const std::vector<std::uint32_t>& extents) {
  std::vector<std::int32_t> at;
  for (const std::uint32_t extent : extents) {
    at.push_back(static_cast<std::int32_t>(index % extent));
    index /= extent;
  }
  return at;
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_extents(std::string_view text, char separator, std::string_view spec) {
  std::vector<std::uint32_t> extents;
  std::uint64_t product = 1;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || stop != word.data() + word.size() || value == 0) {
      return fail(Code::kInvalidArgument, "topology '{}': '{}' is not a positive whole number", spec, word);
    }
    extents.push_back(value);
    product *= value;
    if (product > kNpusMax) return fail(Code::kInvalidArgument, "topology '{}' has more than {} npus", spec, kNpusMax);
    begin = end + 1;
  }
  return extents;
}

Result<std::vector<std::uint32_t>> parse_sizes(const FamilyRequest& request, std::size_t least, std::size_t most) {
  if (request.arguments.empty()) {
    return fail(Code::kInvalidArgument, "topology '{}' lacks its size: write {}:NUMBER{}", request.spec,
                request.spec.substr(0, request.spec.find(':')), least > 1 ? "xNUMBER..." : "");
  }
  HOCKET_TRY_ASSIGN(std::vector<std::uint32_t> sizes, parse_extents(request.arguments, 'x', request.spec));
  if (sizes.size() < least || sizes.size() > most) {
    return fail(Code::kInvalidArgument, "topology '{}' takes {} number{} joined by x, got {}", request.spec,
                least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most), most == 1 ? "" : "s",
                sizes.size());
  }
  return sizes;
}

void add_npus(TopologyBuilder& builder, const std::vector<std::uint32_t>& extents) {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : extents) count *= extent;
  for (std::uint64_t i = 0; i < count; ++i) {
    builder.add_vertex(fmt::format("{}", i), VertexKind::kNpu, coordinates_of(i, extents));
  }
  builder.set_extents(extents);
}

VertexId add_switches(TopologyBuilder& builder, std::string_view prefix, std::uint32_t count) {
  const VertexId first = static_cast<VertexId>(builder.vertex_count());
  for (std::uint32_t i = 0; i < count; ++i) builder.add_vertex(fmt::format("{}{}", prefix, i), VertexKind::kSwitch);
  return first;
}

Result<Topology> build_grid(const FamilyRequest& request, std::string_view family, bool wrap) {
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> extents, parse_extents(request.arguments, 'x', request.spec));
  TopologyBuilder builder{std::string(request.spec), std::string(family)};
  std::uint64_t count = 1;
  for (const std::uint32_t extent : extents) count *= extent;
  if (2 * count * extents.size() > kLinksMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} links", request.spec, kLinksMax);
  }
  add_npus(builder, extents);
  std::uint64_t stride = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const LinkRate& rate = request.links[std::min(d, request.links.size() - 1)];
    for (std::uint64_t i = 0; i < count && extents[d] > 1; ++i) {
      const std::uint64_t at = i / stride % extents[d];
      const bool last = at + 1 == extents[d];
      if (last && !wrap) continue;
      const std::uint64_t next = last ? i - at * stride : i + stride;
      builder.add_cable(static_cast<VertexId>(i), static_cast<VertexId>(next), rate.bandwidth, rate.latency);
    }
    stride *= extents[d];
  }
  return std::move(builder).build();
}

}  // namespace hocket
