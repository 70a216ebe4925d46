// hocket plan --ni-table [FILE]: the chosen plan as network-interface tables, whether two messages of a step share a
// link, and the plan in lock step beside execution by dependencies, with both flow controls.
// Ownership: results own all they hold. Threading: pure functions; show_ni_study() prints to stdout.
// Refuses: plans that are no trees, by name; FILE in a folder that cannot be written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exchange/ni_table.h"
#include "simulator/contention.h"
#include "simulator/simulator.h"

namespace hocket {

struct NiRun {
  Injection injection = Injection::kWhenReady;
  FlowControl flow_control = FlowControl::kPacket;
  Picos time;
  double head_share = 0;  // of the bytes on the links
};

struct NiStudy {
  NiTables tables;
  LossReport losses;
  Contention contention;
  std::string contention_text;
  std::vector<NiRun> runs;
  std::string not_in_lock_step;  // why the lock-step runs are missing
};

[[nodiscard]] Result<NiStudy> study_ni_tables(const Plan& plan, const Topology& topology,
                                              const SimulateOptions& options);
[[nodiscard]] Result<void> write_ni_study(const NiStudy& study, const Plan& plan, const std::string& file);
void show_ni_study(const NiStudy& study, const Plan& plan);
[[nodiscard]] nlohmann::ordered_json ni_study_json(const NiStudy& study, const Plan& plan);

}  // namespace hocket
