// hwloc XML (`lstopo machine.xml`), versions 1 to 3: packages, PCI bridges and devices; GPU links where hwloc measured
// them (distances2 NVLinkBandwidth, XGMIBandwidth).
// A package becomes a host; a bridge behind another one a host; GPUs (PCI class 03xx, 12xx) npus, network cards nics.
// pci_link_speed is decimal GB/s of the whole link; where it is 0 PCIe Gen3 x16 is assumed. Devices that hang on no
// package hang on the only one, or on a vertex "machine". libhwloc is not used to read: it neither says where a file is
// wrong nor reads files newer than itself.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <vector>

#include "exchange/csv.h"
#include "exchange/nccl_rates.h"
#include "exchange/text_place.h"
#include "exchange/topology_format.h"

namespace hocket {
namespace {

constexpr int kDepthMax = 64;
constexpr std::size_t kElementsMax = 1'000'000;
constexpr std::size_t kVerticesMax = 4096;
constexpr std::size_t kMatrixMax = 1024;
constexpr BytesPerSecond kPcieRate{12e9};
constexpr BytesPerSecond kSocketRate{10e9};
constexpr VertexId kNone = UINT32_MAX;

std::string_view attribute(const pugi::xml_node& node, const char* name) { return node.attribute(name).value(); }

enum class Device { kGpu, kNic, kOther };

/// "0302 [10de:20b0] [10de:134f] a1". A display adapter of a server's service processor is no GPU to compute on.
Device classify(std::string_view pci_type) {
  const std::string_view kind = pci_type.substr(0, 4);
  if (kind.starts_with("02")) return Device::kNic;
  if (kind.starts_with("12") || kind == "0302") return Device::kGpu;
  if (!kind.starts_with("03")) return Device::kOther;
  const std::size_t bracket = pci_type.find('[');
  const std::string vendor =
      bracket == std::string_view::npos ? "" : lower_case(pci_type.substr(bracket + 1).substr(0, 4));
  return vendor == "10de" || vendor == "1002" || (vendor == "8086" && kind == "0380") ? Device::kGpu : Device::kOther;
}

std::optional<double> decimal(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

class HwlocReader {
 public:
  HwlocReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<ReadTopology> read() {
    if (text_.size() > kTopologyTextMax) {
      return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name_, kTopologyTextMax);
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) return error_at(parsed.offset, "XML is malformed: {}", parsed.description());
    const pugi::xml_node root = document.child("topology");
    if (!root) return error_at(0, "no <topology> element");
    HOCKET_TRY(walk(root, kNone, 0));
    if (gpus_ == 0) {
      return fail(
          Code::kUnsupported,
          "{}: no GPU among {} PCI devices; wanted is a PCIDev of class 03xx or 12xx (run lstopo where the GPUs "
          "are visible, as `lstopo --filter io:all FILE.xml`)",
          file_name_, devices_);
    }
    hang_loose_devices();
    join_packages();
    for (const pugi::xml_node matrix : root.children("distances2")) HOCKET_TRY(read_distances(matrix));
    state_losses();
    return build_with_losses(std::move(builder_), std::move(losses_));
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error_at(std::ptrdiff_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    const TextPlace place = place_of(text_, offset < 0 ? 0 : static_cast<std::size_t>(offset));
    return fail(Code::kMalformed, "{}:{}:{}: {}", file_name_, place.line, place.column,
                fmt::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::string line_of(const pugi::xml_node& node) const {
    const std::ptrdiff_t offset = node.offset_debug();
    return fmt::format("line {}", place_of(text_, offset < 0 ? 0 : static_cast<std::size_t>(offset)).line);
  }

  Result<void> walk(const pugi::xml_node& parent, VertexId above, int depth) {
    if (depth > kDepthMax) return error_at(parent.offset_debug(), "more than {} levels of objects", kDepthMax);
    for (const pugi::xml_node object : parent.children("object")) {
      if (++elements_ > kElementsMax) return error_at(object.offset_debug(), "more than {} objects", kElementsMax);
      if (builder_.vertex_count() > kVerticesMax) {
        return error_at(object.offset_debug(), "more than {} packages, bridges and devices", kVerticesMax);
      }
      const std::string_view type = attribute(object, "type");
      VertexId next = above;
      if (type == "Package" || type == "Socket") {
        next = add_package(object);
      } else if (type == "Bridge") {
        next = add_bridge(object, above);
      } else if (type == "PCIDev") {
        next = add_device(object, above);
      } else if (type == "Core" || type == "PU" || type == "NUMANode" || type.ends_with("Cache")) {
        ++inner_;
      }
      HOCKET_TRY(walk(object, next, depth + 1));
    }
    return {};
  }

  VertexId add_vertex(std::string name, VertexKind kind) {
    const int copy = ++names_[name];
    if (copy > 1) name += fmt::format("#{}", copy);
    return builder_.add_vertex(std::move(name), kind);
  }

  VertexId add_package(const pugi::xml_node& object) {
    std::string vendor, family, model, arch = "x86_64";
    for (const pugi::xml_node entry : object.children("info")) {
      const std::string_view name = attribute(entry, "name");
      if (name == "CPUVendor") vendor = attribute(entry, "value");
      if (name == "CPUFamilyNumber") family = attribute(entry, "value");
      if (name == "CPUModelNumber") model = attribute(entry, "value");
    }
    const auto rate = socket_bandwidth({.arch = arch,
                                        .vendor = vendor,
                                        .family = static_cast<std::int64_t>(whole_number(family).value_or(0)),
                                        .model = static_cast<std::int64_t>(whole_number(model).value_or(0) & 0xFFFF)});
    packages_.push_back({add_vertex(fmt::format("cpu{}", packages_.size()), VertexKind::kHost), rate});
    return packages_.back().vertex;
  }

  /// Host bridges ("0-1") are part of their package; the others ("1-1") PCIe switches on the way.
  VertexId add_bridge(const pugi::xml_node& object, VertexId above) {
    const std::string_view kind = attribute(object, "bridge_type");
    if (kind.starts_with("0-")) return above;
    const std::string busid(attribute(object, "pci_busid").substr(0, 40));
    const VertexId bridge = add_vertex(fmt::format("pci {}", busid), VertexKind::kHost);
    hang(object, bridge, above);
    return bridge;
  }

  VertexId add_device(const pugi::xml_node& object, VertexId above) {
    ++devices_;
    const std::string busid(attribute(object, "pci_busid").substr(0, 40));
    const Device device = classify(attribute(object, "pci_type"));
    if (device == Device::kOther) {
      losses_.ignored(fmt::format("{}: PCI device {}", line_of(object), busid),
                      fmt::format("class {}", attribute(object, "pci_type").substr(0, 4)),
                      "neither GPU to compute on nor network card");
      return above;
    }
    std::string name = fmt::format("gpu{}", gpus_);
    if (device == Device::kNic) {
      name = object.child("object").attribute("name").value();
      name = name.empty() ? fmt::format("nic {}", busid) : name.substr(0, 80);
    }
    const VertexId vertex = add_vertex(name, device == Device::kGpu ? VertexKind::kNpu : VertexKind::kNic);
    gpus_ += device == Device::kGpu ? 1 : 0;
    hang(object, vertex, above);
    note_indices(object, vertex);
    return vertex;
  }

  /// The gp_index of a device and of its operating-system names; distances2 counts by them.
  void note_indices(const pugi::xml_node& object, VertexId vertex) {
    if (const auto index = whole_number(attribute(object, "gp_index"))) by_index_[*index] = vertex;
    for (const pugi::xml_node child : object.children("object")) {
      if (const auto index = whole_number(attribute(child, "gp_index"))) by_index_[*index] = vertex;
    }
  }

  void hang(const pugi::xml_node& object, VertexId vertex, VertexId above) {
    const std::string_view text = attribute(object, "pci_link_speed");
    const auto speed = decimal(text);
    BytesPerSecond rate = kPcieRate;
    if (speed && *speed >= 1e-3 && *speed < 1e6) {
      rate = {*speed * 1e9};
    } else if (text.empty() || (speed && *speed == 0)) {
      losses_.assumed(line_of(object), "12 GB/s (PCIe Gen3 x16)", "pci_link_speed is absent or 0");
    } else {
      losses_.repaired(line_of(object), fmt::format("pci_link_speed '{}'", text.substr(0, 40)), "12 GB/s taken");
    }
    if (above == kNone) {
      loose_.push_back({vertex, rate});
    } else {
      builder_.add_cable(vertex, above, rate, kPcieLatency);
    }
  }

  void hang_loose_devices() {
    if (loose_.empty()) return;
    VertexId machine = packages_.size() == 1 ? packages_.front().vertex : kNone;
    if (machine == kNone) {
      machine = add_vertex("machine", VertexKind::kHost);
      for (const Package& package : packages_) {
        builder_.add_cable(package.vertex, machine, package.rate.value_or(kSocketRate), kPcieLatency);
      }
      losses_.assumed("", "a vertex 'machine' between packages and devices", "hwloc does not know their package");
    }
    for (const Loose& device : loose_) builder_.add_cable(device.vertex, machine, device.rate, kPcieLatency);
  }

  void join_packages() {
    for (std::size_t a = 0; a < packages_.size(); ++a) {
      for (std::size_t b = a + 1; b < packages_.size(); ++b) {
        const BytesPerSecond rate =
            std::min(packages_[a].rate.value_or(kSocketRate), packages_[b].rate.value_or(kSocketRate));
        builder_.add_cable(packages_[a].vertex, packages_[b].vertex, rate, kPcieLatency);
      }
    }
    if (packages_.size() > 1)
      losses_.assumed("", "rates between packages by make of cpu, as NCCL does", "not in the file");
  }

  static std::vector<std::uint64_t> numbers_in(const pugi::xml_node& parent, const char* element) {
    std::vector<std::uint64_t> numbers;
    for (const pugi::xml_node chunk : parent.children(element)) {
      const std::string_view text = chunk.child_value();
      for (std::size_t at = 0; at < text.size() && numbers.size() <= kMatrixMax * kMatrixMax;) {
        const std::size_t start = text.find_first_not_of(" \t\r\n", at);
        if (start == std::string_view::npos) break;
        const std::size_t stop = std::min(text.find_first_of(" \t\r\n", start), text.size());
        numbers.push_back(whole_number(text.substr(start, stop - start)).value_or(0));
        at = stop;
      }
    }
    return numbers;
  }

  Result<void> read_distances(const pugi::xml_node& matrix) {
    const std::string_view name = attribute(matrix, "name");
    if (name != "NVLinkBandwidth" && name != "XGMIBandwidth") {
      losses_.ignored(line_of(matrix), fmt::format("distances '{}'", name.substr(0, 40)), "no link bandwidths of GPUs");
      return {};
    }
    const std::vector<std::uint64_t> indices = numbers_in(matrix, "indexes");
    const std::vector<std::uint64_t> values = numbers_in(matrix, "u64values");
    if (indices.size() > kMatrixMax || values.size() != indices.size() * indices.size()) {
      return error_at(matrix.offset_debug(), "distances '{}': {} values for {} objects", name, values.size(),
                      indices.size());
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto from = by_index_.find(indices[i]);
      for (std::size_t j = 0; j < indices.size(); ++j) {
        const auto to = by_index_.find(indices[j]);
        const std::uint64_t megabytes = values[i * indices.size() + j];
        if (i == j || megabytes == 0) continue;
        if (from == by_index_.end() || to == by_index_.end() || from->second == to->second) {
          losses_.repaired(line_of(matrix), fmt::format("{} between objects {} and {}", name, indices[i], indices[j]),
                           "not two devices of the file; left out");
        } else if (megabytes <= 100'000'000) {
          builder_.add_link(from->second, to->second, {static_cast<double>(megabytes) * 1e6}, kGpuLinkLatency);
          ++gpu_links_;
        }
      }
    }
    return {};
  }

  void state_losses() {
    if (inner_ > 0) {
      losses_.ignored("", fmt::format("{} cores, caches and memories", inner_), "not part of a network");
    }
    if (gpu_links_ == 0) losses_.assumed("", "no links between GPUs", "the file has no NVLink or xGMI bandwidths");
    losses_.assumed("", "pci_link_speed in decimal GB/s, GPU bandwidths in MB/s (10^6 B)", "what hwloc writes");
    losses_.assumed("", "latencies of 600 ns per GPU link, 250 ns per PCIe and socket hop", "the file has none");
  }

  struct Package {
    VertexId vertex;
    std::optional<BytesPerSecond> rate;
  };
  struct Loose {
    VertexId vertex;
    BytesPerSecond rate;
  };

  std::string_view text_, file_name_;
  TopologyBuilder builder_{std::string(file_name_), "file"};
  LossReport losses_;
  std::vector<Package> packages_;
  std::vector<Loose> loose_;
  std::map<std::string, int> names_;
  std::map<std::uint64_t, VertexId> by_index_;
  std::size_t elements_ = 0, gpus_ = 0, devices_ = 0, inner_ = 0, gpu_links_ = 0;
};

bool recognise(std::string_view text) { return root_element(text) == "topology"; }

Result<ReadTopology> read(std::string_view text, std::string_view file_name) {
  return HwlocReader(text, file_name).read();
}

}  // namespace

extern const TopologyFormat topology_format_hwloc_xml{
    .name = "hwloc-xml",
    .extensions = "",
    .description = "hwloc XML, as lstopo writes it",
    .recognise = recognise,
    .read = read,
    .write = nullptr,
    .describe = nullptr,
};

}  // namespace hocket
