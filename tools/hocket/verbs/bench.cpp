// hocket bench: a collective on real ranks, timed and checked as nccl-tests does it. Rank 0 chooses the plan of every
// row by simulation and tells the others its algorithm and segment; each rank builds it itself, and the plans' hashes
// are compared by every call.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <memory>
#include <numeric>

#include "algorithms/algorithm.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/say.h"
#include "bench_flags.h"
#include "bench_table.h"
#include "flags.h"
#include "local_ranks.h"
#include "memory_need.h"
#include "planner/meeting.h"
#include "rank_job.h"
#include "rank_pattern.h"
#include "topology/spec.h"
#include "verb.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

struct Flags {
  BenchFlags bench;
  JobFlags job;
  TopologyFlags network;
};

constexpr std::uint64_t kSeed = 1;

/// What the user says about the network between the ranks, and where.
struct Network {
  std::optional<Topology> topology;
  BenchBound bound;
  std::string words;  // of --topo or HOCKET_TOPO_FILE
};

Result<Network> network_of(const TopologyFlags& flags, const Said& file, std::uint32_t ranks) {
  TopologyFlags said = flags;
  said.topology = file.words;
  if (said.topology.empty()) {
    if (!said.links.empty() || !said.uplink.empty() || !said.breaks.empty() || !said.scales.empty() ||
        !said.group.empty())
      return fail(Code::kInvalidArgument, "--link, --uplink, --break, --scale and --group need a --topo to change");
    return Network{
        {}, {{}, "none: no topology is given (--topo, HOCKET_TOPO_FILE), and plans are those for one switch"}, {}};
  }
  Result<Topology> loaded = said.load();
  if (!loaded && !file.by_flag) return tl::unexpected(file.because(loaded.error()));
  HOCKET_TRY_ASSIGN(Topology topology, std::move(loaded));
  const std::string_view source = file.name;
  if (topology.rank_count() != ranks)
    return fail(Code::kMismatch, "{} '{}' has {} ranks, the job {}", source, said.topology, topology.rank_count(),
                ranks);
  BenchBound bound{topology.name(),
                   fmt::format("the least time of any plan on the links of '{}' ({}), where memory and "
                               "additions cost nothing",
                               said.topology, source)};
  return Network{std::move(topology), std::move(bound), said.topology};
}

/// Files may have another name on each host.
void add_network(std::vector<SharedFlag>& shared, const TopologyFlags& flags, const Network& network) {
  const auto all = [](const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); };
  shared.push_back({"--link", all(flags.links), {}});
  shared.push_back({"--uplink", flags.uplink, {}});
  shared.push_back({"--break", all(flags.breaks), {}});
  shared.push_back({"--scale", all(flags.scales), {}});
  shared.push_back({"--group", flags.group, {}});
  Hasher links;
  if (network.topology) {
    for (const Link& link : network.topology->links()) {
      links.add(link.from).add(link.to).add(std::bit_cast<std::uint64_t>(link.bandwidth.value));
      links.add(std::bit_cast<std::uint64_t>(link.latency.value));
    }
  }
  shared.push_back({"--topo", network.words, "links " + links.finish().text().substr(0, 8)});
}

/// In whole elements, and whole blocks.
BoundCollective amount_of(const Collective& collective, DataType type, ReduceOp op, std::int64_t bytes) {
  BoundCollective what{collective, bytes / size_of(type), type, op};
  if (is_blocked(collective.kind)) what.count -= what.count % collective.ranks;
  return what;
}

/// The row that takes most memory.
BoundCollective largest_of(const BenchRun& run, DataType type, std::uint32_t ranks) {
  return amount_of({run.kind, ranks, 0}, type, run.ops.front(), run.sizes.all().back());
}

class Bench {
 public:
  /// `topology`: what plans are made for; the network's own, when it has one.
  Bench(const Flags& flags, const BenchRun& run, RankJob& job, const Network& network, Topology topology)
      : flags_(flags),
        run_(run),
        job_(job),
        bounded_(network.topology.has_value()),
        topology_(std::move(topology)),
        table_(flags.bench, run, job, network.bound) {}

