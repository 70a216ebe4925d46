#include "exchange/nccl_write.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "exchange/nccl_rates.h"

namespace hocket {
namespace {

constexpr int kDepthMax = 32;
constexpr std::size_t kParallelMax = 64;  // in one element
constexpr VertexId kNone = UINT32_MAX;

struct GpuRates {
  std::optional<BytesPerSecond> nvlink, xgmi;
};

std::optional<int> sm_of(BytesPerSecond rate) {
  for (const int sm : {70, 60, 86, 90, 100}) {
    if (nvlink_bandwidth(sm) == rate) return sm;
  }
  return std::nullopt;
}

std::optional<std::string_view> gcn_of(BytesPerSecond rate) {
  for (const std::string_view gcn : {"908", "910", "gfx942"}) {
    if (xgmi_bandwidth(gcn) == rate) return gcn;
  }
  return std::nullopt;
}

class Writer {
 public:
  explicit Writer(const Topology& topology) : t_(topology) {}

  Result<std::string> write() {
    HOCKET_TRY(find_tree());
    for (const std::string& note : t_.notes()) add_comment(note);
    if (cpus_.empty()) add_comment("no hosts in the network: one cpu and its PCIe links are placeholders");
    out_ += "<system version=\"1\">\n";
    if (cpus_.empty()) {
      out_ += "  <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n";
      for (VertexId v = 0; v < t_.vertices().size(); ++v) {
        if (kind(v) == VertexKind::kNpu) HOCKET_TRY(write_device(v, 2));
      }
      out_ += "  </cpu>\n";
    }
    for (std::size_t i = 0; i < cpus_.size(); ++i) HOCKET_TRY(write_cpu(i));
    out_ += "</system>\n";
    return std::move(out_);
  }

 private:
  [[nodiscard]] VertexKind kind(VertexId v) const { return t_.vertices()[v].kind; }
  [[nodiscard]] const std::string& name(VertexId v) const { return t_.vertices()[v].name; }
  static std::string indent(int depth) { return std::string(static_cast<std::size_t>(depth) * 2, ' '); }
  static std::string busid(VertexId v) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", v >> 16 & 0xffff, v >> 8 & 0xff, v >> 3 & 0x1f, v & 7);
  }

  void add_comment(const std::string& text) {
    std::string plain = text;
    std::replace(plain.begin(), plain.end(), '-', '_');  // "--" may not stand in a comment
    std::erase_if(plain, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    out_ += fmt::format("<!-- {} -->\n", plain);
  }

  /// The parent of a vertex is where its first link leads, if that is a host before it; cpus are the roots.
  Result<void> find_tree() {
    parent_link_.assign(t_.vertices().size(), kNone);
    children_.assign(t_.vertices().size(), {});
    for (VertexId v = 0; v < t_.vertices().size(); ++v) {
      if (kind(v) == VertexKind::kHost && name(v).starts_with("cpu")) cpus_.push_back(v);
      if (kind(v) == VertexKind::kSwitch && std::exchange(gpu_switch_, v) != kNone) {
        return fail(Code::kUnsupported, "NCCL XML knows one GPU switch, '{}' has several", t_.name());
      }
    }
    for (VertexId v = 0; v < t_.vertices().size(); ++v) {
      if (kind(v) == VertexKind::kSwitch || (!cpus_.empty() && std::binary_search(cpus_.begin(), cpus_.end(), v)))
        continue;
      const auto outgoing = t_.outgoing(v);
      const bool hangs = !outgoing.empty() && kind(t_.link(outgoing.front()).to) == VertexKind::kHost &&
                         t_.link(outgoing.front()).to < v;
      if (hangs) {
        parent_link_[v] = outgoing.front();
        children_[t_.link(outgoing.front()).to].push_back(v);
      } else if (!cpus_.empty() || kind(v) != VertexKind::kNpu) {
        return fail(Code::kUnsupported, "NCCL XML wants a tree of cpus and PCIe devices, '{}' does not hang in one",
                    name(v));
      }
    }
    return {};
  }

  Result<void> write_cpu(std::size_t index) {
    const VertexId cpu = cpus_[index];
    std::optional<BytesPerSecond> rate;
    std::size_t joined = 0;
    for (const LinkId id : t_.outgoing(cpu)) {
      const VertexId other = t_.link(id).to;
      if (!std::binary_search(cpus_.begin(), cpus_.end(), other)) continue;
      rate = std::max(rate.value_or(BytesPerSecond{0}), t_.link(id).bandwidth);
      ++joined;
    }
    if (joined + 1 != cpus_.size())
      return fail(Code::kUnsupported, "NCCL XML joins all cpus, '{}' has {} of {} cables", name(cpu), joined,
                  cpus_.size() - 1);
    const auto identity = cpu_identity(rate.value_or(BytesPerSecond{10e9}));
    if (!identity) {
      return fail(Code::kUnsupported, "NCCL XML has no cpu with {} between sockets ('{}')", format_bandwidth(*rate),
                  name(cpu));
    }
    out_ += fmt::format("  <cpu numaid=\"{}\" arch=\"{}\" vendor=\"{}\" familyid=\"{}\" modelid=\"{}\">\n", index,
                        identity->arch, identity->vendor, identity->family, identity->model);
    for (const VertexId child : children_[cpu]) HOCKET_TRY(write_device(child, 2));
    out_ += "  </cpu>\n";
    return {};
  }

  Result<void> write_device(VertexId v, int depth) {
    if (depth > kDepthMax) return fail(Code::kUnsupported, "PCIe tree of '{}' is deeper than {}", t_.name(), kDepthMax);
    const BytesPerSecond rate = parent_link_[v] == kNone ? BytesPerSecond{12e9} : t_.link(parent_link_[v]).bandwidth;
    const std::string net = fmt::format("<net name=\"{}\" dev=\"{}\"/>", escaped(name(v)), nics_);
    if (kind(v) == VertexKind::kNic) ++nics_;
    if (kind(v) == VertexKind::kNic && rate == kLocalBandwidth) {
      out_ += fmt::format("{}<nic>{}</nic>\n", indent(depth), net);
      return {};
    }
    const auto pcie = pcie_attributes(rate);
    if (!pcie)
      return fail(Code::kUnsupported, "no PCIe generation and width make {} ('{}')", format_bandwidth(rate), name(v));
    const std::string_view type = kind(v) == VertexKind::kNpu   ? "0x030200"
                                  : kind(v) == VertexKind::kNic ? "0x020000"
                                                                : "0x060400";
    out_ += fmt::format("{}<pci busid=\"{}\" class=\"{}\" link_speed=\"{}\" link_width=\"{}\"", indent(depth), busid(v),
                        type, pcie->link_speed, pcie->link_width);
    out_ += ">\n";
    if (kind(v) == VertexKind::kNic) out_ += fmt::format("{}<nic>{}</nic>\n", indent(depth + 1), net);
    if (kind(v) == VertexKind::kNpu) HOCKET_TRY(write_gpu(v, depth + 1));
    for (const VertexId child : children_[v]) HOCKET_TRY(write_device(child, depth + 1));
    out_ += fmt::format("{}</pci>\n", indent(depth));
    return {};
  }

  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text.substr(0, 200)) {
      if (c == '&' || c == '<' || c == '>' || c == '"' || static_cast<unsigned char>(c) < ' ') {
        result += '_';
      } else {
        result += c;
      }
    }
    return result;
  }

