// hocket run: proves a schedule file and executes it with real buffers, on ranks of this process, on processes of their
// own, or on the network of a lab; every output is compared with the definition of the collective. Inputs are small
// whole numbers, exact in every type.
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "base/random.h"
#include "engine/executor.h"
#include "engine/reference.h"
#include "exchange/schedule_format.h"
#include "flags.h"
#include "lab_run.h"
#include "local_ranks.h"
#include "memory_need.h"
#include "planner/planner.h"
#include "progress_line.h"
#include "rank_job.h"
#include "run_ranks.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::vector<std::string> files;
  std::string transport;
  JobFlags job;
  CollectiveFlags amount;
  SimulationFlags simulation;
  LabFlags lab;
  std::uint64_t seed = 1;
  bool json = false;
};

/// Whole numbers of 0..3 as elements of the type: sums and products of few ranks stay exact.
template <class T>
void fill(RankBytes& bytes, Random& random) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = static_cast<T>(random.next() >> 62);
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

/// 0, 1, 2, 3 in half and brain float: sign 0, exponents around the bias.
void fill_halves(RankBytes& bytes, Random& random, DataType type) {
  constexpr std::uint16_t half[4] = {0x0000, 0x3c00, 0x4000, 0x4200};
  constexpr std::uint16_t brain[4] = {0x0000, 0x3f80, 0x4000, 0x4040};
  for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2) {
    const std::uint16_t value = (type == DataType::kF16 ? half : brain)[random.next() >> 62];
    std::memcpy(bytes.data() + at, &value, 2);
  }
}

void fill_input(RankBytes& bytes, DataType type, Random& random) {
  switch (type) {
    case DataType::kI8:
    case DataType::kU8:
      return fill<std::uint8_t>(bytes, random);
    case DataType::kF16:
    case DataType::kBf16:
      return fill_halves(bytes, random, type);
    case DataType::kI32:
    case DataType::kU32:
      return fill<std::uint32_t>(bytes, random);
    case DataType::kI64:
    case DataType::kU64:
      return fill<std::uint64_t>(bytes, random);
    case DataType::kF32:
      return fill<float>(bytes, random);
    case DataType::kF64:
      return fill<double>(bytes, random);
  }
}

struct Run {
  RunReport report;
  std::uint64_t wrong_bytes = 0;
};

Result<Run> execute_and_check(const Plan& plan, const Flags& flags, std::chrono::nanoseconds timeout) {
  const BoundCollective& what = plan.what();
  const std::uint32_t n = what.collective.ranks;
  ProgressLine line;
  line.progress().begin("making the data");
  std::vector<RankBytes> inputs(n);
  std::vector<RankBytes> outputs(n);
  std::vector<RankBuffers> buffers(n);
  Random random(flags.seed);
  for (std::uint32_t r = 0; r < n; ++r) {
    inputs[r].resize(static_cast<std::size_t>(input_count(what, r) * size_of(what.type)));
    outputs[r].resize(static_cast<std::size_t>(output_count(what, r) * size_of(what.type)));
    fill_input(inputs[r], what.type, random);
    buffers[r] = {inputs[r].data(), outputs[r].data()};
  }
  ExecuteOptions options;
  options.timeout = timeout;
  Run run;
  line.progress().begin("executing");
  HOCKET_TRY_ASSIGN(run.report, execute(plan, buffers, options));
  line.progress().begin("checking the data");
  HOCKET_TRY_ASSIGN(const std::vector<RankBytes> expected, reference_result(what, inputs));
  for (std::uint32_t r = 0; r < n; ++r) {
    for (std::size_t i = 0; i < expected[r].size(); ++i) run.wrong_bytes += expected[r][i] != outputs[r][i] ? 1 : 0;
  }
  return run;
}

/// What is printed about a run, wherever the ranks were.
struct Outcome {
  std::string_view transport;
  std::string place;  // "4 ranks in this process"
  Picos time;
  std::uint64_t wrong = 0;
  std::string_view wrong_unit;
  std::int64_t bytes_moved = 0;
  std::uint64_t ops = 0;
};

