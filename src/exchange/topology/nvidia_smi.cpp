// `nvidia-smi topo -m`: a matrix of how far devices are apart. It has no rates and no PCIe tree; both are assumed, and
// every assumption is in the loss report.
//   NV#        # NVLinks as one link of # x 20 GB/s each way; GPUs with more links than any GPU has (18) share an
//   NVSwitch PIX PXB    one PCIe switch, several switches      PHB NODE   one host bridge, one NUMA node SYS another
//   NUMA node: through the vertex "SYS", which stands for the links between sockets
// The tree is made from groups: devices that some cell puts within PIX of each other share a switch, and so on upwards.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "exchange/nccl_rates.h"
#include "exchange/smi_matrix.h"
#include "exchange/topology_format.h"

namespace hocket {
namespace {

constexpr BytesPerSecond kNvlinkRate{20e9};
constexpr BytesPerSecond kPcieRate{12e9};
constexpr BytesPerSecond kSocketRate{10e9};
constexpr std::uint32_t kNvlinksOfAGpu = 18;

/// Groups of devices, each the set that cells up to a hop join; by the smallest member.
using Groups = std::vector<std::size_t>;

class MatrixNetwork {
 public:
  MatrixNetwork(SmiMatrix matrix, std::string_view file_name)
      : devices_(std::move(matrix.devices)),
        losses_(std::move(matrix.losses)),
        name_(file_name),
        builder_(name_, "file") {}

  Result<ReadTopology> build() {
    if (std::none_of(devices_.begin(), devices_.end(), [](const SmiDevice& d) { return d.is_gpu; })) {
      return fail(Code::kMalformed, "{}: the matrix has no GPU", name_);
    }
    const Groups nodes = groups_up_to(SmiHop::kNode);
    check_against(nodes);
    add_devices();
    add_nvlinks();
    const std::size_t cpus = add_cpus(nodes);
    add_pcie_trees(nodes);
    state_assumptions(cpus);
    return build_with_losses(std::move(builder_), std::move(losses_));
  }

 private:
  /// Joins devices whose cell is at most `hop`, NVLink cells aside: they hide how the pair hangs on PCIe.
  [[nodiscard]] Groups groups_up_to(SmiHop hop) const {
    Groups parent(devices_.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](std::size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    const auto join = [&](std::size_t a, std::size_t b) {
      a = find(a), b = find(b);
      parent[std::max(a, b)] = std::min(a, b);
    };
    for (std::size_t a = 0; a < devices_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const SmiCell& cell = devices_[a].cells[b];
        const bool near = cell.hop != SmiHop::kNvlink && cell.hop <= hop;
        const bool alike = cell.hop == SmiHop::kNvlink && hop == SmiHop::kNode && !devices_[a].affinity.empty() &&
                           devices_[a].affinity == devices_[b].affinity;
        if (near || alike) join(a, b);
      }
    }
    for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = find(i);
    return parent;
  }

  void check_against(const Groups& nodes) {
    for (std::size_t a = 0; a < devices_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (devices_[a].cells[b].hop != SmiHop::kSys || nodes[a] != nodes[b]) continue;
        losses_.repaired(fmt::format("cell {} {}", devices_[b].name, devices_[a].name), "SYS",
                         "other cells put both in one NUMA node");
      }
    }
  }

  void add_devices() {
    std::map<std::string, int> seen;
    for (const SmiDevice& device : devices_) {
      const int copy = ++seen[device.name];
      const std::string name = copy == 1 ? device.name : fmt::format("{}#{}", device.name, copy);
      vertex_of_.push_back(builder_.add_vertex(name, device.is_gpu ? VertexKind::kNpu : VertexKind::kNic));
    }
  }

  [[nodiscard]] std::uint32_t nvlinks_of(std::size_t device) const {
    std::uint32_t sum = 0;
    for (const SmiCell& cell : devices_[device].cells) sum += cell.links;
    return sum;
  }

