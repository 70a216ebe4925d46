// StepCase: one point of a sweep as what simulate_step() needs: platform with every field set, engine, workload.
// Settings are those of the verb sim (platform, workload, endpoint, algorithm, steps, batch, sequence, precision,
// bucket, optimizer; tp, pp, ep, microbatches, fsdp, sp), a collective by itself (collective, size), and every field of
// the platform (platform/set_field.h); `engine.X` is the field X of the endpoint in use. Its key names the question:
// equal keys, equal figures. Ownership: values. Threading: a CaseBuilder has one owner. Refuses: unknown keys, wrong
// units, what validate() and the network refuse: errors begin with the place, key and value of the setting.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exchange/sweep_yaml.h"
#include "simulator/step.h"
#include "workload/parallel.h"

namespace hocket {

/// A model that is spread over the ranks in other ways than as copies.
struct SpreadModel {
  LayeredModel model;
  ModelRequest request;
  ParallelPlan plan;
};

struct StepCase {
  Platform platform;
  CommunicationEngine engine;
  Workload workload;
  std::optional<SpreadModel> spread;
  std::vector<std::string> algorithms;
  std::uint32_t steps = 1;

  /// 32 hexadecimal digits from everything above and the version of hocket.
  [[nodiscard]] Result<std::string> key() const;
  [[nodiscard]] Result<StepResult> simulate() const;
};

class CaseBuilder {
 public:
  explicit CaseBuilder(const Sweep& sweep) : sweep_(sweep) {}
  [[nodiscard]] Result<StepCase> make(std::uint64_t point);

 private:
  [[nodiscard]] Result<Platform> platform(const SweepSetting& setting);

  const Sweep& sweep_;
  std::map<std::string, Platform> platforms_;  // by their words
};

}  // namespace hocket
