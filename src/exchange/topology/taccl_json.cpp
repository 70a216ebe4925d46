// TACCL's topology JSON: one node of GPUs with costs per link.
//   "links" + "betas" matrices (its "custom" form): a link where the entry of links is above zero
//   one entry in node_betas_list: all GPUs behind one switch
//   two entries and 8 GPUs: the DGX-1 / NDv2 wiring, the first entry for its double links, the second for single ones
// alpha is us, a beta us per MB (10^6 B), so that a link carries 1e12 / beta bytes per second. Costs between nodes are
// ignored: the file does not say how many nodes there are.
#include <algorithm>
#include <array>
#include <cmath>

#include "exchange/json_text.h"
#include "exchange/topology_format.h"
#include "topology/spec.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t kGpusMax = 1024;

BytesPerSecond rate_of(double beta) { return {1e12 / beta}; }

class TacclReader {
 public:
  TacclReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<ReadTopology> read() {
    HOCKET_TRY_ASSIGN(root_, parse_json(text_, file_name_));
    if (!root_.is_object()) return fail(Code::kMalformed, "{}: not a JSON object", file_name_);
    HOCKET_TRY_ASSIGN(const double gpus, number("gpus_per_node"));
    if (gpus < 1 || gpus != std::floor(gpus) || gpus > kGpusMax) {
      return error_at("gpus_per_node", fmt::format("{} is not a whole number of 1 to {}", gpus, kGpusMax));
    }
    gpus_ = static_cast<std::uint32_t>(gpus);
    HOCKET_TRY_ASSIGN(const double alpha, number("alpha"));
    if (alpha < 0 || alpha > 1e9) return error_at("alpha", fmt::format("{} is no cost in us", alpha));
    latency_ = {alpha * 1e-6};
    if (root_.contains("links")) {
      HOCKET_TRY(read_matrices());
    } else {
      HOCKET_TRY(read_list());
    }
    report_rest();
    return build_with_losses(std::move(builder_), std::move(losses_));
  }

 private:
  [[nodiscard]] tl::unexpected<Error> error_at(std::string_view key, std::string_view what) const {
    const std::string line = json_line(text_, key);
    return fail(Code::kMalformed, "{}: {}{}key '{}': {}", file_name_, line, line.empty() ? "" : ": ", key, what);
  }

  Result<double> number(std::string_view key) const {
    const auto found = root_.find(key);
    if (found == root_.end()) return fail(Code::kMalformed, "{}: key '{}' is missing", file_name_, key);
    if (!found->is_number()) return error_at(key, "is not a number");
    return found->get<double>();
  }

  Result<double> cost(const Json& value, std::string_view key) const {
    const double beta = value.is_number() ? value.get<double>() : 0;
    if (beta >= 1e-6 && beta <= 1e12) return beta;
    return error_at(key, fmt::format("{} is no cost above zero (us per MB)", value.dump().substr(0, 40)));
  }

  void add_gpus() {
    for (std::uint32_t i = 0; i < gpus_; ++i) builder_.add_vertex(fmt::format("gpu{}", i), VertexKind::kNpu);
  }

  Result<void> check_matrix(std::string_view key) const {
    const auto found = root_.find(key);
    if (found == root_.end()) return fail(Code::kMalformed, "{}: key '{}' is missing", file_name_, key);
    if (!found->is_array() || found->size() != gpus_) {
      return error_at(key, fmt::format("{} rows, gpus_per_node is {}", found->size(), gpus_));
    }
    for (std::size_t row = 0; row < gpus_; ++row) {
      const Json& entries = (*found)[row];
      if (!entries.is_array() || entries.size() != gpus_) {
        return error_at(key, fmt::format("row {} has {} entries, gpus_per_node is {}", row, entries.size(), gpus_));
      }
    }
    return {};
  }

  /// Row = destination, column = source, as TACCL counts.
  Result<void> read_matrices() {
    HOCKET_TRY(check_matrix("links"));
    HOCKET_TRY(check_matrix("betas"));
    add_gpus();
    bool symmetric = true;
    for (std::uint32_t to = 0; to < gpus_; ++to) {
      for (std::uint32_t from = 0; from < gpus_; ++from) {
        const Json& entry = root_["links"][to][from];
        if (!entry.is_number() || entry.get<double>() < 0 || entry.get<double>() > 1024) {
          return error_at("links", fmt::format("row {}, column {}: {} is no number of links", to, from,
                                               entry.dump().substr(0, 40)));
        }
        symmetric = symmetric && entry == root_["links"][from][to];
        if (entry.get<double>() == 0) continue;
        if (from == to) {
          losses_.repaired(json_line(text_, "links"), fmt::format("link of GPU {} to itself", to), "left out");
          continue;
        }
        HOCKET_TRY_ASSIGN(const double beta, cost(root_["betas"][to][from], "betas"));
        builder_.add_link(from, to, rate_of(beta), latency_);
      }
    }
    if (!symmetric) losses_.assumed("links", "row = destination, column = source", "as TACCL counts");
    return {};
  }