  void add_nvlinks() {
    std::optional<VertexId> gpu_switch;
    for (std::size_t a = 0; a < devices_.size(); ++a) {
      const bool through_switch = nvlinks_of(a) > kNvlinksOfAGpu;
      if (through_switch) {
        if (!gpu_switch) gpu_switch = builder_.add_vertex("nvswitch", VertexKind::kSwitch);
        std::uint32_t widest = 0;
        for (const SmiCell& cell : devices_[a].cells) widest = std::max(widest, cell.links);
        builder_.add_cable(vertex_of_[a], *gpu_switch, {kNvlinkRate.value * widest}, kGpuLinkLatency);
      }
      for (std::size_t b = 0; b < a; ++b) {
        const SmiCell& cell = devices_[a].cells[b];
        if (cell.hop != SmiHop::kNvlink || (through_switch && nvlinks_of(b) > kNvlinksOfAGpu)) continue;
        builder_.add_cable(vertex_of_[b], vertex_of_[a], {kNvlinkRate.value * cell.links}, kGpuLinkLatency);
      }
      has_nvlinks_ = has_nvlinks_ || nvlinks_of(a) > 0;
    }
    if (gpu_switch) {
      losses_.assumed("", "an NVSwitch between the GPUs",
                      fmt::format("a row has more than {} NVLinks, more than any GPU", kNvlinksOfAGpu));
    }
  }

  std::size_t add_cpus(const Groups& nodes) {
    std::vector<VertexId> cpus;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] != i) continue;
      cpu_of_[i] = builder_.add_vertex(fmt::format("cpu{}", cpus.size()), VertexKind::kHost);
      cpus.push_back(cpu_of_[i]);
    }
    if (cpus.size() > 1) {
      const VertexId sys = builder_.add_vertex("SYS", VertexKind::kHost);
      for (const VertexId cpu : cpus) builder_.add_cable(cpu, sys, kSocketRate, {kPcieLatency.value / 2});
    }
    return cpus.size();
  }

  /// From the cpu down: a vertex for every PHB, PXB and PIX group that is smaller than the one around it and holds more
  /// than one device.
  void add_pcie_trees(const Groups& nodes) {
    const Groups bridges = groups_up_to(SmiHop::kPhb);
    const Groups trees = groups_up_to(SmiHop::kPxb);
    const Groups switches = groups_up_to(SmiHop::kPix);
    std::vector<VertexId> above(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) above[i] = cpu_of_[nodes[i]];
    add_level(bridges, nodes, "bridge", above);
    add_level(trees, bridges, "pcie", above);
    add_level(switches, trees, "switch", above);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      builder_.add_cable(vertex_of_[i], above[i], kPcieRate, kPcieLatency);
    }
  }

  void add_level(const Groups& groups, const Groups& around, std::string_view word, std::vector<VertexId>& above) {
    std::map<std::size_t, std::size_t> members, members_around;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      ++members[groups[i]];
      ++members_around[around[i]];
    }
    std::map<std::size_t, VertexId> vertex_of;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (members[groups[i]] < 2 || members[groups[i]] == members_around[around[i]]) continue;
      const auto [entry, added] = vertex_of.try_emplace(groups[i], 0);
      if (added) {
        entry->second = builder_.add_vertex(fmt::format("{}{}", word, vertex_of.size() - 1), VertexKind::kHost);
        builder_.add_cable(entry->second, above[i], kPcieRate, kPcieLatency);
      }
      above[i] = entry->second;
    }
  }

  void state_assumptions(std::size_t cpus) {
    if (has_nvlinks_) {
      losses_.assumed("", "20 GB/s each way per NVLink, NV# as one link", "the matrix has no rates");
    }
    losses_.assumed("", "12 GB/s per PCIe link (Gen3 x16)", "the matrix has no rates");
    if (cpus > 1) {
      losses_.assumed("", "10 GB/s between a NUMA node and the others (SYS)", "the matrix has no rates");
    }
    losses_.assumed("", "latencies of 600 ns per NVLink, 250 ns per PCIe and socket hop", "the matrix has none");
  }

  std::vector<SmiDevice> devices_;
  LossReport losses_;
  std::string name_;
  TopologyBuilder builder_;
  std::vector<VertexId> vertex_of_;
  std::map<std::size_t, VertexId> cpu_of_;
  bool has_nvlinks_ = false;
};

Result<ReadTopology> read(std::string_view text, std::string_view file_name) {
  if (text.size() > kTopologyTextMax) {
    return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name, kTopologyTextMax);
  }
  HOCKET_TRY_ASSIGN(SmiMatrix matrix, read_smi_matrix(text, file_name));
  return MatrixNetwork(std::move(matrix), file_name).build();
}

}  // namespace

extern const TopologyFormat topology_format_nvidia_smi{
    .name = "nvidia-smi",
    .extensions = "",
    .description = "the matrix of `nvidia-smi topo -m`",
    .recognise = looks_like_smi_matrix,
    .read = read,
    .write = nullptr,
    .describe = nullptr,
};

}  // namespace hocket
