#include "simulator/engine_memory.h"

#include <algorithm>
#include <numeric>

namespace hocket {
namespace {

/// One machine a phase, the others in proportion to how long a chunk stays in it: largest remainders first.
std::vector<std::uint32_t> bind_machines(std::uint32_t machines, const std::vector<Picos>& lone) {
  std::vector<std::uint32_t> bound(lone.size(), 1);
  long double sum = 0;
  for (const Picos t : lone) sum += static_cast<long double>(t.count);
  std::vector<std::pair<long double, std::size_t>> rests;
  auto left = static_cast<std::uint32_t>(machines - lone.size());
  for (std::size_t p = 0; p < lone.size(); ++p) {
    const long double share =
        sum > 0 ? static_cast<long double>(machines) * static_cast<long double>(lone[p].count) / sum : 1;
    const auto more = std::min(left, static_cast<std::uint32_t>(std::max(0.0L, share - 1)));
    bound[p] += more;
    left -= more;
    rests.emplace_back(-(share - static_cast<long double>(bound[p])), p);
  }
  std::sort(rests.begin(), rests.end());
  for (std::size_t i = 0; left > 0; ++i, --left) ++bound[rests[i % rests.size()].second];
  return bound;
}

}  // namespace

Result<EngineLayout> plan_engine(const CommunicationEngine& engine, const ChunkShape& shape, PartitionRule rule) {
  const std::size_t phases = shape.held.size();
  const double machines = engine.machines->value;
  if (machines < static_cast<double>(phases)) {
    return fail(Code::kUnsupported, "engine '{}' has {} state machines, '{}' has {} phases", engine.name, machines,
                shape.plan.schedule().algorithm(), phases);
  }
  EngineLayout layout;
  layout.machines = bind_machines(static_cast<std::uint32_t>(machines), shape.phase_lone);
  // The terminal partition holds whole results, as the last phase does.
  std::vector<double> weights;
  for (std::size_t p = 0; p <= phases; ++p) {
    const std::size_t of = std::min(p, phases - 1);
    const double factor = rule == PartitionRule::kPublished ? shape.phase_rates[of] : layout.machines[of];
    weights.push_back(factor * static_cast<double>(of == p ? shape.held[of] : shape.output));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::int64_t least = std::accumulate(shape.held.begin(), shape.held.end(), shape.output);
  if (engine.sram->value < static_cast<double>(least)) {
    return fail(Code::kUnsupported, "engine '{}' has {:.0f} B of memory; a chunk in every phase takes {} B",
                engine.name, engine.sram->value, least);
  }
  for (const double weight : weights)
    layout.partitions.push_back(static_cast<std::int64_t>(engine.sram->value * weight / sum));
  return layout;
}

void EngineMemory::admit(std::uint32_t chunk, std::size_t phases, std::int64_t bytes) {
  used_[0] += bytes;
  for (std::size_t p = 1; p < phases; ++p) turns_[p].push_back(chunk);
}

std::optional<std::uint32_t> EngineMemory::next(std::uint32_t partition) const {
  const std::deque<std::uint32_t>& ready = ready_[partition];
  if (ready.empty()) return std::nullopt;
  if (partition == terminal()) return ready.front();
  const std::uint32_t chunk = turns_[partition].front();
  if (std::find(ready.begin(), ready.end(), chunk) == ready.end()) return std::nullopt;
  return chunk;
}

void EngineMemory::enter(std::uint32_t partition, std::int64_t bytes) {
  std::deque<std::uint32_t>& ready = ready_[partition];
  ready.erase(std::find(ready.begin(), ready.end(), *next(partition)));
  if (partition != terminal()) turns_[partition].pop_front();
  used_[partition] += bytes;
}

}  // namespace hocket