  Result<void> read_list() {
    const auto betas = root_.find("node_betas_list");
    if (betas == root_.end()) {
      return fail(Code::kMalformed, "{}: neither 'links' and 'betas' nor 'node_betas_list'", file_name_);
    }
    if (!betas->is_array() || betas->empty()) return error_at("node_betas_list", "is not a list of costs");
    if (betas->size() == 1) {
      HOCKET_TRY_ASSIGN(const double beta, cost((*betas)[0], "node_betas_list"));
      add_gpus();
      const VertexId hub = builder_.add_vertex("switch", VertexKind::kSwitch);
      for (std::uint32_t i = 0; i < gpus_; ++i) builder_.add_cable(i, hub, rate_of(beta), {latency_.value / 2});
      losses_.assumed(json_line(text_, "node_betas_list"), "one switch between all GPUs, half of alpha per hop",
                      "the wiring is not in the file, and there is one cost");
      return {};
    }
    if (betas->size() != 2 || gpus_ != 8) {
      return fail(Code::kUnsupported,
                  "{}: {} kinds of links among {} GPUs and no 'links' matrix: the wiring is unknown", file_name_,
                  betas->size(), gpus_);
    }
    return wire_as_dgx1(*betas);
  }

  Result<void> wire_as_dgx1(const Json& betas) {
    std::array<double, 2> costs{};
    for (std::size_t i = 0; i < 2; ++i) {
      HOCKET_TRY_ASSIGN(costs[i], cost(betas[i], "node_betas_list"));
    }
    HOCKET_TRY_ASSIGN(const Topology wiring, topology_from_spec("dgx1", {}));
    add_gpus();
    for (std::uint32_t to = 0; to < 8; ++to) {
      for (std::uint32_t from = 0; from < to; ++from) {
        std::size_t parallel = 0;
        for (const LinkId id : wiring.outgoing(wiring.vertex_of(from))) {
          parallel += wiring.link(id).to == wiring.vertex_of(to) ? 1 : 0;
        }
        if (parallel > 0) builder_.add_cable(from, to, rate_of(costs[parallel > 1 ? 0 : 1]), latency_);
      }
    }
    losses_.assumed(json_line(text_, "node_betas_list"), "DGX-1 wiring, first cost for double links, second for single",
                    "the wiring is not in the file, and there are two costs for 8 GPUs");
    return {};
  }

  void report_rest() {
    losses_.assumed("alpha", "us per link", "what TACCL means");
    losses_.assumed("betas", "us per MB (10^6 B): a link carries 1/beta",
                    "TACCL's authors may have scaled costs to one input size; then all times scale alike");
    for (const auto& [key, value] : root_.items()) {
      constexpr std::array<std::string_view, 6> kUsed{"name",  "gpus_per_node", "alpha",
                                                      "links", "betas",         "node_betas_list"};
      if (std::find(kUsed.begin(), kUsed.end(), key) != kUsed.end()) continue;
      const bool sum = key.find("invbw") != std::string::npos;
      losses_.ignored(json_line(text_, key), fmt::format("key '{}'", key.substr(0, 80)),
                      sum ? "alpha + beta, which are read"
                      : key.starts_with("remote_") || key == "nics_per_node"
                          ? "one node is read; the file does not say how many there are"
                          : "unknown");
    }
  }

  std::string_view text_, file_name_;
  Json root_;
  std::uint32_t gpus_ = 0;
  Seconds latency_;
  TopologyBuilder builder_{std::string(file_name_), "file"};
  LossReport losses_;
};

bool recognise(std::string_view text) { return has_json_key(text, "gpus_per_node"); }

Result<ReadTopology> read(std::string_view text, std::string_view file_name) {
  return TacclReader(text, file_name).read();
}

}  // namespace

extern const TopologyFormat topology_format_taccl_json{
    .name = "taccl-json",
    .extensions = "",
    .description = "TACCL topology JSON",
    .recognise = recognise,
    .read = read,
    .write = nullptr,
    .describe = nullptr,
};

}  // namespace hocket
