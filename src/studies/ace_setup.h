// The runs behind `hocket reproduce ace`: an all-reduce, or training steps of a model, on ACE's target of a given
// shape. Splits are static as published: compute keeps what communication may not take. One set of parameters: the
// preset's. Ownership: a bench owns platform and network. Threading: one owner. Refuses: what simulate_step() refuses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/preset.h"
#include "simulator/step.h"
#include "workload/model.h"

namespace hocket {

class AceBench {
 public:
  /// "4x4x4"
  [[nodiscard]] static Result<AceBench> make(std::string_view shape);

  /// The same with `units` compute units and `memory` bytes a second given away for good.
  [[nodiscard]] AceBench without(double units, double memory) const;

  [[nodiscard]] const Platform& platform() const { return platform_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// An endpoint of the platform, its budget split statically.
  [[nodiscard]] Result<CommunicationEngine> endpoint(std::string_view name) const;
  [[nodiscard]] Result<StepResult> all_reduce(Bytes size, const CommunicationEngine& engine,
                                              std::string_view algorithm = "hierarchical_two_way") const;
  [[nodiscard]] Result<StepResult> train(const Workload& workload, const CommunicationEngine& engine) const;
  /// Bytes that a rank sends per second in a large all-reduce.
  [[nodiscard]] Result<double> network_rate(const CommunicationEngine& engine) const;
  /// The least memory bandwidth at which the engine sends at 90 % of `ideal`, to 1 GB/s.
  [[nodiscard]] Result<double> memory_needed(CommunicationEngine engine, double ideal) const;
  /// The least number of compute units, likewise.
  [[nodiscard]] Result<double> units_needed(CommunicationEngine engine, double ideal) const;

  static constexpr Bytes kLarge{std::int64_t{64} << 20};
  static constexpr double kEnough = 0.9;

 private:
  AceBench(Platform platform, Topology topology) : platform_(std::move(platform)), topology_(std::move(topology)) {}

  Platform platform_;
  Topology topology_;
};

}  // namespace hocket
