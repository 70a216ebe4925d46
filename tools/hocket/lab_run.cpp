#include "lab_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "base/say.h"
#include "bounds/bounds.h"
#include "exchange/schedule_format.h"
#include "lab/goodput.h"
#include "lab/memory_file.h"
#include "lab_table.h"
#include "lane_view.h"
#include "local_ranks.h"
#include "planner/planner.h"
#include "progress_line.h"
#include "topology/spec.h"

namespace hocket {
namespace {

/// Of every segment: hocket's frame; TCP with time stamps, IP and Ethernet.
constexpr double kHeaderBytes = 48 + 66;
/// A run executes its plan once to warm up, once timed.
constexpr double kExecutions = 2;
/// Of its rate, that a link must carry.
constexpr double kShareLeast = 0.001;
/// Headers take a twentieth; a link that carries less than this is held back by the host.
constexpr double kShareUsual = 0.9;
/// More than a link's queue holds.
constexpr std::chrono::milliseconds kStill{50};
constexpr std::chrono::seconds kSettleMax{2};

/// A plan of the request, before its segment is chosen.
struct Order {
  std::string file;
  VerifiedSchedule verified;
  BoundCollective what;
  Bytes segment;  // 0: the best by simulation
  std::vector<LaneWay> ways;
};

Result<Order> read_order(const LabRequest& request, const std::string& file, const Topology& topology) {
  HOCKET_TRY(check_read_again({file}));
  HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(file));
  const Collective collective = schedule.collective();
  Result<std::vector<LaneWay>> ways = lane_ways(schedule, topology);
  if (!ways) return fail(ways.error().code, "{}: {}", file, ways.error().text);
  HOCKET_TRY_ASSIGN(VerifiedSchedule verified, prove(std::move(schedule)));
  HOCKET_TRY_ASSIGN(const BoundCollective what, request.amount.bind(collective, file));
  HOCKET_TRY_ASSIGN(const Bytes segment, parse_segment(request.simulation.segment, {&what.type, 1}));
  return Order{file, std::move(verified), what, segment, std::move(*ways)};
}

/// The segments are those that the planner takes for links of the goodput, with headers on every segment; the time is
/// that of TCP over such links.
Result<Candidate> predict(const Order& order, const Topology& topology, double share) {
  HOCKET_TRY_ASSIGN(const Topology real, with_bandwidth_share(topology, share));
  const Bound bound = lower_bound(real, order.what);
  const std::vector<double> factors(topology.links().size(), share);
  PlanningOptions options;
  options.simulate.bound = &bound;
  options.simulate.link_factors = factors;
  options.simulate.per_message_overhead = {kHeaderBytes / real.link(0).bandwidth.value};
  ProgressLine line;
  options.simulate.progress = &line.progress();
  options.segment = order.segment;
  HOCKET_TRY_ASSIGN(const Candidate planned, simulate_best(order.verified, topology, order.what, options));
  options.segment = planned.plan.segment();
  options.simulate.model = NetworkModel::kTcp;
  options.simulate.tcp_chunk = LabNetwork::kFrame;
  return simulate_best(order.verified, topology, order.what, options);
}

PlacedRanks placed_ranks(const LabRequest& request, const LabNetwork& network, const Order& order, Bytes segment) {
  const auto bytes = [](Bytes amount) { return fmt::format("{}B", amount.count); };
  PlacedRanks ranks;
  ranks.arguments = {own_arguments().front(),
                     "run",
                     order.file,
                     "--transport",
                     "tcp",
                     "--size",
                     bytes(order.what.bytes()),
                     "--dtype",
                     std::string(name_of(order.what.type)),
                     "--op",
                     std::string(name_of(order.what.op)),
                     "--segment",
                     bytes(segment),
                     "--seed",
                     fmt::format("{}", request.seed),
                     "--json"};
  if (!request.job.timeout.empty()) ranks.arguments.insert(ranks.arguments.end(), {"--timeout", request.job.timeout});
  if (!request.job.spin.empty()) ranks.arguments.insert(ranks.arguments.end(), {"--spin", request.job.spin});
  if (!request.job.connections.empty())
    ranks.arguments.insert(ranks.arguments.end(), {"--connections", request.job.connections});
  for (std::uint32_t rank = 0; rank < order.what.collective.ranks; ++rank)
    ranks.namespaces.push_back(network.of_rank(rank).descriptor());
  ranks.variables = {fmt::format("HOCKET_SOCKET_IFNAME=={}", LabNetwork::kPort)};
  return ranks;
}

struct Outcome {
  int status = 0;
  double time_s = 0;
  std::uint64_t wrong = 0;
};

/// One run of all ranks, with what rank 0 prints.
Result<Outcome> run_once(PlacedRanks ranks, const LabNetwork& network, const std::string& cables) {
  HOCKET_TRY_ASSIGN(const MemoryFile table, MemoryFile::make(cables));
  HOCKET_TRY_ASSIGN(const MemoryFile output, MemoryFile::make());
  HOCKET_TRY_ASSIGN(ranks.listener, network.listen_at_rank_0());
  ranks.variables.push_back("HOCKET_CABLES=" + table.path());
  ranks.output = output.descriptor();
  ranks.check = [&network] { return network.check(); };
  Outcome outcome;
  HOCKET_TRY_ASSIGN(outcome.status, run_placed_ranks(std::move(ranks)));
  if (outcome.status > 1) return outcome;
  const auto said = nlohmann::json::parse(output.text(), nullptr, false);
  if (said.is_discarded() || !said.contains("time_s") || !said.contains("wrong_elements"))
    return fail(Code::kInternal, "rank 0 has not said how the run went: '{}'", output.text());
  outcome.time_s = said["time_s"].get<double>();
  outcome.wrong = said["wrong_elements"].get<std::uint64_t>();
  return outcome;
}

/// What links have sent when none has sent anything for a moment: what was on its way from before is not this plan's.
Result<std::vector<std::int64_t>> settled_bytes(const LabNetwork& network) {
  const auto deadline = std::chrono::steady_clock::now() + kSettleMax;
  HOCKET_TRY_ASSIGN(std::vector<std::int64_t> last, network.bytes_sent());
  for (;;) {
    std::this_thread::sleep_for(kStill);
    HOCKET_TRY_ASSIGN(std::vector<std::int64_t> now, network.bytes_sent());
    if (now == last || std::chrono::steady_clock::now() >= deadline) return now;
    last = std::move(now);
  }
}

/// Of the ranks whose messages take a link, all that each of them has sent again, in bytes at most.
std::vector<double> resent_by_link(std::span<const LaneWay> ways, std::span<const std::uint64_t> packets,
                                   std::size_t links) {
  std::vector<std::set<std::uint32_t>> senders(links);
  for (const LaneWay& way : ways) {
    for (const LinkId link : way.links) senders[link].insert(way.from);
  }
  std::vector<double> bytes(links, 0);
  for (LinkId link = 0; link < links; ++link) {
    for (const std::uint32_t rank : senders[link])
      bytes[link] += static_cast<double>(packets[rank] * LabNetwork::kPacketBytes);
  }
  return bytes;
}

/// The row of one plan; the status of the ranks when that was worse than 1.
Result<int> measure(const LabRequest& request, const Order& order, LabNetwork& network, LabRow& row) {
  HOCKET_TRY_ASSIGN(const std::string cables, network.lay(order.ways));
  HOCKET_TRY_ASSIGN(const std::vector<std::int64_t> before, settled_bytes(network));
  HOCKET_TRY_ASSIGN(const std::vector<std::uint64_t> lost_before, network.frames_lost());
  HOCKET_TRY_ASSIGN(const std::vector<std::uint64_t> again_before, network.packets_sent_again());
  for (std::uint32_t i = 0; i < request.lab.repeat; ++i) {
    HOCKET_TRY_ASSIGN(const Outcome outcome,
                      run_once(placed_ranks(request, network, order, row.segment), network, cables));
    if (outcome.status > 1) return outcome.status;
    row.times.push_back(outcome.time_s);
    row.wrong += outcome.wrong;
  }
  HOCKET_TRY_ASSIGN(const std::vector<std::int64_t> after, network.bytes_sent());
  HOCKET_TRY_ASSIGN(row.lost, network.frames_lost());
  HOCKET_TRY_ASSIGN(std::vector<std::uint64_t> again, network.packets_sent_again());
  const double executions = kExecutions * request.lab.repeat;
  for (LinkId link = 0; link < after.size(); ++link) {
    row.lost[link] -= lost_before[link];
    row.sent_bytes.push_back(static_cast<double>(after[link] - before[link]) / executions);
  }
  for (std::uint32_t rank = 0; rank < again.size(); ++rank) again[rank] -= again_before[rank];
  row.sent_again = resent_by_link(order.ways, again, after.size());
  for (double& bytes : row.sent_again) bytes /= executions;
  return 0;
}

/// Ranks of the lab talk over its links, and each is on a host of its own: settings that say otherwise are refused, and
/// others are checked all the same.
Result<void> check_settings(const JobFlags& job, std::uint32_t ranks) {
  Launch launch = Launch::alone("--lab");
  launch.size = ranks;
  HOCKET_TRY(job.settings(launch));
  for (const char* const name : {"HOCKET_PORTS", "HOCKET_SOCKET_IFNAME", "HOCKET_CABLES", "HOCKET_ROOT"}) {
    const Said place = job.words().said(name);
    if (place.given())
      return fail(Code::kInvalidArgument, "{}: --lab says itself where its ranks meet and talk", place.text());
  }
  const Said said = job.words().said("HOCKET_TRANSPORT");
  if (!said.given() || said.words == "auto" || said.words == "tcp") return {};
  return fail(Code::kInvalidArgument, "{}: --lab runs over tcp, on links of network namespaces", said.text());
}

/// Before its first message a connection takes a round trip over the links of its way.
Result<void> check_deadline(const JobFlags& job, const Order& order, const Topology& topology) {
  HOCKET_TRY_ASSIGN(const std::chrono::duration<double> limit, job.limit());
  for (const LaneWay& way : order.ways) {
    double round_trip = 0;
    for (const LinkId link : way.links) round_trip += 2 * topology.link(link).latency.value;
    if (limit.count() > round_trip) continue;
    const Said said = job.words().said("HOCKET_TIMEOUT");
    return fail(Code::kInvalidArgument, "{}: a round trip from rank {} to rank {} takes {} by the latency of {} link{}",
                said.given() ? said.text() : "the deadline of " + format_seconds({limit.count()}), way.from, way.to,
                format_seconds({round_trip}), way.links.size(), way.links.size() == 1 ? "" : "s");
  }
  return {};
}

/// Below the rate the host is the limit and no link, which is said; far below nothing could be predicted.
Result<void> check_goodput(const Topology& topology, double share) {
  if (share >= kShareUsual) return {};
  const std::string rate = format_bandwidth(topology.link(0).bandwidth);
  const std::string carried = format_bandwidth({topology.link(0).bandwidth.value * share});
  if (share < kShareLeast)
    return fail(Code::kUnsupported,
                "{}: a link has {}, but this host carries {} over one in the lab: give a lower --link", topology.name(),
                rate, carried);
  say("hocket: lab: a link has {}, but this host carries {} over one, {:.1f} % of it: the host is measured and not the "
      "links; give a lower --link\n",
      rate, carried, 100 * share);
  return {};
}

Result<void> refuse_launcher(const LabRequest& request, std::uint32_t ranks) {
  if (request.job.ranks != 0 && request.job.ranks != ranks)
    return fail(Code::kMismatch, "--ranks {} but the lab has {} ranks", request.job.ranks, ranks);
  HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, read_launch(environment, Halves::kPassOver));
  if (launch && launch->size > 1)
    return fail(Code::kMismatch, "--lab starts the ranks itself, but {} says rank {} of {}", launch->source,
                launch->rank, launch->size);
  return {};
}

