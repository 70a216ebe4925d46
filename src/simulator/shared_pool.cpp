#include "simulator/shared_pool.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "simulator/clock_end.h"

namespace hocket {
namespace {

constexpr long double kPicosPerSecond = 1e12L;
/// Speeds that differ by less are one.
constexpr long double kSame = 1 + 1e-15L;

}  // namespace

SharedPool::SharedPool(std::span<const double> capacities) : resources_(capacities.size()) {
  HOCKET_ASSERT(resources_ <= kResourcesMax, "too many resources");
  std::copy(capacities.begin(), capacities.end(), capacities_.begin());
  for (std::size_t r = 0; r < resources_; ++r) picos_each_[r] = kPicosPerSecond / capacities_[r];
}

long double SharedPool::lone_picos(std::span<const PoolDemand> demands, long double least) const {
  long double longest = least;
  for (const PoolDemand& d : demands) {
    if (d.amount <= 0) continue;
    if (capacities_[d.resource] <= 0) return -1;
    longest = std::max(longest, d.amount * picos_each_[d.resource]);
  }
  return longest;
}

Picos SharedPool::lone_time(std::span<const PoolDemand> demands, Picos least) const {
  const long double picos = lone_picos(demands, static_cast<long double>(least.count));
  return picos < 0 ? kNever : Picos{static_cast<std::int64_t>(std::ceil(picos * (1 - kNoise)))};
}

void SharedPool::start(std::span<const PoolDemand> demands, Picos least, std::uint64_t tag, Picos now) {
  HOCKET_ASSERT(demands.size() <= kDemandsMax, "too many demands");
  advance(now);
  Task task;
  for (const PoolDemand& d : demands) {
    if (d.amount > 0) task.demands[task.count++] = d;
  }
  task.tag = tag;
  task.least = static_cast<long double>(least.count);
  tasks_.push_back(task);
  changed_ = added_ = true;
}

void SharedPool::set_capacity(std::uint32_t resource, double capacity, Picos now) {
  if (capacities_[resource] == capacity) return;
  advance(now);
  capacities_[resource] = capacity;
  picos_each_[resource] = kPicosPerSecond / capacity;
  for (Task& task : tasks_) task.measured = false;
  changed_ = added_ = true;
}

void SharedPool::advance(Picos now) {
  HOCKET_ASSERT(now >= now_, "time runs backwards");
  if (now == now_) return;
  refresh();
  const auto passed = static_cast<long double>((now - now_).count);
  for (Task& task : tasks_) task.left -= task.rate * passed;
  now_ = now;
}

void SharedPool::measure(Task& task) const {
  task.measured = true;
  task.lone = lone_picos(task.needs(), task.least);
  if (task.lone <= 0) return;
  const long double pace = 1 / task.lone;
  for (std::uint32_t i = 0; i < task.count; ++i)
    task.parts[i] = task.demands[i].amount * picos_each_[task.demands[i].resource] * pace;
}

void SharedPool::refresh() {
  if (!changed_) return;
  for (Task& task : tasks_) {
    if (!task.measured) measure(task);
  }
  share();
  changed_ = added_ = false;
}

void SharedPool::share() {
  std::fill_n(free_.begin(), resources_, 1.0L);
  std::fill_n(wanted_.begin(), resources_, 0.0L);
  std::size_t open = 0;
  for (Task& task : tasks_) {
    const bool runs = task.lone > 0;
    task.speed = runs ? -1 : 0;
    task.rate = 0;
    if (!runs) continue;
    ++open;
    for (std::uint32_t i = 0; i < task.count; ++i) wanted_[task.demands[i].resource] += task.parts[i];
  }
  while (open > 0) open -= fix(common_speed());
}

long double SharedPool::common_speed() const {
  long double speed = 1;
  for (std::size_t r = 0; r < resources_; ++r) {
    if (wanted_[r] > 0) speed = std::min(speed, free_[r] / wanted_[r]);
  }
  return std::max(speed, 0.0L);
}

/// Gives `speed` to every task that uses a resource which is full at that speed, or to all of them at speed 1.
std::size_t SharedPool::fix(long double speed) {
  std::array<bool, kResourcesMax> full{};
  for (std::size_t r = 0; r < resources_; ++r) full[r] = wanted_[r] > 0 && free_[r] <= speed * wanted_[r] * kSame;
  std::size_t fixed = 0;
  for (Task& task : tasks_) {
    if (task.speed >= 0) continue;
    const auto needs = task.needs();
    const bool held = std::any_of(needs.begin(), needs.end(), [&](const PoolDemand& d) { return full[d.resource]; });
    if (speed < 1 && !held) continue;
    task.speed = speed;
    task.rate = speed / task.lone;
    ++fixed;
    for (std::uint32_t i = 0; i < task.count; ++i) {
      const std::uint32_t r = task.demands[i].resource;
      wanted_[r] = std::max(0.0L, wanted_[r] - task.parts[i]);
      free_[r] = std::max(0.0L, free_[r] - task.parts[i] * speed);
    }
  }
  // What is left of a resource's demand once all its tasks are fixed is rounding.
  for (std::size_t r = 0; r < resources_; ++r) wanted_[r] = full[r] ? 0 : wanted_[r];
  return fixed;
}

Picos SharedPool::next_end() {
  refresh();
  constexpr auto kFar = static_cast<long double>(kClockEnd.count);
  long double wait = kFar;
  for (const Task& task : tasks_) {
    if (task.ended()) return now_;
    if (task.rate > 0) wait = std::min(wait, (task.left - kNoise) / task.rate);
  }
  wait = std::ceil(wait);
  if (wait >= kFar - static_cast<long double>(now_.count)) return kNever;
  return {now_.count + static_cast<std::int64_t>(wait)};
}

std::optional<std::uint64_t> SharedPool::any_running() {
  refresh();
  const auto found = std::find_if(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.rate > 0; });
  return found == tasks_.end() ? std::nullopt : std::optional(found->tag);
}

std::optional<std::uint64_t> SharedPool::take_ended(Picos now) {
  advance(now);
  if (added_) refresh();
  const auto found = std::find_if(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.ended(); });
  if (found == tasks_.end()) return std::nullopt;
  const std::uint64_t tag = found->tag;
  tasks_.erase(found);
  changed_ = true;
  return tag;
}

double SharedPool::speed_of(std::uint64_t tag) {
  refresh();
  for (const Task& task : tasks_) {
    if (task.tag == tag) return static_cast<double>(task.speed);
  }
  return 0;
}

}  // namespace hocket