  Result<int> all() {
    if (job_.rank() == 0 && !flags_.bench.json) table_.print_header();
    const std::uint32_t cycles = flags_.bench.cycles;
    for (std::uint32_t cycle = 0; cycle < cycles || cycles == 0; ++cycle) HOCKET_TRY(this->cycle());
    if (job_.rank() != 0) return wrong_ == 0 ? 0 : 1;
    if (flags_.bench.json) print_json(table_.document());
    if (!flags_.bench.json) table_.print_footer();
    HOCKET_TRY(table_.write_nccl_json());
    return wrong_ == 0 && table_.fast_enough() ? 0 : 1;
  }

 private:
  Result<void> cycle() {
    rows_ = 0;
    for (const DataType type : run_.types) {
      for (const ReduceOp op : run_.ops) {
        for (const std::uint32_t root : roots()) {
          for (const std::int64_t bytes : run_.sizes.all()) HOCKET_TRY(row(amount(type, op, root, bytes)));
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<std::uint32_t> roots() const {
    if (!is_rooted(run_.kind)) return {0};
    if (flags_.bench.root >= 0) return {static_cast<std::uint32_t>(flags_.bench.root)};
    std::vector<std::uint32_t> each(job_.size());
    std::iota(each.begin(), each.end(), 0U);
    return each;
  }

  [[nodiscard]] BoundCollective amount(DataType type, ReduceOp op, std::uint32_t root, std::int64_t bytes) const {
    return amount_of({run_.kind, job_.size(), root}, type, op, bytes);
  }

  /// "ring 131072", chosen by rank 0.
  Result<std::string> choose(const BoundCollective& what) {
    const Meeting meeting = meeting_of(job_.transport_name());
    PlanningOptions options = meeting.options();
    options.algorithm = flags_.bench.algorithm;
    options.segment = run_.segment;
    HOCKET_TRY_ASSIGN(const Planning planning, plan_collective(topology_, what, options));
    std::vector<const Candidate*> candidates;
    for (const Candidate& candidate : planning.candidates) candidates.push_back(&candidate);
    const Candidate& chosen = bounded_ ? planning.candidates[planning.chosen] : *fastest(candidates, meeting);
    const bool free = run_.segment.count == 0 && !bounded_;
    const std::int64_t most = free ? meeting.segment_max_of(job_.size()).count : chosen.plan.segment().count;
    return fmt::format("{} {}", chosen.algorithm, std::min(most, chosen.plan.segment().count));
  }

  Result<Plan> plan(const BoundCollective& what, BenchRow& row) {
    HOCKET_TRY(validate(what));
    if (rows_ == chosen_.size()) {  // in later cycles it is known
      HOCKET_TRY_ASSIGN(std::string words, job_.agree(fmt::format("bench/{}", rows_), [&] { return choose(what); }));
      chosen_.push_back(std::move(words));
    }
    const std::string& words = chosen_[rows_++];
    const std::size_t space = words.find(' ');
    row.algorithm = words.substr(0, space);
    const Result<std::int64_t> segment = parse_bench_size(words.substr(space + 1));
    const auto known = std::find_if(algorithms().begin(), algorithms().end(),
                                    [&](const Algorithm* a) { return a->name == row.algorithm; });
    const bool copies = job_.size() == 1;  // any algorithm will do: it is not asked
    if (!segment || (known == algorithms().end() && !copies))
      return fail(Code::kMismatch, "rank {}: rank 0 chose '{}', which is unknown here", job_.rank(), words);
    row.segment_bytes = *segment;
    const Algorithm& algorithm = known == algorithms().end() ? *algorithms().front() : **known;
    HOCKET_TRY_ASSIGN(VerifiedSchedule verified, plan_algorithm(algorithm, {topology_, what.collective}));
    return Plan::bind(std::move(verified), what, Bytes{*segment});
  }

  /// Nothing where nothing has to move.
  [[nodiscard]] std::optional<double> bound_of(const BoundCollective& what) const {
    if (!bounded_ || job_.rank() != 0) return std::nullopt;
    const double time = lower_bound(topology_, what).time.value;
    return time > 0 ? std::optional(time) : std::nullopt;
  }

  Result<void> row(const BoundCollective& what) {
    BenchRow row{.what = what, .algorithm = {}, .out_of_place = {}, .in_place = {}, .bound_s = bound_of(what)};
    HOCKET_TRY_ASSIGN(const Plan plan, this->plan(what, row));
    HOCKET_TRY(check_own_memory(what, job_.rank(), plan.scratch_bytes()));
    HOCKET_TRY_ASSIGN(const auto driver,
                      RankDriver::create(plan, job_.rank(), job_.transport(), job_.driver_options()));
    HOCKET_TRY_ASSIGN(row.out_of_place, measure(*driver, what, false));
    HOCKET_TRY_ASSIGN(row.in_place, measure(*driver, what, true));
    wrong_ += row.out_of_place.wrong + row.in_place.wrong;
    if (job_.rank() == 0) table_.add(row);
    return {};
  }

  Result<BenchHalf> measure(RankDriver& driver, const BoundCollective& what, bool in_place) {
    const RankPattern pattern(what, job_.rank(), kSeed);
    HOCKET_TRY_ASSIGN(const auto arena, RankArena::make(what, job_.rank(), in_place,
                                                        flags_.bench.registered != 0 ? &job_.transport() : nullptr));
    pattern.fill_input(arena->input());
    for (std::uint32_t i = 0; i < flags_.bench.warmup; ++i) HOCKET_TRY(driver.run(arena->buffers()));
    HOCKET_TRY(job_.share(0));
    const double begin = now_s();
    const std::uint64_t calls = std::uint64_t{flags_.bench.iterations} * flags_.bench.calls;
    for (std::uint64_t i = 0; i < calls; ++i) HOCKET_TRY(driver.run(arena->buffers()));
    const double mine = now_s() - begin;
    BenchHalf half;
    HOCKET_TRY_ASSIGN(const std::vector<double> times, job_.share(mine / static_cast<double>(calls)));
    half.time_s = averaged(times);
    if (flags_.bench.check == 0) return half;
    pattern.fill_input(arena->input());
    HOCKET_TRY(driver.run(arena->buffers()));
    const auto wrong = static_cast<double>(pattern.count_wrong(arena->output()));
    HOCKET_TRY_ASSIGN(const std::vector<double> wrongs, job_.share(wrong));
    half.wrong = static_cast<std::uint64_t>(std::accumulate(wrongs.begin(), wrongs.end(), 0.0));
    return half;
  }

  /// Seconds since some time, or of this process's work.
  [[nodiscard]] double now_s() const {
    if (!flags_.bench.processor_time)
      return std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count();
    timespec spent{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
  }

  [[nodiscard]] double averaged(const std::vector<double>& times) const {
    switch (run_.average) {
      case Average::kRank0:
        return times.front();
      case Average::kMean:
        return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
      case Average::kMin:
        return *std::min_element(times.begin(), times.end());
      case Average::kMax:
        return *std::max_element(times.begin(), times.end());
    }
    return 0;
  }

  const Flags& flags_;
  const BenchRun& run_;
  RankJob& job_;
  bool bounded_;
  Topology topology_;
  BenchTable table_;
  std::vector<std::string> chosen_;  // by row of a cycle
  std::size_t rows_ = 0;             // of this cycle
  std::uint64_t wrong_ = 0;
};

/// Rank 0 simulates every algorithm in these segments while the others wait for its choice, and they know no reason for
/// it.
Result<void> check_segments(const Flags& flags, const BenchRun& run, std::uint32_t size) {
  constexpr double kSegmentsMax = double{1 << 25};  // about a dozen seconds
  if (run.segment.count == 0 || size == 1) return {};
  HOCKET_TRY_ASSIGN(const auto table, algorithms_named(flags.bench.algorithm));
  const double of_rank =
      std::ceil(static_cast<double>(run.sizes.all().back()) / static_cast<double>(run.segment.count));
  const double all = of_rank * size * static_cast<double>(table.size());
  if (all <= kSegmentsMax) return {};
  return fail(
      Code::kResourceExhausted,
      "--segment {}: {} on {} ranks by {} algorithm{} would be planned in {:.0f} segments, at most {:.0f}; take "
      "longer segments, a smaller -e or fewer algorithms (--algo)",
      flags.bench.segment, format_bytes({run.sizes.all().back()}), size, table.size(), table.size() == 1 ? "" : "s",
      all, kSegmentsMax);
}

/// Before any rank is started. Whichever way ranks without a topology will meet, they meet at one switch.
Result<void> check_algorithm(const Flags& flags, CollectiveKind kind, const Network& network, std::uint32_t size) {
  const auto root = static_cast<std::uint32_t>(std::max(flags.bench.root, 0));
  HOCKET_TRY_ASSIGN(const Topology topology,
                    network.topology ? *network.topology : meeting_topology(meeting_of("shm"), size));
  return check_algorithms(flags.bench.algorithm, {topology, {kind, size, root}});
}

Result<int> run(const Flags& flags) {
  HOCKET_TRY_ASSIGN(const BenchRun run, check_flags(flags.bench));
  JobFlags job_flags = flags.job;
  job_flags.topology = flags.network.topology;
  HOCKET_TRY(job_flags.limit());
  HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, job_flags.launch());
  const std::uint32_t size = launch ? launch->size : flags.job.ranks;
  if (flags.bench.root < -1 || flags.bench.root >= static_cast<int>(size))
    return fail(Code::kInvalidArgument, "-r {}: 0 to {} are the {} ranks, and -1 is each of them in turn",
                flags.bench.root, size - 1, size);
  if (!flags.bench.json_file.empty() && (!launch || launch->rank == 0))
    HOCKET_TRY(check_writable(flags.bench.json_file));
  HOCKET_TRY_ASSIGN(const Network network, network_of(flags.network, job_flags.words().said("HOCKET_TOPO_FILE"), size));
  HOCKET_TRY(check_algorithm(flags, run.kind, network, size));
  HOCKET_TRY(check_segments(flags, run, size));
  HOCKET_TRY_ASSIGN(const Launch checked, job_flags.check(launch, size));
  for (const DataType type : run.types) HOCKET_TRY(check_memory_here(largest_of(run, type, size), checked, Bytes{0}));
  if (!launch) return job_flags.start(checked.size);
  HOCKET_TRY_ASSIGN(const auto job, RankJob::open(*launch, job_flags));
  std::vector<SharedFlag> shared = shared_flags(flags.bench, run);
  add_network(shared, flags.network, network);
  HOCKET_TRY(job->compare(shared));
  if (network.topology) return Bench(flags, run, *job, network, *network.topology).all();
  const Meeting meeting = meeting_of(job->transport_name());
  if (job->tells() && job->rank() == 0)
    say("hocket: rank 0: no topology is given: plans are made {}\n", meeting_text(meeting, size));
  HOCKET_TRY_ASSIGN(Topology topology, meeting_topology(meeting, size));
  return Bench(flags, run, *job, network, std::move(topology)).all();
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  flags->bench.declare(app);
  flags->job.declare(app);
  flags->network.declare(app, false, false);
  const auto set_timeout = [timeout = &flags->job.timeout](std::uint32_t seconds) {  // the action keeps the flags
    *timeout = fmt::format("{}s", seconds);
  };
  app.add_option_function<std::uint32_t>("-T", set_timeout, "--timeout in seconds, as nccl-tests has it")
      ->check(CLI::Range(1, 1'000'000))
      ->excludes(app.get_option("--timeout"));
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_bench{
    .name = "bench",
    .summary = "time and check a collective on real ranks, with nccl-tests' flags and columns",
    .example = "hocket bench all_reduce --ranks 4 -b 8 -e 1M -f 8",
    .declare = declare,
};

}  // namespace hocket