/// The table of all plans, and the status.
Result<int> measure_all(const LabRequest& request, std::span<const Order> orders, const Topology& topology,
                        LabNetwork& network) {
  LabReport report{.topology = &topology, .slow_cables = network.slow_cables(), .loss = request.lab.loss, .rows = {}};
  HOCKET_TRY_ASSIGN(report.goodput_share, measure_goodput(network));
  HOCKET_TRY(check_goodput(topology, report.goodput_share));
  if (report.loss > 0) HOCKET_TRY(network.lose(report.loss));
  for (const Order& order : orders) {
    HOCKET_TRY_ASSIGN(const Candidate best, predict(order, topology, report.goodput_share));
    LabRow row{.file = order.file,
               .algorithm = best.algorithm,
               .what = order.what,
               .segment = best.plan.segment(),
               .bound = best.simulated.bound.time,
               .predicted = to_seconds(best.simulated.time),
               .times = {},
               .link_bytes = best.simulated.link_bytes,
               .sent_bytes = {},
               .sent_again = {},
               .lost = {}};
    HOCKET_TRY_ASSIGN(const int status, measure(request, order, network, row));
    if (status > 1) return status;
    report.rows.push_back(std::move(row));
  }
  for (const LabRow& row : report.rows) request.amount.note_cut(row.what);
  if (request.json) {
    print_lab_document(report);
  } else {
    print_lab_table(report);
  }
  int status = 0;
  for (const LabRow& row : report.rows) {
    const std::optional<std::string> complaint = row.complaint(topology);
    if (!complaint) continue;
    say("hocket: lab: {}\n", *complaint);
    status = 1;
  }
  return status;
}

}  // namespace

