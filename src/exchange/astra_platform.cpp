#include "exchange/astra_platform.h"

#include <filesystem>

namespace hocket {
namespace {

constexpr std::array kRated{DataType::kF16, DataType::kBf16, DataType::kF32};
constexpr std::string_view kOfEngines = "engines.astra and engines.dma";

/// Why a key that is understood has no place in a platform.
std::string_view reason_of(std::string_view key) {
  if (key.ends_with("-implementation")) return "a platform names no algorithms, --algo does";
  if (key.ends_with("-custom")) return "traces of messages: a workload, not a platform";
  if (key == "preferred-dataset-splits") return "engines cut by bytes ('chunk'), not into a number of parts";
  if (key == "collective-optimization") return "which phases there are follows from the schedule";
  if (key == "boost-mode") return "ranks that are alike are found and folded without it";
  if (key == "roofline-enabled") return "a roofline prices what has no duration of its own";
  if (key == "replay-only") return "0: collectives are simulated, as they are here";
  if (key == "trace-enabled" || key.starts_with("track-") || key.starts_with("local-mem-trace"))
    return "says what is logged";
  if (key.ends_with("-scheduling")) return "chunks wait in order of arrival";
  if (key == "local-mem-latency") return "memory has a bandwidth only";
  return "of a model of the bus that ASTRA-sim's analytical networks do not use";
}

class PlatformMaker {
 public:
  explicit PlatformMaker(const AstraInput& input) : input_(input) {}

  Result<ImportedPlatform> make() {
    HOCKET_TRY(check_dimensions(input_));
    HOCKET_TRY(refuse());
    Platform& p = result_.platform;
    p.name = std::filesystem::path(input_.network_file).stem().string();
    p.description = fmt::format("from ASTRA-sim: {}, {}{}{}", input_.network_file, input_.system_file,
                                input_.memory ? ", " : "", input_.memory_file);
    make_network();
    make_endpoint();
    make_engines();
    if (input_.memory) make_memory();
    report_rest();
    HOCKET_TRY(validate(p));
    return std::move(result_);
  }

 private:
  using Entry = AstraSystem::Entry;

  Result<void> refuse() const {
    const AstraSystem& s = input_.system;
    const auto lacks = [&](std::string_view key, std::string_view what) {
      return fail(Code::kMalformed, "{}: no key '{}': a platform needs {}", input_.system_file, key, what);
    };
    if (!s.local_memory_GBps) return lacks("local-mem-bw", "the memory bandwidth of an npu");
    if (!s.peak_TFLOPS) return lacks("peak-perf", "the rate of compute of an npu");
    if (s.explicit_order) {
      return fail(Code::kUnsupported, "{}: {}: 'scheduling-policy' EXPLICIT: engines take fifo and lifo, no priorities",
                  input_.system_file, s.find("scheduling-policy")->where);
    }
    if (s.replay_only) {
      return fail(Code::kUnsupported, "{}: {}: 'replay-only' 1: collectives are simulated, not replayed",
                  input_.system_file, s.find("replay-only")->where);
    }
    return {};
  }

  /// Says that a key of the system file became `what`, and returns the source of the figure.
  std::string take(std::string_view key, std::string_view what) {
    const Entry& entry = *input_.system.find(key);
    result_.taken.push_back(
        fmt::format("{}: {}: {} {} as {}", input_.system_file, entry.where, key, entry.value, what));
    return fmt::format("{}: {}", input_.system_file, key);
  }

  void make_network() {
    PlatformNetwork& network = result_.platform.network;
    network.topology = fmt::format("product:{}", product_words(input_.network.dimensions));
    result_.taken.push_back(
        fmt::format("{}: topology and npus_count as network {}", input_.network_file, network.topology));
    network.links.reserve(input_.network.dimensions.size());
    for (std::size_t d = 0; d < input_.network.dimensions.size(); ++d) {
      const LinkRate& link = input_.network.dimensions[d].link;
      network.links.push_back({{link.bandwidth.value, fmt::format("{}: bandwidth[{}], GiB/s", input_.network_file, d)},
                               {link.latency.value, fmt::format("{}: latency[{}], ns", input_.network_file, d)}});
    }
    result_.taken.push_back(
        fmt::format("{}: bandwidth and latency as network.links, one per dimension", input_.network_file));
    result_.losses.append(input_.network.losses);
  }

