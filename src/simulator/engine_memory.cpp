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

/// A chunk in every phase, and its result.
std::int64_t least_bytes(const ChunkShape& shape) {
  return std::accumulate(shape.held.begin(), shape.held.end(), shape.output);
}

}  // namespace

EngineCuts::EngineCuts(const CommunicationEngine& engine, std::vector<const ChunkShape*> algorithms, PartitionRule rule)
    : shapes_(std::move(algorithms)),
      machines_(static_cast<std::uint32_t>(engine.machines->value)),
      sram_(engine.sram->value),
      rule_(rule) {
  std::uint32_t phases = 0;
  for (const ChunkShape* shape : shapes_) {
    first_.push_back(phases);
    phases += static_cast<std::uint32_t>(shape->held.size());
  }
  first_.push_back(phases);
}

Result<EngineCuts> EngineCuts::make(const CommunicationEngine& engine, std::vector<const ChunkShape*> algorithms,
                                    PartitionRule rule) {
  for (const ChunkShape* shape : algorithms) {
    const std::size_t phases = shape->held.size();
    if (engine.machines->value < static_cast<double>(phases)) {
      return fail(Code::kUnsupported, "engine '{}' has {} state machines, '{}' has {} phases", engine.name,
                  engine.machines->value, shape->plan.schedule().algorithm(), phases);
    }
    if (const std::int64_t least = least_bytes(*shape); engine.sram->value < static_cast<double>(least)) {
      return fail(Code::kUnsupported, "engine '{}' has {:.0f} B of memory; a chunk in every phase takes {} B",
                  engine.name, engine.sram->value, least);
    }
  }
  return EngineCuts(engine, std::move(algorithms), rule);
}

bool EngineCuts::fits(const Running& running) const {
  std::size_t phases = 0;
  std::int64_t bytes = 0;
  for (std::uint32_t a = 0; a < algorithms(); ++a) {
    if (!running[a]) continue;
    phases += shapes_[a]->held.size();
    bytes += least_bytes(*shapes_[a]);
  }
  return phases <= machines_ && static_cast<double>(bytes) <= sram_;
}

const EngineCut& EngineCuts::of(const Running& running) {
  const auto known = cuts_.find(running);
  return known != cuts_.end() ? known->second : cuts_.emplace(running, cut(running)).first->second;
}

EngineCut EngineCuts::cut(const Running& running) const {
  std::vector<Picos> lone;
  for (std::uint32_t a = 0; a < algorithms(); ++a) {
    if (running[a]) lone.insert(lone.end(), shapes_[a]->phase_lone.begin(), shapes_[a]->phase_lone.end());
  }
  EngineCut cut{std::vector<std::int64_t>(terminal() + 1, 0), std::vector<std::uint32_t>(terminal(), 0)};
  const std::vector<std::uint32_t> bound = bind_machines(machines_, lone);
  std::vector<double> weights(terminal() + 1, 0);
  for (std::uint32_t a = 0, next = 0; a < algorithms(); ++a) {
    if (!running[a]) continue;
    const ChunkShape& shape = *shapes_[a];
    double factor = 0;
    for (std::uint32_t p = 0; p < shape.held.size(); ++p, ++next) {
      cut.machines[first_[a] + p] = bound[next];
      factor = rule_ == PartitionRule::kPublished ? shape.phase_rates[p] : bound[next];
      weights[first_[a] + p] = factor * static_cast<double>(shape.held[p]);
    }
    // The terminal partition holds whole results, as the last phase does.
    weights.back() += factor * static_cast<double>(shape.output);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t p = 0; p < weights.size(); ++p)
    cut.partitions[p] = static_cast<std::int64_t>(sram_ * weights[p] / sum);
  return cut;
}

bool EngineMemory::admits(std::uint32_t algorithm) const {
  if (running_[algorithm]) return has_room(first(algorithm), cuts_->first_held(algorithm));
  EngineCuts::Running more = running_;
  more[algorithm] = true;
  const bool alone = std::find(running_.begin(), running_.end(), true) == running_.end();
  return alone || cuts_->fits(more);
}

void EngineMemory::admit(std::uint32_t chunk, std::uint32_t algorithm, std::int64_t bytes) {
  if (chunks_[algorithm]++ == 0) {
    running_[algorithm] = true;
    cut_ = &cuts_->of(running_);
  }
  used_[first(algorithm)] += bytes;
  for (std::uint32_t p = first(algorithm) + 1; p < cuts_->first(algorithm + 1); ++p) turns_[p].push_back(chunk);
}

void EngineMemory::end(std::uint32_t algorithm) {
  if (--chunks_[algorithm] > 0) return;
  running_[algorithm] = false;
  if (std::find(running_.begin(), running_.end(), true) != running_.end()) cut_ = &cuts_->of(running_);
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
