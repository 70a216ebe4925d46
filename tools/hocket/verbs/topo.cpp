// hocket topo: what a topology is (ranks, links, rates, notes), and conversion to another format. With the word `probe`
// in place of a topology it is measured between real ranks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "exchange/load_topology.h"
#include "exchange/schedule_format.h"
#include "flags.h"
#include "topo_probe.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  TopologyFlags topology;
  JobFlags job;  // of a probe
  std::string format;
  std::string output;
  bool json = false;
};

struct LinkClass {
  double bandwidth;
  double latency;
  auto operator<=>(const LinkClass&) const = default;
};

std::map<LinkClass, std::size_t> link_classes(const Topology& t) {
  std::map<LinkClass, std::size_t> classes;
  for (const Link& l : t.links()) ++classes[{l.bandwidth.value, l.latency.value}];
  return classes;
}

void print_text(const Topology& t) {
  std::map<std::string_view, std::size_t> kinds;
  for (const Vertex& v : t.vertices()) ++kinds[name_of(v.kind)];
  std::string vertices;
  for (const auto& [kind, count] : kinds) vertices += fmt::format("{}{} {}", vertices.empty() ? "" : ", ", count, kind);
  fmt::print("topology     {}\n", t.name());
  fmt::print("family       {}\n", t.family());
  fmt::print("ranks        {}\n", t.rank_count());
  fmt::print("vertices     {} ({})\n", t.vertices().size(), vertices);
  fmt::print("links        {} directed, {}\n", t.links().size(),
             t.symmetric() ? "equal both ways" : "not equal both ways");
  for (const auto& [rate, count] : link_classes(t)) {
    fmt::print("  {:>6} x    {}, {}\n", count, format_bandwidth({rate.bandwidth}), format_seconds({rate.latency}));
  }
  for (const std::string& note : t.notes()) fmt::print("note         {}\n", note);
}

nlohmann::ordered_json to_json(const Topology& t) {
  nlohmann::ordered_json out = document("topo");
  out["name"] = t.name();
  out["family"] = t.family();
  out["ranks"] = t.rank_count();
  out["symmetric"] = t.symmetric();
  out["extents"] = t.extents();
  out["fingerprint"] = t.fingerprint().text();
  for (const Vertex& v : t.vertices()) {
    out["vertices"].push_back({{"name", v.name}, {"kind", name_of(v.kind)}, {"coordinates", v.coordinates}});
  }
  for (const Link& l : t.links()) {
    out["links"].push_back({{"from", t.vertices()[l.from].name},
                            {"to", t.vertices()[l.to].name},
                            {"bandwidth_Bps", l.bandwidth.value},
                            {"latency_s", l.latency.value}});
  }
  out["notes"] = t.notes();
  return out;
}

/// --format, or what the output file's extension says.
Result<const TopologyFormat*> output_format(const Flags& flags) {
  if (flags.format.empty()) return topology_format_for_path(flags.output);
  HOCKET_TRY_ASSIGN(const TopologyFormat* const format, find_topology_format(flags.format));
  if (format->write == nullptr)
    return fail(Code::kInvalidArgument, "--format {}: the format is read only", flags.format);
  return format;
}

Result<void> check_one_stdout(const Flags& flags) {
  if (!flags.output.empty() || !flags.json) return {};
  return fail(Code::kInvalidArgument, "--format {} and --json both want stdout: -o FILE takes the first", flags.format);
}

Result<int> show(const Flags& flags, const Topology& topology) {
  if (!flags.format.empty() || !flags.output.empty()) {
    HOCKET_TRY_ASSIGN(const TopologyFormat* const format, output_format(flags));
    HOCKET_TRY_ASSIGN(const std::string text, format->write(topology));
    HOCKET_TRY(check_one_stdout(flags));
    if (flags.output.empty()) {
      fmt::print("{}", text);
    } else {
      HOCKET_TRY(write_file(flags.output, text));
    }
    if (!flags.json) return 0;
  }
  if (flags.json) {
    print_json(to_json(topology));
  } else {
    print_text(topology);
  }
  return 0;
}

constexpr std::string_view kProbe = "probe";

Result<int> run(const Flags& flags) {
  if (!flags.output.empty()) HOCKET_TRY(check_writable(flags.output));
  if (flags.topology.topology != kProbe) {
    HOCKET_TRY_ASSIGN(const Topology topology, flags.topology.load());
    return show(flags, topology);
  }
  if (!flags.format.empty() || !flags.output.empty()) {
    HOCKET_TRY_ASSIGN(const TopologyFormat* const format, output_format(flags));
    HOCKET_TRY(check_storable(*format));
    HOCKET_TRY(check_one_stdout(flags));
  }
  HOCKET_TRY_ASSIGN(const ProbeEnd end, probe_topology(flags.job));
  return end.topology ? show(flags, *end.topology) : Result<int>(end.status);
}

/// A probe takes no changes, and what is read has no ranks to start.
void part_flags(CLI::App& app, const std::shared_ptr<Flags>& flags, const std::vector<CLI::Option*>& of_probe) {
  app.callback([&app, flags, of_probe] {
    const bool probes = flags->topology.topology == kProbe;
    for (const char* name : {"--link", "--uplink", "--break", "--scale", "--group", "--direct-only", "--strict"}) {
      if (probes && app.count(name) > 0) throw CLI::ValidationError(name, "a probe measures what is there");
    }
    for (const CLI::Option* option : of_probe) {
      if (!probes && option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "goes with the word probe only");
    }
  });
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  flags->topology.declare(app, true, true);
  app.add_option("--format", flags->format, "write it in this format: link-csv, hocket-yaml, nccl-xml, dot, svg");
  app.add_option("-o,--output", flags->output,
                 "file to write to, by its extension: .csv .yaml .xml .dot .svg [stdout]");
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  part_flags(app, flags,
             {app.add_option("--ranks", flags->job.ranks, "probe: start that many ranks here [as the launcher says]"),
              app.add_option("--transport", flags->job.transport, "probe: how ranks talk [auto]"),
              app.add_option("--timeout", flags->job.timeout, "probe: give up after this long [30s]")});
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_topo{
    .name = "topo",
    .summary = "show a topology, convert it to another format, or measure it between ranks (probe)",
    .example = "hocket topo torus:4x4 --link 16GB/s,150ns",
    .declare = declare,
};

}  // namespace hocket