void LabFlags::declare(CLI::App& app) {
  CLI::Option* const lab =
      app.add_option("--lab", topology.topology,
                     "run on that topology (words or a file), made of network namespaces (root): a process per rank");
  const std::vector<const CLI::Option*> others = std::as_const(app).get_options();
  topology.declare_changes(app);
  app.add_option("--repeat", repeat, "runs in the lab, of which the median counts")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  app.add_option("--link-loss", loss, "in the lab every link loses that share of its frames: 0 to 0.5")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
  for (CLI::Option* const option : app.get_options()) {
    if (std::find(others.begin(), others.end(), option) == others.end()) option->needs(lab);
  }
  for (const char* const name : {"--transport", "--ports", "--interface", "--cables"})
    lab->excludes(app.get_option(name));
}

Result<int> run_in_lab(const LabRequest& request) {
  HOCKET_TRY(request.job.limit());
  if (std::isnan(request.lab.loss)) return fail(Code::kInvalidArgument, "--link-loss nan: not in range [0 - 0.5]");
  HOCKET_TRY_ASSIGN(const Topology topology, request.lab.topology.load());
  HOCKET_TRY(refuse_launcher(request, topology.rank_count()));
  HOCKET_TRY(check_settings(request.job, topology.rank_count()));
  std::vector<Order> orders;
  for (const std::string& file : request.files) {
    HOCKET_TRY_ASSIGN(Order order, read_order(request, file, topology));
    HOCKET_TRY(check_deadline(request.job, order, topology));
    orders.push_back(std::move(order));
  }
  HOCKET_TRY_ASSIGN(const std::unique_ptr<LabNetwork> network, LabNetwork::build(topology));
  Result<int> status = measure_all(request, orders, topology, *network);
  if (!status) HOCKET_TRY(network->check());  // which comes first
  return status;
}

}  // namespace hocket
