// SharedPool: tasks that share the resources of one endpoint (compute, memory bandwidth, bus, engines), max-min fair.
// A task states how much of each resource it needs in all. Alone it takes `amount / capacity` of the one it needs
// longest: its lone time. The speed of a task is the part of that pace it is given. All speeds rise together from 0
// until a resource is full; the tasks that use it keep what they have, the others rise on, at most to 1 (progressive
// filling). So no task can be faster without making slower one that is no faster itself, and it does not matter in how
// many tasks a demand is cut. Speeds are set anew whenever a task starts or ends or a capacity changes; work is
// integrated in between, in long double parts of a task, and an end is rounded up to a picosecond. Ownership: owns its
// tasks. Threading: one owner. Refuses (assert): time that runs backwards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace hocket {

/// What a task needs of one resource, in units of its capacity times seconds (bytes for B/s, FLOP for FLOP/s).
struct PoolDemand {
  std::uint32_t resource = 0;
  double amount = 0;
};

class SharedPool {
 public:
  static constexpr std::size_t kResourcesMax = 8;
  static constexpr std::size_t kDemandsMax = 5;
  static constexpr Picos kNever{INT64_MAX};

  /// Capacities per second; a capacity of 0 stops whoever needs the resource.
  explicit SharedPool(std::span<const double> capacities);

  /// A task begins. `least`: it takes that long even when alone. `tag` comes back when it ends.
  void start(std::span<const PoolDemand> demands, Picos least, std::uint64_t tag, Picos now);
  void set_capacity(std::uint32_t resource, double capacity, Picos now);

  /// When the next task ends, should nothing change before; kNever when none ever does, or
  /// not before kClockEnd.
  [[nodiscard]] Picos next_end();
  /// A task that goes on, whether or not its end can be told.
  [[nodiscard]] std::optional<std::uint64_t> any_running();
  /// Takes out one task that has ended by `now`.
  [[nodiscard]] std::optional<std::uint64_t> take_ended(Picos now);

  [[nodiscard]] bool idle() const { return tasks_.empty(); }
  [[nodiscard]] std::size_t size() const { return tasks_.size(); }
  /// Speed of the task with this tag, 0 to 1; 0 when there is none.
  [[nodiscard]] double speed_of(std::uint64_t tag);
  /// Lone time of a task with these demands at the capacities of now; kNever where one of them is 0.
  [[nodiscard]] Picos lone_time(std::span<const PoolDemand> demands, Picos least) const;

 private:
  struct Task {
    std::array<PoolDemand, kDemandsMax> demands{};
    std::array<long double, kDemandsMax> parts{};  // of each resource, at full speed
    std::uint32_t count = 0;
    std::uint64_t tag = 0;
    long double least = 0;  // picoseconds
    long double left = 1;   // part of the whole that is not done yet
    long double lone = -1;  // picoseconds, at the capacities of now; 0: nothing to do, below 0: stopped
    long double speed = 0;
    long double rate = 0;  // part of the whole per picosecond
    bool measured = false;

    [[nodiscard]] std::span<const PoolDemand> needs() const { return {demands.data(), count}; }
    [[nodiscard]] bool ended() const { return lone == 0 || left <= kNoise; }
  };
  /// Far above what rounding adds up to in 10^6 changes, far below a picosecond of a second.
  static constexpr long double kNoise = 1e-13L;

  [[nodiscard]] long double lone_picos(std::span<const PoolDemand> demands, long double least) const;
  void advance(Picos now);
  void refresh();
  void measure(Task& task) const;
  void share();
  /// The highest common speed of the tasks without one at which no resource is over-full.
  [[nodiscard]] long double common_speed() const;
  std::size_t fix(long double speed);

  std::array<double, kResourcesMax> capacities_{};
  std::array<long double, kResourcesMax> picos_each_{};  // picoseconds of the whole resource per unit of demand
  std::size_t resources_;
  std::vector<Task> tasks_;
  std::array<long double, kResourcesMax> free_{};    // part of a resource not given away yet
  std::array<long double, kResourcesMax> wanted_{};  // by tasks without a speed, at speed 1
  Picos now_;
  bool changed_ = false;  // speeds are to be set anew
  bool added_ = false;    // a task came, or a capacity changed: lone times first
};

}  // namespace hocket