void print_run(const Flags& flags, const Plan& plan, const Outcome& run) {
  const BoundCollective& what = plan.what();
  flags.amount.note_cut(what);
  if (!flags.json) {
    fmt::print("{} of {} {} by '{}' on {}: {}, algbw {}, busbw {}; data {}\n", name_of(what.collective.kind),
               format_bytes(what.bytes()), name_of(what.type), plan.schedule().algorithm(), run.place,
               format_seconds(to_seconds(run.time)), format_bandwidth({algbw_Bps(what, run.time)}),
               format_bandwidth({busbw_Bps(what, run.time)}),
               run.wrong == 0 ? "right" : fmt::format("WRONG in {} {}", run.wrong, run.wrong_unit));
    return;
  }
  nlohmann::ordered_json out = document("run");
  out["collective"] = std::string(name_of(what.collective.kind));
  out["algorithm"] = plan.schedule().algorithm();
  out["ranks"] = what.collective.ranks;
  out["size_bytes"] = what.bytes().count;
  out["transport"] = std::string(run.transport);
  out["time_s"] = to_seconds(run.time).value;
  out["algbw_Bps"] = algbw_Bps(what, run.time);
  out["busbw_Bps"] = busbw_Bps(what, run.time);
  out[fmt::format("wrong_{}", run.wrong_unit)] = run.wrong;
  out["correct"] = run.wrong == 0;
  out["bytes_moved"] = run.bytes_moved;
  out["ops"] = run.ops;
  print_json(out);
}

/// Each segment of an op is a message of its own, and a rank keeps a place for every one that it gets.
Result<void> check_messages(const Plan& plan) {
  constexpr double kMessagesMax = double{1 << 28};
  const std::span<const Op> ops = plan.schedule().ops();
  double messages = 0;
  for (OpId id = 0; id < ops.size(); ++id) messages += ops[id].sends() ? plan.segments(id) : 0;
  if (messages <= kMessagesMax) return {};
  return fail(Code::kResourceExhausted,
              "'{}' of {}: segments of {} would be {:.0f} messages, at most {:.0f} are run; take longer segments",
              plan.schedule().algorithm(), format_bytes(plan.what().bytes()), format_bytes(plan.segment()), messages,
              kMessagesMax);
}

Result<Plan> load_plan(const Flags& flags) {
  if (flags.files.size() > 1)
    return fail(Code::kInvalidArgument, "{} schedules: more than one needs --lab", flags.files.size());
  const std::string& file = flags.files.front();
  HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(file));
  const Collective collective = schedule.collective();
  if (flags.job.ranks != 0 && flags.job.ranks != collective.ranks) {
    return fail(Code::kMismatch, "{}: --ranks {} but the schedule has {} ranks", file, flags.job.ranks,
                collective.ranks);
  }
  HOCKET_TRY_ASSIGN(VerifiedSchedule verified, prove(std::move(schedule)));
  HOCKET_TRY_ASSIGN(const BoundCollective what, flags.amount.bind(collective, file));
  HOCKET_TRY_ASSIGN(Bytes segment, parse_segment(flags.simulation.segment, {&what.type, 1}));
  if (segment.count == 0) segment = Plan::kDefaultSegment;
  HOCKET_TRY_ASSIGN(Plan plan, Plan::bind(std::move(verified), what, segment));
  HOCKET_TRY(check_messages(plan));
  return plan;
}

Result<int> run_in_process(const Flags& flags, const Plan& plan) {
  HOCKET_TRY_ASSIGN(const auto timeout, flags.job.limit());
  HOCKET_TRY(check_memory_in_process(plan));
  HOCKET_TRY_ASSIGN(const Run result, execute_and_check(plan, flags, timeout));
  const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(result.report.elapsed);
  print_run(flags, plan,
            {.transport = "inproc",
             .place = fmt::format("{} ranks in this process", plan.what().collective.ranks),
             .time = {elapsed.count() * 1000},
             .wrong = result.wrong_bytes,
             .wrong_unit = "bytes",
             .bytes_moved = result.report.bytes_moved,
             .ops = result.report.ops});
  return result.wrong_bytes == 0 ? 0 : 1;
}

/// What makes the plan and the data: the same on every rank. The file may have another name on each host.
std::vector<SharedFlag> shared_flags(const Flags& flags, const Plan& plan) {
  const BoundCollective& what = plan.what();
  return {{"hocket", "run", {}},
          {"schedule", flags.files.front(), plan.schedule().fingerprint().text().substr(0, 8)},
          {"--size", flags.amount.size, fmt::format("{}B", what.bytes().count)},
          {"--dtype", flags.amount.type, std::string(name_of(what.type))},
          {"--op", flags.amount.op, {}},
          {"--segment", flags.simulation.segment, fmt::format("{}B", plan.segment().count)},
          {"--seed", fmt::format("{}", flags.seed), {}}};
}

