// ASTRA-sim's analytical network: lists of equal length, dimension 0 innermost.
//   topology: [ Ring, Switch ]   npus_count: [ 4, 2 ]   bandwidth: [ 50.0, 25.0 ]   latency: [ 500, 700 ]
// What its "GB/s" means is GiB/s (2^30); latencies are ns. Every link has the bandwidth given, each way; a Switch adds
// one switch per line of the dimension, with the latency on both of its hops. Ranks count dimension 0 fastest.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "exchange/topology_format.h"
#include "exchange/yaml_text.h"
#include "topology/grid.h"

namespace hocket {
namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;
constexpr std::size_t kDimensionsMax = 16;
constexpr std::size_t kAstraTextMax = std::size_t{1} << 20;
constexpr std::array<std::string_view, 4> kKeys{"topology", "npus_count", "bandwidth", "latency"};

enum class Shape { kRing, kFullyConnected, kSwitch };

struct Dimension {
  Shape shape = Shape::kRing;
  std::uint32_t extent = 2;
  BytesPerSecond bandwidth;
  Seconds latency;
};

class AstraReader {
 public:
  AstraReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<ReadTopology> read() {
    if (text_.size() > kAstraTextMax) {
      return fail(Code::kResourceExhausted, "{}: more than {} bytes for a network description", file_name_,
                  kAstraTextMax);
    }
    HOCKET_TRY_ASSIGN(YAML::Node parsed, parse_yaml_map(text_, file_name_));
    root_.reset(parsed);
    HOCKET_TRY(read_dimensions());
    for (const auto& entry : root()) {
      const std::string key = entry.first.Scalar();
      if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) continue;
      losses_.ignored(yaml_place(entry.first, "line"), fmt::format("key '{}'", key.substr(0, 80)),
                      "not part of an analytical network");
    }
    return build();
  }

 private:
  /// Const, so that looking for a key does not add it.
  [[nodiscard]] const YAML::Node& root() const { return root_; }

  Result<std::vector<YAML::Node>> list(std::string_view key) {
    const YAML::Node value = root()[std::string(key)];
    if (!value) return fail(Code::kMalformed, "{}: key '{}' is missing", file_name_, key);
    std::vector<YAML::Node> entries;
    if (value.IsScalar()) {
      losses_.repaired(yaml_place(value, "line"), fmt::format("single value of '{}'", key), "taken as a list of one");
      entries.push_back(value);
    } else if (value.IsSequence()) {
      for (const YAML::Node& entry : value) entries.push_back(entry);
    }
    if (entries.empty()) {
      return fail(Code::kMalformed, "{}: '{}' is not a list of values", yaml_place(value, file_name_), key);
    }
    if (entries.size() > kDimensionsMax) {
      return fail(Code::kMalformed, "{}: '{}' has {} values, at most {} dimensions are read",
                  yaml_place(value, file_name_), key, entries.size(), kDimensionsMax);
    }
    return entries;
  }

