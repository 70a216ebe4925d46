// hocket report: plans a collective on one or more topologies and writes one self-contained HTML page about it.
#include <fmt/format.h>

#include <deque>
#include <memory>

#include "exchange/schedule_format.h"
#include "flags.h"
#include "report/page.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::string collective;
  std::vector<std::string> topologies;
  std::vector<std::string> links;
  std::string uplink;
  CollectiveFlags amount;
  std::string output;
};

Result<int> run(const Flags& flags) {
  HOCKET_TRY_ASSIGN(const CollectiveKind kind, parse_collective(flags.collective));
  struct Job {
    Topology topology;
    BoundCollective what;
    Planning planning;
  };
  std::deque<Job> jobs;  // entries borrow from it, so it must not move them
  std::vector<PageEntry> entries;
  for (const std::string& spec : flags.topologies) {
    TopologyFlags topology_flags;
    topology_flags.topology = spec;
    topology_flags.links = flags.links;
    topology_flags.uplink = flags.uplink;
    HOCKET_TRY_ASSIGN(Topology topology, topology_flags.load());
    HOCKET_TRY_ASSIGN(const BoundCollective what, flags.amount.bind(kind, topology.rank_count()));
    HOCKET_TRY_ASSIGN(Planning planning, plan_collective(topology, what, {}));
    jobs.push_back({std::move(topology), what, std::move(planning)});
    entries.push_back({jobs.back().topology, what, jobs.back().planning, {}});
  }
  HOCKET_TRY_ASSIGN(const std::string page, make_page(entries));
  HOCKET_TRY(write_file(flags.output, page));
  fmt::print("{}: {} topologies, {} KiB\n", flags.output, entries.size(), page.size() / 1024);
  return 0;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("collective", flags->collective, "all_reduce reduce_scatter all_gather broadcast reduce all_to_all")
      ->required();
  app.add_option("--topo", flags->topologies, "words or a file; repeat for several")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--link", flags->links, "bandwidth,latency of a link")->allow_extra_args(false);
  app.add_option("--uplink", flags->uplink, "bandwidth,latency of the outer level");
  flags->amount.declare(app);
  app.add_option("-o,--output", flags->output, "the page to write")->required();
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_report{
    .name = "report",
    .summary = "write one self-contained HTML page about planned collectives",
    .example = "hocket report all_reduce --topo torus:4x4 --size 64MiB -o page.html",
    .declare = declare,
};

}  // namespace hocket
