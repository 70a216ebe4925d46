#include "simulator/step_metrics.h"

#include <array>
#include <cmath>

namespace hocket {
namespace {

using R = const StepResult&;
using N = std::uint32_t;

double seconds(Picos t) { return to_seconds(t).value; }

constexpr std::array kMetrics{
    StepMetric{"step_time_s", "time of a step", [](R r, N steps) { return seconds(r.time) / steps; }},
    StepMetric{"time_s", "time of all steps", [](R r, N) { return seconds(r.time); }},
    StepMetric{"compute_s", "time in which kernels ran", [](R r, N) { return seconds(r.compute_busy); }},
    StepMetric{"compute_alone_s", "time of kernels undisturbed", [](R r, N) { return seconds(r.compute_alone); }},
    StepMetric{"communication_s", "time with a collective issued", [](R r, N) { return seconds(r.communication); }},
    StepMetric{"exposed_s", "exposed communication", [](R r, N) { return seconds(r.exposed); }},
    StepMetric{"hidden_fraction", "hidden share of communication", [](R r, N) { return r.hidden_fraction(); }},
    StepMetric{"compute_slowdown", "slowdown of compute", [](R r, N) { return r.compute_slowdown(); }},
    StepMetric{"network_rate_Bps", "sent per rank over the time of all steps",
               [](R r, N) { return r.time.count > 0 ? r.sent_bytes / seconds(r.time) : 0.0; }},
    StepMetric{"memory_bytes_read", "memory read by collectives", [](R r, N) { return r.memory_bytes_read; }},
    StepMetric{"memory_bytes_written", "memory written by collectives", [](R r, N) { return r.memory_bytes_written; }},
    StepMetric{"compute_memory_bytes", "memory traffic of kernels", [](R r, N) { return r.compute_memory_bytes; }},
    StepMetric{"sent_bytes", "sent by a rank", [](R r, N) { return r.sent_bytes; }},
    StepMetric{"network_bytes", "over all links", [](R r, N) { return r.network_bytes; }},
    StepMetric{"padded_bytes", "added so that pieces are equal", [](R r, N) { return r.padded_bytes; }},
    StepMetric{"memory_needed_bytes", "memory that a rank needs (0: not known)",
               [](R r, N) { return r.memory.total(); }},
    StepMetric{"memory_parameters_bytes", "of it parameters", [](R r, N) { return r.memory.parameters; }},
    StepMetric{"memory_gradients_bytes", "of it gradients", [](R r, N) { return r.memory.gradients; }},
    StepMetric{"memory_optimizer_bytes", "of it state of the optimizer", [](R r, N) { return r.memory.optimizer; }},
    StepMetric{"memory_activations_bytes", "of it activations", [](R r, N) { return r.memory.activations; }},
    StepMetric{"ranks", "ranks", [](R r, N) { return static_cast<double>(r.ranks); }, true},
    StepMetric{"ranks_simulated", "ranks simulated", [](R r, N) { return static_cast<double>(r.simulated); }, true},
    StepMetric{"chunks", "chunks of collectives", [](R r, N) { return static_cast<double>(r.chunks); }, true},
    StepMetric{"events", "events of the simulation", [](R r, N) { return static_cast<double>(r.events); }, true},
};

}  // namespace

std::span<const StepMetric> step_metrics() { return kMetrics; }

const StepMetric* find_step_metric(std::string_view name) {
  for (const StepMetric& metric : kMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

std::string metric_text(std::string_view name, double value) {
  if (name.ends_with("_Bps")) return format_bandwidth({value});
  if (name.ends_with("_s")) return format_seconds({value});
  if (name.find("bytes") != std::string_view::npos) return fmt::format("{:.4g} GB", value / 1e9);
  return value == std::floor(value) ? exact_number(value) : fmt::format("{:.3f}", value);
}

std::string exact_number(double value) {
  constexpr double kWhole = 9007199254740992.0;  // 2^53
  if (value == std::floor(value) && std::abs(value) < kWhole) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace hocket