  void make_endpoint() {
    const AstraSystem& s = input_.system;
    EndpointModel& e = result_.platform.endpoint;
    e.compute_units = Figure{1, ""};
    result_.losses.assumed("endpoint.compute_units", "one compute unit", "ASTRA-sim knows no compute units");
    e.memory_bandwidth = Figure{*s.local_memory_GBps * 1e9, take("local-mem-bw", "endpoint.memory_bandwidth, GB/s")};
    const std::string peak = take("peak-perf", "endpoint.rates of f16, bf16 and f32, TFLOPS");
    for (const DataType type : kRated) e.rates[static_cast<std::size_t>(type)] = Figure{*s.peak_TFLOPS * 1e12, peak};
    result_.losses.assumed(s.find("peak-perf")->where, "one rate for f16, bf16 and f32",
                           "ASTRA-sim knows no data types");
  }

  void make_engines() {
    const AstraSystem& s = input_.system;
    CommunicationEngine engine;
    if (s.order) {
      engine.order = *s.order;
      take("scheduling-policy", fmt::format("order of {}", kOfEngines));
    }
    if (s.endpoint_delay_ns)
      engine.reaction = Figure{*s.endpoint_delay_ns / 1e9, take("endpoint-delay", reaction_words())};
    if (s.active_chunks) {
      const auto dimensions = static_cast<double>(input_.network.dimensions.size());
      const std::string words =
          fmt::format("chunks_in_flight of {}, times {:.0f} dimension(s)", kOfEngines, dimensions);
      engine.chunks_in_flight = Figure{*s.active_chunks * dimensions, take("active-chunks-per-dimension", words)};
    }
    engine.name = "astra";
    engine.kind = EngineKind::kIdeal;
    result_.platform.engines.push_back(engine);
    engine.name = "dma";
    engine.kind = EngineKind::kDma;
    result_.platform.engines.push_back(engine);
  }

  static std::string reaction_words() { return fmt::format("reaction of {}, ns", kOfEngines); }

  void make_memory() {
    const AstraMemory& memory = *input_.memory;
    const std::string& file = input_.memory_file;
    result_.losses.append(memory.losses);
    if (memory.kind == AstraMemoryKind::kNone) {
      result_.taken.push_back(
          fmt::format("{}: memory-type {}: an npu has its own memory only", file, name_of(memory.kind)));
      for (const bool there : {memory.latency_ns.has_value(), memory.bandwidth_GBps.has_value()})
        if (there) result_.losses.ignored(file, "a rate of remote memory", "NO_MEMORY_EXPANSION: there is none");
      return;
    }
    EndpointModel& e = result_.platform.endpoint;
    e.remote_bandwidth = Figure{*memory.bandwidth_GBps * 1e9, fmt::format("{}: remote-mem-bw", file)};
    result_.taken.push_back(
        fmt::format("{}: remote-mem-bw {} as endpoint.remote_bandwidth, GB/s", file, *memory.bandwidth_GBps));
    if (memory.latency_ns) {
      e.remote_latency = Figure{*memory.latency_ns / 1e9, fmt::format("{}: remote-mem-latency", file)};
      result_.taken.push_back(
          fmt::format("{}: remote-mem-latency {} as endpoint.remote_latency, ns", file, *memory.latency_ns));
    }
    result_.losses.ignored(file, "the use of remote memory", "accesses of traces count as local ones so far");
    if (memory.kind != AstraMemoryKind::kPerNpu) {
      result_.losses.ignored(file, fmt::format("memory-type {}", name_of(memory.kind)),
                             "its rate is every npu's own here, not shared");
    }
    for (const bool there : {memory.nodes.has_value(), memory.npus_per_node.has_value()})
      if (there) result_.losses.ignored(file, "a count of nodes", "a platform has npus, no nodes");
  }

  /// Every key of the system file that nothing above took.
  void report_rest() {
    constexpr std::array<std::string_view, 5> kTaken{"scheduling-policy", "endpoint-delay",
                                                     "active-chunks-per-dimension", "local-mem-bw", "peak-perf"};
    for (const Entry& e : input_.system.entries) {
      if (std::find(kTaken.begin(), kTaken.end(), e.key) != kTaken.end()) continue;
      result_.losses.ignored(fmt::format("{}: {}", input_.system_file, e.where), fmt::format("{} {}", e.key, e.value),
                             std::string(reason_of(e.key)));
    }
    result_.losses.append(input_.system.losses);
  }

  const AstraInput& input_;
  ImportedPlatform result_;
};

}  // namespace

Result<void> check_dimensions(const AstraInput& input) {
  if (input.system.dimensions == input.network.dimensions.size()) return {};
  return fail(Code::kMismatch, "{}: 'topology' has {} value(s), but the '...-implementation' lists of {} have {}",
              input.network_file, input.network.dimensions.size(), input.system_file, input.system.dimensions);
}

Result<ImportedPlatform> platform_from_astra(const AstraInput& input) { return PlatformMaker(input).make(); }

}  // namespace hocket
