#include "exchange/nccl_system.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <pugixml.hpp>

#include "exchange/csv.h"
#include "exchange/nccl_rates.h"
#include "exchange/text_place.h"
#include "exchange/topology_format.h"

namespace hocket {
namespace {

constexpr int kDepthMax = 32;
constexpr std::size_t kElementsMax = 65'536;
constexpr std::size_t kCpusMax = 256;
constexpr std::uint64_t kParallelLinksMax = 64;

std::string shortened(std::string_view text) { return std::string(text.substr(0, 80)); }

enum class Device { kBridge, kGpu, kNic, kGpuSwitch, kOther, kUnknown };

/// NVIDIA and AMD Instinct make GPUs here, Mellanox and Amazon network cards; other makers make too many things.
Device classify_by_vendor(std::string_view vendor) {
  if (vendor == "0x10de" || vendor == "0x1002") return Device::kGpu;
  if (vendor == "0x15b3" || vendor == "0x1d0f") return Device::kNic;
  return Device::kUnknown;
}

/// Servers have a display adapter that nobody computes on; a file without vendors leaves no choice but to count it.
Device classify_display(std::string_view vendor) {
  return vendor.empty() || vendor == "0x10de" || vendor == "0x1002" ? Device::kGpu : Device::kOther;
}

Device classify(const pugi::xml_node& pci) {
  if (pci.child("gpu")) return Device::kGpu;
  if (pci.child("nic")) return Device::kNic;
  if (pci.child("pci")) return Device::kBridge;
  const std::string kind = lower_case(pci.attribute("class").value());
  if (kind.empty()) return classify_by_vendor(lower_case(pci.attribute("vendor").value()));
  if (kind.starts_with("0x0300")) return classify_display(lower_case(pci.attribute("vendor").value()));
  if (kind.starts_with("0x03") || kind.starts_with("0x12")) return Device::kGpu;
  if (kind.starts_with("0x02")) return Device::kNic;
  if (kind.starts_with("0x0604")) return Device::kBridge;
  if (kind.starts_with("0x0680")) return Device::kGpuSwitch;
  return Device::kOther;
}

class SystemReader {
 public:
  SystemReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<NcclSystem> read() {
    if (text_.size() > kTopologyTextMax) {
      return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name_, kTopologyTextMax);
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) return error_at(parsed.offset, "XML is malformed: {}", parsed.description());
    const pugi::xml_node root = document.child("system");
    if (!root) return error_at(0, "no <system> element");
    HOCKET_TRY(scan(root, 0));
    for (const pugi::xml_node cpu : root.children("cpu")) HOCKET_TRY(read_cpu(cpu));
    join_cpus();
    for (const Gpu& gpu : gpus_) HOCKET_TRY(read_gpu_links(gpu));
    order_ranks();
    find_components();
    add_general_notes();
    return std::move(system_);
  }

 private:
  struct Cpu {
    VertexId vertex;
    std::optional<BytesPerSecond> bandwidth;
    std::string host;
  };
  struct Gpu {
    VertexId vertex;
    VertexId cpu;
    pugi::xml_node element;  // <gpu>, or nothing for a candidate by class
  };

  template <class... Args>
  tl::unexpected<Error> error_at(std::ptrdiff_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    const TextPlace place = place_of(text_, offset < 0 ? 0 : static_cast<std::size_t>(offset));
    return fail(Code::kMalformed, "{}:{}:{}: {}", file_name_, place.line, place.column,
                fmt::format(format, std::forward<Args>(args)...));
  }

  /// "line 7: PCI device 0000:10:00.0".
  [[nodiscard]] std::string at(const pugi::xml_node& node, std::string_view what) const {
    const std::ptrdiff_t offset = node.offset_debug();
    return fmt::format("line {}: {}", place_of(text_, offset < 0 ? 0 : static_cast<std::size_t>(offset)).line, what);
  }