Result<int> run_as_rank(const Flags& flags, const Plan& plan, const Launch& launch, const JobFlags& how) {
  HOCKET_TRY_ASSIGN(const auto job, RankJob::open(launch, how));
  HOCKET_TRY(job->compare(shared_flags(flags, plan)));
  HOCKET_TRY_ASSIGN(const RanksRun result, run_on_ranks(plan, *job, flags.seed));
  if (job->rank() == 0) {
    print_run(flags, plan,
              {.transport = job->transport_name(),
               .place = fmt::format("{} processes over {}", job->size(), job->transport_name()),
               .time = {static_cast<std::int64_t>(result.time_s * 1e12)},
               .wrong = result.wrong,
               .wrong_unit = "elements",
               .bytes_moved = result.bytes_moved,
               .ops = result.ops});
  }
  return result.wrong == 0 ? 0 : 1;
}

/// Ranks of a launcher would each run all of them.
Result<void> refuse_copies(const Flags& flags) {
  HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, read_launch(environment, Halves::kPassOver));
  if (!launch || launch->size == 1) return {};
  return fail(Code::kMismatch, "--transport {} runs all ranks in one process, but {} says rank {} of {}",
              flags.transport, launch->source, launch->rank, launch->size);
}

/// Threads of one process have no network; what the user says about one is refused, and bad settings are.
Result<void> check_in_process(const JobFlags& job, std::uint32_t ranks) {
  HOCKET_TRY(job.check(std::nullopt, ranks));
  for (const char* setting :
       {"HOCKET_SPIN", "HOCKET_PORTS", "HOCKET_SOCKET_IFNAME", "HOCKET_TCP_CONNECTIONS", "HOCKET_CABLES"}) {
    const Said said = job.words().said(setting);
    if (said.by_flag)
      return fail(Code::kInvalidArgument,
                  "{}: the ranks are threads of this process and use no network; --transport auto, shm or tcp makes "
                  "them processes",
                  said.text());
  }
  return {};
}

/// In one process unless --transport or a launcher says otherwise.
Result<int> run(const Flags& flags) {
  if (flags.lab.given()) {
    return run_in_lab({flags.lab, flags.files, flags.amount, flags.simulation, flags.job, flags.seed, flags.json});
  }
  HOCKET_TRY(flags.job.limit());
  const bool between = !flags.transport.empty() && flags.transport != "inproc";
  if (between) {
    const Result<TransportChoice> named = transport_named(flags.transport);
    if (!named) return fail(named.error().code, "{}; nor is it inproc", named.error().text);
  }
  if (flags.transport == "inproc") HOCKET_TRY(refuse_copies(flags));
  HOCKET_TRY_ASSIGN(const Plan plan, load_plan(flags));
  const std::uint32_t ranks = plan.what().collective.ranks;
  JobFlags job = flags.job;
  if (flags.transport == "inproc") {
    HOCKET_TRY(check_in_process(job, ranks));
    return run_in_process(flags, plan);
  }
  if (between) job.transport = flags.transport;
  HOCKET_TRY_ASSIGN(const std::optional<Launch> launch, job.launch(ranks, flags.files.front()));
  const bool launched = launch && launch->size > 1;
  if (flags.transport.empty() && !launched) {
    HOCKET_TRY(check_in_process(job, ranks));
    return run_in_process(flags, plan);
  }
  HOCKET_TRY_ASSIGN(const Launch checked, job.check(launch, ranks));
  HOCKET_TRY(check_memory_here(plan.what(), checked, plan.scratch_bytes()));
  if (launch) return run_as_rank(flags, plan, *launch, job);
  flags.amount.note_cut(plan.what());
  return job.start(checked.size, flags.files);
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("file", flags->files, "a schedule: .hkt, its .json view or MSCCL XML; several with --lab")->required();
  app.add_option("--ranks", flags->job.ranks, "ranks the schedule must have [as the file says]")
      ->check(CLI::Range(1U, std::numeric_limits<std::uint32_t>::max()));
  app.add_option("--transport", flags->transport,
                 "inproc: ranks are threads here; shm, tcp, auto: processes [auto under a launcher, else inproc]");
  flags->amount.declare(app);
  app.add_option("--segment", flags->simulation.segment,
                 "bytes that move at once [128KiB; in the lab the best by simulation]");
  app.add_option("--timeout", flags->job.timeout, "give up after this long [HOCKET_TIMEOUT, else 30s]");
  flags->job.declare_network(app);
  app.add_option("--seed", flags->seed, "seed of the input data")->capture_default_str();
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  flags->lab.declare(app);
  return [flags] { return run(*flags); };
}

}  // namespace

extern const Verb verb_run{
    .name = "run",
    .summary = "execute a schedule file on ranks, in this process or in their own, and check the data",
    .example = "hocket run plan.hkt --ranks 16 --size 64MiB",
    .declare = declare,
};

}  // namespace hocket
