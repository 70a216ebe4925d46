// hocket info: version, algorithms, topology families and formats known to this build, straight from the tables.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "algorithms/algorithm.h"
#include "base/version.h"
#include "command_line.h"
#include "engine/reduce.h"
#include "exchange/file_kind.h"
#include "exchange/schedule_format.h"
#include "exchange/topology_format.h"
#include "fit_view.h"
#include "flags.h"
#include "planner/plan_cache.h"
#include "platform/preset.h"
#include "platform_view.h"
#include "report/table.h"
#include "step_view.h"
#include "topology/family.h"
#include "verb.h"
#include "workload/model.h"

namespace hocket {
namespace {

struct Flags {
  std::string topic;
  std::vector<std::string> rest;
  FitFlags fit;
  PlatformFiles beside;  // of an ASTRA-sim network
  bool json = false;
  bool yaml = false;

  /// The only argument after the topic, or nothing.
  [[nodiscard]] std::string argument() const { return rest.empty() ? "" : rest.front(); }
};

nlohmann::ordered_json algorithms_json() {
  auto list = nlohmann::ordered_json::array();
  for (const Algorithm* a : algorithms()) {
    list.push_back({{"name", a->name}, {"description", a->description}, {"source", a->source}});
  }
  return list;
}

nlohmann::ordered_json topologies_json() {
  auto list = nlohmann::ordered_json::array();
  for (const TopologyFamily* f : topology_families()) {
    list.push_back(
        {{"name", f->name}, {"grammar", f->grammar}, {"description", f->description}, {"example", f->example}});
  }
  return list;
}

nlohmann::ordered_json formats_json() {
  auto list = nlohmann::ordered_json::array();
  for (const TopologyFormat* f : topology_formats()) {
    list.push_back({{"name", f->name}, {"holds", "topology"}, {"description", f->description}});
  }
  for (const ScheduleFormat* f : schedule_formats()) {
    list.push_back({{"name", f->name}, {"holds", "schedule"}, {"description", f->description}});
  }
  for (const FileKind* f : file_kinds()) {
    list.push_back({{"name", f->name}, {"holds", "other"}, {"description", f->description}});
  }
  return list;
}

nlohmann::ordered_json platforms_json() {
  auto list = nlohmann::ordered_json::array();
  for (const PlatformPreset* p : platform_presets()) {
    list.push_back(
        {{"name", p->name}, {"grammar", p->grammar}, {"description", p->description}, {"example", p->example}});
  }
  return list;
}

nlohmann::ordered_json workloads_json() {
  auto list = nlohmann::ordered_json::array();
  for (const WorkloadModel* w : workload_models()) {
    list.push_back({{"name", w->name}, {"description", w->description}, {"source", w->source}});
  }
  return list;
}

void print_list(const nlohmann::ordered_json& list) {
  std::vector<std::string> head;
  for (const auto& [key, value] : list.front().items()) head.push_back(key);
  Table table(head);
  for (const auto& entry : list) {
    std::vector<std::string> row;
    for (const auto& [key, value] : entry.items()) row.push_back(value.get<std::string>());
    table.add(row);
  }
  fmt::print("{}", table.text());
}

/// The manual page or a completion script; both are text for files, so --json has nothing to add.
Result<int> show_generated(const Flags& flags) {
  const CommandLine line = make_command_line();
  if (flags.topic == "man") {
    fmt::print("{}", manual_page(*line.app));
    return 0;
  }
  HOCKET_TRY_ASSIGN(const std::string script, completion_script(*line.app, flags.argument()));
  fmt::print("{}", script);
  return 0;
}

/// Exit status 1 when an entry cannot be used.
Result<int> show_cache(const Flags& flags) {
  const std::string folder = flags.argument();
  if (folder.empty()) return fail(Code::kInvalidArgument, "after 'cache': which folder?");
  HOCKET_TRY_ASSIGN(const std::vector<CacheEntry> entries, list_cache(folder));
  const bool damaged = std::any_of(entries.begin(), entries.end(), [](const auto& e) { return !e.damage.empty(); });
  nlohmann::ordered_json out = document("info");
  out["cache"] = nlohmann::ordered_json::array();
  Table table({"collective", "ranks", "from", "to", "topology", "algorithm", "spread", "state"});
  for (const CacheEntry& e : entries) {
    out["cache"].push_back({{"file", e.path},
                            {"collective", e.collective},
                            {"ranks", e.ranks},
                            {"from_bytes", e.from},
                            {"to_bytes", e.to},
                            {"topology", e.topology},
                            {"algorithm", e.algorithm},
                            {"spread", e.spread},
                            {"damage", e.damage}});
    table.add({e.collective, fmt::format("{}", e.ranks), format_bytes({e.from}), format_bytes({e.to}),
               e.topology.substr(0, 8), e.algorithm, e.spread ? "yes" : "no", e.damage.empty() ? "whole" : "not used"});
  }
  if (flags.json) {
    print_json(out);
    return damaged ? 1 : 0;
  }
  fmt::print("{} plan{} in {}\n", entries.size(), entries.size() == 1 ? "" : "s", folder);
  if (!entries.empty()) fmt::print("{}", table.text());
  for (const CacheEntry& e : entries) {
    if (!e.damage.empty()) fmt::print("not used: {}\n", e.damage);
  }
  return damaged ? 1 : 0;
}

/// Refuses more arguments than the topic takes.
Result<void> check_arguments(const Flags& flags) {
  const bool takes_one = flags.topic == "cache" || flags.topic == "platform" || flags.topic == "completion";
  const std::size_t most = takes_one ? 1 : 0;
  if (flags.rest.size() > most)
    return fail(Code::kInvalidArgument, "'{}' is one argument too many after '{}'", flags.rest[most], flags.topic);
  if (flags.fit.file.empty() && flags.fit.onto.empty()) return {};
  return fail(Code::kInvalidArgument, "{} belongs to 'fit'", flags.fit.file.empty() ? "--onto" : "-o");
}

/// What says how a platform is read or shown has nothing to act on elsewhere.
Result<void> check_platform_flags(const Flags& flags) {
  if (flags.topic == "platform") return {};
  const std::string_view given = !flags.beside.system.empty()          ? "--system"
                                 : !flags.beside.remote_memory.empty() ? "--remote-memory"
                                                                       : "--yaml";
  if (given == "--yaml" && !flags.yaml) return {};
  return fail(Code::kInvalidArgument, "{} goes with 'platform', not with '{}'", given, flags.topic);
}

Result<int> show(const Flags& flags) {
  HOCKET_TRY(check_platform_flags(flags));
  if (flags.topic == "fit") return fit_logs(flags.rest, flags.fit, flags.json);
  HOCKET_TRY(check_arguments(flags));
  if (flags.topic == "cache") return show_cache(flags);
  if (flags.topic == "platform") {
    const PlatformFiles files{flags.argument(), flags.beside.system, flags.beside.remote_memory};
    return show_platform(files, flags.json, flags.yaml);
  }
  if (flags.topic == "man" || flags.topic == "completion") return show_generated(flags);
  nlohmann::ordered_json out = document("info");
  const BuildStamp stamp = build_stamp();
  if (flags.topic.empty()) {
    out["version"] = std::string(stamp.version);
    out["build"] = std::string(stamp.build_type);
    out["compiler"] = std::string(stamp.compiler);
    out["reduce_kernels"] = std::string(name_of(best_kernel_path()));
    out["algorithms"] = algorithms().size();
    out["topologies"] = topology_families().size();
    if (flags.json) {
      print_json(out);
    } else {
      fmt::print("hocket {} ({}, {}, {} reduce kernels): {} algorithms, {} topology families\n", stamp.version,
                 stamp.build_type, stamp.compiler, name_of(best_kernel_path()), algorithms().size(),
                 topology_families().size());
    }
    return 0;
  }
  nlohmann::ordered_json list;
  if (flags.topic == "algorithms") {
    list = algorithms_json();
  } else if (flags.topic == "topologies") {
    list = topologies_json();
  } else if (flags.topic == "formats") {
    list = formats_json();
  } else if (flags.topic == "platforms") {
    list = platforms_json();
  } else if (flags.topic == "workloads") {
    list = workloads_json();
  } else {
    return fail(
        Code::kInvalidArgument,
        "unknown topic '{}'; known: algorithms, topologies, formats, platforms, platform, fit, workloads, cache, man, "
        "completion",
        flags.topic);
  }
  if (flags.json) {
    out[flags.topic] = list;
    print_json(out);
  } else {
    print_list(list);
  }
  return 0;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option(
      "topic", flags->topic,
      "algorithms, topologies, formats, platforms, platform, fit, workloads, cache, man or completion [version]");
  app.add_option("argument", flags->rest,
                 "after completion: bash, zsh or fish; after cache: the folder; after platform: which; after fit: logs "
                 "of nccl-tests");
  app.add_option("--onto", flags->fit.onto, "fit: the platform whose network is replaced in the file that -o writes");
  app.add_option("-o", flags->fit.file, "fit: write a platform file");
  declare_platform_parts(app, flags->beside);
  app.add_flag("--yaml", flags->yaml, "platform: as the YAML file that --platform reads");
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return show(*flags); };
}

}  // namespace

extern const Verb verb_info{
    .name = "info",
    .summary = "version, algorithms, topology families, formats, platforms; manual page, shell completion",
    .example = "hocket info algorithms",
    .declare = declare,
};

}  // namespace hocket
