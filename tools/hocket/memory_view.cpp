#include "memory_view.h"

#include <fmt/format.h>

namespace hocket {
namespace {

std::string gigabytes(double bytes) { return fmt::format("{:.3g}", bytes / 1e9); }

}  // namespace

std::optional<bool> fits(const WorkMemory* memory, const std::optional<MemoryCapacity>& capacity) {
  if (memory == nullptr || !capacity) return std::nullopt;
  return memory->total() <= capacity->bytes;
}

std::string memory_line(const WorkMemory* memory, const std::string& platform,
                        const std::optional<MemoryCapacity>& capacity) {
  if (memory == nullptr) return "memory per npu: the workload does not say";
  const std::string parts =
      fmt::format("parameters {}, gradients {}, optimizer {}, activations {} GB", gigabytes(memory->parameters),
                  gigabytes(memory->gradients), gigabytes(memory->optimizer), gigabytes(memory->activations));
  const std::string total = gigabytes(memory->total());
  if (!capacity) return fmt::format("memory per npu: {} GB ({} states no capacity): {}", total, platform, parts);
  const std::string has = gigabytes(capacity->bytes);
  if (memory->total() <= capacity->bytes) return fmt::format("memory per npu: {} of {} GB: {}", total, has, parts);
  const std::string where = capacity->differs ? fmt::format("rank {} of {}", capacity->rank, platform) : platform;
  return fmt::format("does not fit: {} GB per npu, {} has {} GB: {}", total, where, has, parts);
}

nlohmann::ordered_json memory_json(const WorkMemory* memory, const std::optional<MemoryCapacity>& capacity) {
  nlohmann::ordered_json out;
  const std::optional<bool> fit = fits(memory, capacity);
  out["fits"] = fit ? nlohmann::ordered_json(*fit) : nlohmann::ordered_json(nullptr);
  out["capacity_bytes"] = capacity ? nlohmann::ordered_json(capacity->bytes) : nlohmann::ordered_json(nullptr);
  if (memory == nullptr) return out;
  out["needed_bytes"] = memory->total();
  out["parameters_bytes"] = memory->parameters;
  out["gradients_bytes"] = memory->gradients;
  out["optimizer_bytes"] = memory->optimizer;
  out["activations_bytes"] = memory->activations;
  return out;
}

}  // namespace hocket