  Result<void> write_gpu(VertexId v, int depth) {
    std::string links;
    GpuRates rates;
    const auto outgoing = t_.outgoing(v);
    for (std::size_t i = 0; i < outgoing.size();) {
      const Link& link = t_.link(outgoing[i]);
      std::size_t count = 1;
      while (outgoing[i] != parent_link_[v] && i + count < outgoing.size() &&
             t_.link(outgoing[i + count]).to == link.to && t_.link(outgoing[i + count]).bandwidth == link.bandwidth &&
             outgoing[i + count] != parent_link_[v]) {
        ++count;
      }
      if (outgoing[i] != parent_link_[v]) HOCKET_TRY(write_gpu_link(link, count, rates, links));
      i += count;
    }
    out_ +=
        fmt::format("{}<gpu dev=\"{}\" sm=\"{}\"", indent(depth), gpus_++, rates.nvlink ? *sm_of(*rates.nvlink) : 70);
    if (rates.xgmi) out_ += fmt::format(" gcn=\"{}\"", *gcn_of(*rates.xgmi));
    if (t_.rank_of(v) >= 0) out_ += fmt::format(" rank=\"{}\"", t_.rank_of(v));
    out_ += fmt::format(" gdr=\"1\">\n{}{}</gpu>\n", links, indent(depth));
    return {};
  }

  Result<void> write_gpu_link(const Link& link, std::size_t count, GpuRates& rates, std::string& links) const {
    if (kind(link.to) == VertexKind::kHost) {
      const double megabytes = link.bandwidth.value / 1e6;
      if (megabytes != std::floor(megabytes) || megabytes > 1e9) {
        return fail(Code::kUnsupported, "NCCL XML holds GPU to cpu links in whole MB/s, '{}' has {}", name(link.from),
                    exact_bandwidth(link.bandwidth));
      }
      for (std::size_t left = count; left > 0; left -= std::min(left, kParallelMax)) {
        links += fmt::format("        <c2c bw=\"{:.0f}\" count=\"{}\"/>\n", megabytes, std::min(left, kParallelMax));
      }
      return {};
    }
    const bool is_xgmi = gcn_of(link.bandwidth).has_value();
    std::optional<BytesPerSecond>& rate = is_xgmi ? rates.xgmi : rates.nvlink;
    if ((!is_xgmi && !sm_of(link.bandwidth)) || rate.value_or(link.bandwidth) != link.bandwidth) {
      return fail(Code::kUnsupported,
                  "GPU link '{}' of {} cannot stand in NCCL XML: one rate per GPU, NVLink 12, 18, 20, 20.6 or 40.1 "
                  "GB/s, xGMI 24, 36 or 48",
                  name(link.from) + " -> " + name(link.to), format_bandwidth(link.bandwidth));
    }
    rate = link.bandwidth;
    const bool to_switch = kind(link.to) == VertexKind::kSwitch;
    for (std::size_t left = count; left > 0; left -= std::min(left, kParallelMax)) {
      links += fmt::format("        <{} target=\"{}\" count=\"{}\" tclass=\"{}\"/>\n", is_xgmi ? "xgmi" : "nvlink",
                           busid(link.to), std::min(left, kParallelMax), to_switch ? "0x068000" : "0x030200");
    }
    return {};
  }

  const Topology& t_;
  std::string out_;
  std::vector<VertexId> cpus_;
  std::vector<LinkId> parent_link_;
  std::vector<std::vector<VertexId>> children_;
  VertexId gpu_switch_ = kNone;
  std::size_t nics_ = 0, gpus_ = 0;
};

}  // namespace

Result<std::string> write_nccl_xml(const Topology& topology) { return Writer(topology).write(); }

}  // namespace hocket