  /// Limits, and whether the file names GPUs and ranks itself.
  Result<void> scan(const pugi::xml_node& node, int depth) {
    if (depth > kDepthMax) return error_at(node.offset_debug(), "more than {} levels of elements", kDepthMax);
    if (++elements_ > kElementsMax) return error_at(node.offset_debug(), "more than {} elements", kElementsMax);
    if (std::strcmp(node.name(), "gpu") == 0) {
      has_gpus_ = true;
      has_ranks_ = has_ranks_ || node.attribute("rank");
    }
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) HOCKET_TRY(scan(child, depth + 1));
    }
    return {};
  }

  VertexId add_vertex(std::string name, VertexKind kind) {
    const std::string wanted = name;
    for (int copy = 2; !names_.emplace(name, 0).second; ++copy) name = fmt::format("{}#{}", wanted, copy);
    system_.vertices.push_back({std::move(name), kind, {}});
    return static_cast<VertexId>(system_.vertices.size() - 1);
  }

  Result<void> read_cpu(const pugi::xml_node& cpu) {
    if (++system_.cpus > kCpusMax) return error_at(cpu.offset_debug(), "more than {} cpus", kCpusMax);
    affinities_ += cpu.attribute("affinity") ? 1 : 0;
    const std::string numa = cpu.attribute("numaid").value();
    const VertexId vertex = add_vertex(
        fmt::format("cpu{}", shortened(numa.empty() ? std::to_string(cpus_.size()) : numa)), VertexKind::kHost);
    const CpuIdentity identity{.arch = cpu.attribute("arch").value(),
                               .vendor = cpu.attribute("vendor").value(),
                               .family = cpu.attribute("familyid").as_llong(),
                               .model = cpu.attribute("modelid").as_llong()};
    cpus_.push_back({vertex, socket_bandwidth(identity), cpu.attribute("host_hash").value()});
    return read_children(cpu, vertex);
  }

  Result<void> read_children(const pugi::xml_node& parent, VertexId at) {
    for (const pugi::xml_node child : parent.children()) {
      if (std::strcmp(child.name(), "pci") == 0) HOCKET_TRY(read_pci(child, at));
      if (std::strcmp(child.name(), "nic") == 0) {
        system_.cables.push_back({add_nic(child), at, kLocalBandwidth, kPcieLatency});
      }
    }
    return {};
  }

  VertexId add_nic(const pugi::xml_node& nic) {
    ++system_.nics;
    net_speeds_ += nic.child("net").attribute("speed") ? 1 : 0;
    const std::string name = nic.child("net").attribute("name").value();
    return add_vertex(name.empty() ? fmt::format("nic{}", system_.nics - 1) : shortened(name), VertexKind::kNic);
  }

  Result<void> read_pci(const pugi::xml_node& pci, VertexId parent) {
    const std::string busid = shortened(lower_case(pci.attribute("busid").value()));
    VertexId vertex = 0;
    switch (classify(pci)) {
      case Device::kUnknown:
        system_.unknown_devices.push_back(busid);
        return {};
      case Device::kOther:
      case Device::kGpuSwitch:
        system_.losses.ignored(at(pci, fmt::format("PCI device {}", busid)),
                               fmt::format("class {}", shortened(pci.attribute("class").value())),
                               "neither GPU nor network card nor bridge");
        return {};
      case Device::kBridge: {
        ++system_.bridges;
        vertex = add_vertex(fmt::format("pci {}", busid), VertexKind::kHost);
        break;
      }
      case Device::kNic: {
        vertex = add_nic(pci.child("nic"));
        break;
      }
      case Device::kGpu: {
        const pugi::xml_node gpu = pci.child("gpu");
        if (has_gpus_ && (!gpu || (has_ranks_ && !gpu.attribute("rank")))) {
          system_.losses.ignored(at(pci, fmt::format("PCI device {}", busid)), "GPU without a rank", "as NCCL does");
          return {};
        }
        vertex = add_vertex(gpu_name(gpu), VertexKind::kNpu);
        gpus_.push_back({vertex, cpus_.back().vertex, gpu});
        gpu_at_.emplace(busid, vertex);
        break;
      }
    }
    system_.cables.push_back({vertex, parent, pci_rate(pci, busid), kPcieLatency});
    return vertex_is_bridge(vertex) ? read_children(pci, vertex) : Result<void>{};
  }

  [[nodiscard]] bool vertex_is_bridge(VertexId v) const { return system_.vertices[v].kind == VertexKind::kHost; }

  [[nodiscard]] std::string gpu_name(const pugi::xml_node& gpu) const {
    const char* const attribute = has_ranks_ ? "rank" : "dev";
    const auto number = whole_number(gpu.attribute(attribute).value());
    return fmt::format("gpu{}", number ? *number : gpus_.size());
  }

  BytesPerSecond pci_rate(const pugi::xml_node& pci, const std::string& busid) {
    const std::string text = pci.attribute("link_speed").value();
    const PcieSpeed speed = pcie_speed(text);
    if (!speed.known) {
      const std::string where = at(pci, fmt::format("PCI device {}", busid));
      const std::string_view taken = "Gen3 (8 GT/s) taken, as NCCL does";
      if (text.empty()) system_.losses.assumed(where, "link_speed absent", std::string(taken));
      if (!text.empty()) {
        system_.losses.repaired(where, fmt::format("link_speed '{}'", shortened(text)),
                                fmt::format("unknown to NCCL; {}", taken));
      }
    }
    const std::string width_text = pci.attribute("link_width").value();
    const auto width = width_text.empty() ? std::optional<std::uint64_t>(0) : whole_number(width_text);
    if (!width || *width > 32) {
      system_.losses.repaired(at(pci, fmt::format("PCI device {}", busid)),
                              fmt::format("link_width '{}'", shortened(width_text)), "no PCIe width; 16 taken");
      return pcie_bandwidth(speed, 16);
    }
    return pcie_bandwidth(speed, static_cast<std::uint32_t>(*width));
  }

  void join_cpus() {
    bool guessed = false;
    for (std::size_t a = 0; a < cpus_.size(); ++a) {
      for (std::size_t b = a + 1; b < cpus_.size(); ++b) {
        if (cpus_[a].host != cpus_[b].host) continue;
        constexpr BytesPerSecond kUnknownSocket{10e9};
        guessed = guessed || !cpus_[a].bandwidth || !cpus_[b].bandwidth;
        const BytesPerSecond rate =
            std::min(cpus_[a].bandwidth.value_or(kUnknownSocket), cpus_[b].bandwidth.value_or(kUnknownSocket));
        system_.cables.push_back({cpus_[a].vertex, cpus_[b].vertex, rate, kPcieLatency});
      }
    }
    if (guessed) system_.losses.assumed("cpu of unknown make", "10 GB/s between sockets", "the file has no rate");
  }

  Result<void> read_gpu_links(const Gpu& gpu) {
    for (const pugi::xml_node link : gpu.element.children()) {
      const std::string_view kind = link.name();
      if (kind != "nvlink" && kind != "xgmi" && kind != "c2c") continue;
      const std::string text = link.attribute("count").value();
      const auto count = text.empty() ? std::optional<std::uint64_t>(1) : whole_number(text);
      if (!count || *count > kParallelLinksMax) {
        return error_at(link.offset_debug(), "count '{}' is not a number of links of 0 to {}", shortened(text),
                        kParallelLinksMax);
      }
      HOCKET_TRY_ASSIGN(const BytesPerSecond rate, gpu_link_rate(gpu, link));
      for (std::uint64_t i = 0; i < *count; ++i) add_gpu_link(gpu, link, rate);
    }
    return {};
  }

  Result<BytesPerSecond> gpu_link_rate(const Gpu& gpu, const pugi::xml_node& link) {
    const std::string_view kind = link.name();
    if (kind == "xgmi") return xgmi_bandwidth(gpu.element.attribute("gcn").value());
    if (kind == "c2c") {
      const auto rate = whole_number(link.attribute("bw").value());
      if (rate && *rate > 0 && *rate <= 1'000'000'000) return BytesPerSecond{static_cast<double>(*rate) * 1e6};
      return error_at(link.offset_debug(), "bw '{}' is not a rate in MB/s", shortened(link.attribute("bw").value()));
    }
    const auto rate = nvlink_bandwidth(gpu.element.attribute("sm").as_llong());
    if (!rate) {
      system_.losses.assumed(at(link, system_.vertices[gpu.vertex].name), "20 GB/s per NVLink",
                             "its sm is absent or older than NCCL's tables");
    }
    return rate.value_or(BytesPerSecond{20e9});
  }

  void add_gpu_link(const Gpu& gpu, const pugi::xml_node& link, BytesPerSecond rate) {
    const std::string target = lower_case(link.attribute("target").value());
    const std::string kind = lower_case(link.attribute("tclass").value());
    const bool to_cpu = std::strcmp(link.name(), "c2c") == 0 || kind.starts_with("0x068001");
    if (const auto other = gpu_at_.find(shortened(target)); !to_cpu && other != gpu_at_.end()) {
      if (other->second == gpu.vertex) {
        return system_.losses.repaired(at(link, system_.vertices[gpu.vertex].name), "GPU link to itself", "left out");
      }
      system_.cables.push_back({gpu.vertex, other->second, rate, kGpuLinkLatency, false});
      ++system_.gpu_links;
    } else if (to_cpu) {
      system_.cables.push_back({gpu.vertex, gpu.cpu, rate, kGpuLinkLatency});
    } else if (kind.starts_with("0x0680")) {
      if (!gpu_switch_) gpu_switch_ = add_vertex("nvswitch", VertexKind::kSwitch);
      system_.cables.push_back({gpu.vertex, *gpu_switch_, rate, kGpuLinkLatency});
      system_.gpu_links += 2;
    } else {
      system_.losses.repaired(at(link, system_.vertices[gpu.vertex].name),
                              fmt::format("GPU link to '{}'", shortened(target)), "no such GPU in the file; left out");
    }
  }

  void order_ranks() {
    std::vector<std::pair<std::uint64_t, VertexId>> numbered;
    bool distinct = true;
    std::map<std::uint64_t, VertexId> seen;
    for (const Gpu& gpu : gpus_) {
      const auto number = whole_number(gpu.element.attribute(has_ranks_ ? "rank" : "dev").value());
      numbered.emplace_back(number.value_or(0), gpu.vertex);
      distinct = distinct && number && seen.emplace(*number, gpu.vertex).second;
    }
    if (distinct) std::sort(numbered.begin(), numbered.end());
    if (!distinct && has_gpus_) {
      system_.losses.repaired("GPU numbers", "missing or repeated numbers", "ranks follow the order of the file");
    }
    for (const auto& entry : numbered) system_.ranks.push_back(entry.second);
  }

  void find_components() {
    std::vector<VertexId> parent(system_.vertices.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](VertexId v) {
      while (parent[v] != v) v = parent[v] = parent[parent[v]];
      return v;
    };
    for (const NcclSystem::Cable& cable : system_.cables) {
      if (!vertex_is_bridge(cable.from) && !vertex_is_bridge(cable.to)) parent[find(cable.from)] = find(cable.to);
    }
    std::map<VertexId, std::size_t> component_of;
    for (const VertexId v : system_.ranks) {
      const auto [entry, added] = component_of.emplace(find(v), system_.gpu_components.size());
      if (added) system_.gpu_components.emplace_back();
      system_.gpu_components[entry->second].push_back(system_.vertices[v].name);
    }
  }

  void add_general_notes() {
    system_.gpus_are_candidates = !has_gpus_ && !gpus_.empty();
    if (system_.gpus_are_candidates) {
      system_.losses.assumed("no <gpu> elements", fmt::format("{} GPU candidates by PCI class or vendor", gpus_.size()),
                             "GPU links are unknown, only PCIe is planned on");
    }
    if (!system_.unknown_devices.empty() && !gpus_.empty()) {
      system_.losses.ignored("", fmt::format("{} PCI devices without a class", system_.unknown_devices.size()),
                             "neither class nor vendor says what they are");
    }
    if (affinities_ > 0) system_.losses.ignored("cpu", "affinity", "which cores a cpu has is not part of a network");
    if (net_speeds_ > 0) {
      system_.losses.ignored("net", fmt::format("speed, port and guid of {} network cards", net_speeds_),
                             "what they lead to is not in the file");
    }
    if (!gpus_.empty()) {
      system_.losses.assumed("", "latencies of 600 ns per GPU link, 250 ns per PCIe and socket hop",
                             "the file has none");
      system_.losses.assumed("", "rates in decimal GB/s from NCCL's tables",
                             "the file has link_speed x link_width and counts of GPU links");
    }
  }

  std::string_view text_, file_name_;
  std::size_t elements_ = 0, affinities_ = 0, net_speeds_ = 0;
  bool has_gpus_ = false, has_ranks_ = false;
  NcclSystem system_;
  std::vector<Cpu> cpus_;
  std::vector<Gpu> gpus_;
  std::map<std::string, int> names_;
  std::map<std::string, VertexId, std::less<>> gpu_at_;
  std::optional<VertexId> gpu_switch_;
};

}  // namespace

