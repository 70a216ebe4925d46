#include "exchange/astra_network.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/spelling.h"
#include "exchange/yaml_text.h"
#include "topology/grid.h"

namespace hocket {
namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;
constexpr std::size_t kAstraTextMax = std::size_t{1} << 20;
constexpr std::array<std::string_view, 4> kKeys{"topology", "npus_count", "bandwidth", "latency"};

class NetworkReader {
 public:
  NetworkReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<AstraNetwork> read() {
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
      if (const std::string hint = spelling_hint(key, kKeys); !hint.empty())
        return fail(Code::kMalformed, "{}: unknown key '{}'{}", yaml_place(entry.first, file_name_), key.substr(0, 80),
                    hint);
      losses_.ignored(yaml_place(entry.first, "line"), fmt::format("key '{}'", key.substr(0, 80)),
                      "not part of an analytical network");
    }
    losses_.assumed("bandwidth", "GiB/s (2^30 B/s) per link and direction", "what ASTRA-sim means by GB/s");
    losses_.assumed("latency", "ns per link", "what ASTRA-sim means");
    return AstraNetwork{std::move(dimensions_), std::move(losses_)};
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
    if (entries.size() > kProductDimensionsMax) {
      return fail(Code::kMalformed, "{}: '{}' has {} values, at most {} dimensions are read",
                  yaml_place(value, file_name_), key, entries.size(), kProductDimensionsMax);
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
      ProductDimension dimension;
      HOCKET_TRY_ASSIGN(dimension.shape, shape_of(lists[0][d]));
      HOCKET_TRY_ASSIGN(const double extent, number(lists[1][d], "npus_count"));
      if (extent < 2 || extent != std::floor(extent) || extent > kNpusMax) {
        return fail(Code::kMalformed, "{}: npus_count {} is not a whole number of 2 or more",
                    yaml_place(lists[1][d], file_name_), lists[1][d].Scalar().substr(0, 80));
      }
      dimension.extent = static_cast<std::uint32_t>(extent);
      HOCKET_TRY_ASSIGN(const double bandwidth, number(lists[2][d], "bandwidth"));
      if (bandwidth * kGibi < 1 || bandwidth > 1e9) {
        return fail(Code::kMalformed, "{}: bandwidth {} is not from 1 B/s to 10^9 GiB/s (it counts in GiB/s)",
                    yaml_place(lists[2][d], file_name_), lists[2][d].Scalar().substr(0, 80));
      }
      dimension.link.bandwidth = {bandwidth * kGibi};
      HOCKET_TRY_ASSIGN(const double latency, number(lists[3][d], "latency"));
      if (latency < 0 || latency > 1e12) {
        return fail(Code::kMalformed, "{}: latency {} is not from 0 to 10^12 ns", yaml_place(lists[3][d], file_name_),
                    lists[3][d].Scalar().substr(0, 80));
      }
      dimension.link.latency = {latency / 1e9};
      dimensions_.push_back(dimension);
    }
    return {};
  }

  Result<ProductShape> shape_of(const YAML::Node& node) const {
    const std::string word = node.IsScalar() ? node.Scalar() : "";
    if (word == "Ring") return ProductShape::kRing;
    if (word == "FullyConnected") return ProductShape::kFull;
    if (word == "Switch") return ProductShape::kSwitch;
    return fail(Code::kMalformed, "{}: topology '{}' is none of Ring, FullyConnected, Switch",
                yaml_place(node, file_name_), word.substr(0, 80));
  }

  Result<double> number(const YAML::Node& node, std::string_view key) const {
    double value = 0;
    if (node.IsScalar() && YAML::convert<double>::decode(node, value) && std::isfinite(value)) return value;
    return fail(Code::kMalformed, "{}: {} '{}' is not a number", yaml_place(node, file_name_), key,
                node.IsScalar() ? node.Scalar().substr(0, 80) : "");
  }

  std::string_view text_, file_name_;
  YAML::Node root_;
  std::vector<ProductDimension> dimensions_;
  LossReport losses_;
};

}  // namespace

bool looks_like_astra_network(std::string_view text) {
  text = text.substr(0, kAstraTextMax);
  if (has_yaml_key(text, "hocket")) return false;
  const bool has_rates = has_yaml_key(text, "bandwidth") || has_yaml_key(text, "latency");
  return has_yaml_key(text, "npus_count") || (has_yaml_key(text, "topology") && has_rates);
}

Result<AstraNetwork> read_astra_network(std::string_view text, std::string_view file_name) {
  return guard_yaml(file_name, [&] { return NetworkReader(text, file_name).read(); });
}

}  // namespace hocket