  Result<void> read_dimensions() {
    std::array<std::vector<YAML::Node>, 4> lists;
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      HOCKET_TRY_ASSIGN(lists[i], list(kKeys[i]));
      if (lists[i].size() == lists[0].size()) continue;
      return fail(Code::kMismatch, "{}: '{}' has {} value(s), 'topology' has {}",
                  yaml_place(root()[std::string(kKeys[i])], file_name_), kKeys[i], lists[i].size(), lists[0].size());
    }
    for (std::size_t d = 0; d < lists[0].size(); ++d) {
      Dimension dimension;
      HOCKET_TRY_ASSIGN(dimension.shape, shape_of(lists[0][d]));
      HOCKET_TRY_ASSIGN(const double extent, number(lists[1][d], "npus_count"));
      if (extent < 2 || extent != std::floor(extent) || extent > kNpusMax) {
        return fail(Code::kMalformed, "{}: npus_count {} is not a whole number of 2 or more",
                    yaml_place(lists[1][d], file_name_), lists[1][d].Scalar().substr(0, 80));
      }
      dimension.extent = static_cast<std::uint32_t>(extent);
      HOCKET_TRY_ASSIGN(const double bandwidth, number(lists[2][d], "bandwidth"));
      if (bandwidth <= 0 || bandwidth > 1e9) {
        return fail(Code::kMalformed, "{}: bandwidth {} is not above 0 (GiB/s)", yaml_place(lists[2][d], file_name_),
                    lists[2][d].Scalar().substr(0, 80));
      }
      dimension.bandwidth = {bandwidth * kGibi};
      HOCKET_TRY_ASSIGN(const double latency, number(lists[3][d], "latency"));
      if (latency < 0 || latency > 1e12) {
        return fail(Code::kMalformed, "{}: latency {} is not 0 or more (ns)", yaml_place(lists[3][d], file_name_),
                    lists[3][d].Scalar().substr(0, 80));
      }
      dimension.latency = {latency * 1e-9};
      dimensions_.push_back(dimension);
    }
    return {};
  }

  Result<Shape> shape_of(const YAML::Node& node) const {
    const std::string word = node.IsScalar() ? node.Scalar() : "";
    if (word == "Ring") return Shape::kRing;
    if (word == "FullyConnected") return Shape::kFullyConnected;
    if (word == "Switch") return Shape::kSwitch;
    return fail(Code::kMalformed, "{}: topology '{}' is none of Ring, FullyConnected, Switch",
                yaml_place(node, file_name_), word.substr(0, 80));
  }

  Result<double> number(const YAML::Node& node, std::string_view key) const {
    double value = 0;
    if (node.IsScalar() && YAML::convert<double>::decode(node, value) && std::isfinite(value)) return value;
    return fail(Code::kMalformed, "{}: {} '{}' is not a number", yaml_place(node, file_name_), key,
                node.IsScalar() ? node.Scalar().substr(0, 80) : "");
  }

  Result<ReadTopology> build() {
    std::vector<std::uint32_t> extents;
    std::uint64_t npus = 1, links_per_npu = 0;
    for (const Dimension& d : dimensions_) {
      extents.push_back(d.extent);
      npus *= d.extent;
      links_per_npu += d.shape == Shape::kFullyConnected ? d.extent - 1 : 2;
      if (npus > kNpusMax || npus * links_per_npu > kLinksMax) {
        return fail(Code::kResourceExhausted, "{}: the npus_count values multiply to more than {} npus or {} links",
                    file_name_, kNpusMax, kLinksMax);
      }
    }
    TopologyBuilder builder{std::string(file_name_), "file"};
    add_npus(builder, extents);
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      add_dimension(builder, d, stride, static_cast<std::uint32_t>(npus));
      stride *= dimensions_[d].extent;
    }
    losses_.assumed("bandwidth", "GiB/s (2^30 B/s) per link and direction", "what ASTRA-sim means by GB/s");
    losses_.assumed("latency", "ns per link", "what ASTRA-sim means");
    return build_with_losses(std::move(builder), std::move(losses_));
  }

  /// The lines of dimension d: npus that differ in its coordinate only.
  void add_dimension(TopologyBuilder& builder, std::size_t d, std::uint32_t stride, std::uint32_t npus) const {
    const Dimension& dim = dimensions_[d];
    std::uint32_t lines = 0;
    for (std::uint32_t first = 0; first < npus; ++first) {
      if (first / stride % dim.extent != 0) continue;
      const auto member = [&](std::uint32_t i) { return first + i * stride; };
      std::optional<VertexId> hub;
      if (dim.shape == Shape::kSwitch) {
        hub = builder.add_vertex(fmt::format("switch{}.{}", d, lines), VertexKind::kSwitch);
      }
      ++lines;
      for (std::uint32_t i = 0; i < dim.extent; ++i) {
        if (hub) {
          builder.add_cable(member(i), *hub, dim.bandwidth, dim.latency);
        } else if (dim.shape == Shape::kRing) {
          const bool closes_pair = dim.extent == 2 && i == 1;
          if (!closes_pair) builder.add_cable(member(i), member((i + 1) % dim.extent), dim.bandwidth, dim.latency);
        } else {
          for (std::uint32_t j = 0; j < i; ++j) builder.add_cable(member(j), member(i), dim.bandwidth, dim.latency);
        }
      }
    }
  }

  std::string_view text_, file_name_;
  YAML::Node root_;
  std::vector<Dimension> dimensions_;
  LossReport losses_;
};

bool recognise(std::string_view text) {
  text = text.substr(0, kAstraTextMax);
  if (has_yaml_key(text, "hocket")) return false;
  const bool has_rates = has_yaml_key(text, "bandwidth") || has_yaml_key(text, "latency");
  return has_yaml_key(text, "npus_count") || (has_yaml_key(text, "topology") && has_rates);
}

Result<ReadTopology> read(std::string_view text, std::string_view file_name) {
  return guard_yaml(file_name, [&] { return AstraReader(text, file_name).read(); });
}

}  // namespace

extern const TopologyFormat topology_format_astra_yaml{
    .name = "astra-yaml",
    .extensions = "",
    .description = "ASTRA-sim analytical network YAML",
    .recognise = recognise,
    .read = read,
    .write = nullptr,
    .describe = nullptr,
};

}  // namespace hocket