Result<NcclSystem> read_nccl_system(std::string_view text, std::string_view file_name) {
  return SystemReader(text, file_name).read();
}

std::string describe(const NcclSystem& system) {
  std::string out = fmt::format("NCCL topology: {} cpus, {} PCIe bridges, {} {}, {} nics, {} directed GPU links\n",
                                system.cpus, system.bridges, system.ranks.size(),
                                system.gpus_are_candidates ? "GPU candidates" : "GPUs", system.nics, system.gpu_links);
  if (!system.unknown_devices.empty()) {
    out += fmt::format("{} devices of unknown class: {}\n", system.unknown_devices.size(),
                       fmt::join(system.unknown_devices, " "));
  }
  if (system.gpu_links > 0) {
    out += fmt::format("{} GPU-link component{}:", system.gpu_components.size(),
                       system.gpu_components.size() == 1 ? "" : "s");
    for (const auto& component : system.gpu_components) out += fmt::format(" {{{}}}", fmt::join(component, " "));
    out += '\n';
  }
  for (const NcclSystem::Cable& cable : system.cables) {
    out += fmt::format("{} {} {}: {}\n", system.vertices[cable.from].name, cable.both_ways ? "<->" : "->",
                       system.vertices[cable.to].name, format_bandwidth(cable.bandwidth));
  }
  return out;
}

}  // namespace hocket
