#include "rank_job.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "algorithms/algorithm.h"
#include "base/say.h"
#include "exchange/load_topology.h"
#include "exchange/schedule_format.h"
#include "local_ranks.h"
#include "lost_rank.h"
#include "net/cause.h"
#include "planner/planner.h"
#include "signals.h"
#include "topology/spec.h"
#include "transport/choice.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

constexpr std::uint32_t kRanksMax = 1024;
constexpr std::string_view kBetween{"\0", 1};  // words of flags cannot hold it
constexpr std::chrono::seconds kTimeout{30};

/// What makes a launcher start that many ranks.
std::string advice(std::string_view source, std::uint32_t ranks) {
  if (source.starts_with("hocket")) return fmt::format("HOCKET_SIZE={}", ranks);
  if (source.starts_with("torchrun")) return fmt::format("--nnodes times --nproc-per-node {}", ranks);
  return fmt::format("-n {}", ranks);
}

/// The files that variables name are read even where this verb needs none of them.
Result<void> check_files(const Settings& settings, const SettingWords& words) {
  for (const Said& said : {words.said("HOCKET_TOPO_FILE"), words.outdone({"HOCKET_TOPO_FILE"})}) {
    if (!said.given() || said.by_flag) continue;
    const Result<Topology> topology = load_topology(said.words, {});
    if (!topology) return tl::unexpected(said.because(topology.error()));
  }
  if (const Said said = words.said("HOCKET_PLAN_FILE"); said.given()) {
    const Result<Schedule> schedule = load_schedule(settings.plan_file);
    if (!schedule) return tl::unexpected(said.because(schedule.error()));
  }
  return {};
}

const Algorithm* algorithm_named(std::string_view name) {
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm* a) { return a->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace

void JobFlags::declare(CLI::App& app) {
  app.add_option("--ranks", ranks, "start that many ranks here as processes [as the launcher says, else 1]")
      ->check(CLI::Range(1U, kRanksMax));
  app.add_option("--transport", transport,
                 "how ranks talk: shm, tcp, a plug-in's name; auto: shm among the ranks of a host, tcp between "
                 "[HOCKET_TRANSPORT, else auto]");
  app.add_option("--timeout", timeout, "give up after this long [HOCKET_TIMEOUT, else 30s]");
  declare_network(app);
}

void JobFlags::declare_network(CLI::App& app) {
  app.add_option("--spin", spin,
                 "a waiting rank spins that long before it sleeps [HOCKET_SPIN, else 50us; 1us on too few cores]");
  app.add_option("--ports", ports, "ports ranks may listen on: FIRST-LAST [HOCKET_PORTS, else any]");
  app.add_option("--interface", interfaces, "interface filter, NCCL's grammar [HOCKET_SOCKET_IFNAME]");
  app.add_option("--connections", connections,
                 "TCP connections between two ranks, or along each of their cables [HOCKET_TCP_CONNECTIONS, else 1]");
  app.add_option("--cables", cables, "a file: addresses by which two ranks are joined directly [HOCKET_CABLES]");
}

SettingWords JobFlags::words() const {
  return {environment,
          {{"--transport", "HOCKET_TRANSPORT", transport},
           {"--timeout", "HOCKET_TIMEOUT", timeout},
           {"--spin", "HOCKET_SPIN", spin},
           {"--ports", "HOCKET_PORTS", ports},
           {"--interface", "HOCKET_SOCKET_IFNAME", interfaces},
           {"--cables", "HOCKET_CABLES", cables},
           {"--connections", "HOCKET_TCP_CONNECTIONS", connections},
           {"--topo", "HOCKET_TOPO_FILE", topology}}};
}

Result<std::chrono::nanoseconds> JobFlags::limit() const {
  const Said said = words().said("HOCKET_TIMEOUT");
  return said.given() ? said.time_above_0() : kTimeout;
}

Result<std::optional<Launch>> JobFlags::launch(std::uint32_t needed, const std::string& by) const {
  HOCKET_TRY_ASSIGN(std::optional<Launch> found,
                    read_launch(environment, ranks != 0 ? Halves::kPassOver : Halves::kRefuse));
  const std::uint32_t wanted = ranks != 0 ? ranks : needed;
  if (found && found->size == 1 && wanted > 1) found.reset();  // a launcher of one process: ours to start the ranks
  if (found && ranks != 0 && ranks != found->size)
    return fail(Code::kMismatch, "--ranks {} but {} says rank {} of {}", ranks, found->source, found->rank,
                found->size);
  if (found && needed != 0 && needed != found->size)
    return fail(Code::kMismatch, "{} has {} ranks, but {} says rank {} of {}: it takes {}", by, needed, found->source,
                found->rank, found->size, advice(found->source, needed));
  if (found) return found;
  if (wanted > 1) return std::optional<Launch>();
  return std::optional(Launch::alone("no launcher"));
}

Result<Launch> JobFlags::check(const std::optional<Launch>& launch, std::uint32_t size) const {
  Launch checked = launch.value_or(Launch::alone("--ranks"));
  checked.size = size;
  if (!launch) {
    checked.local_size = size;
    HOCKET_TRY(interfaces_of(words(), AF_INET));  // ranks that start here look for rank 0 on IPv4's loopback
  }
  HOCKET_TRY(settings(checked));
  return checked;
}

Result<int> JobFlags::start(std::uint32_t size, std::vector<std::string> files) const {
  const SettingWords said = words();
  for (const char* const name : {"HOCKET_TOPO_FILE", "HOCKET_PLAN_FILE", "HOCKET_CABLES"})
    files.push_back(said.said(name).words);
  HOCKET_TRY(check_read_again(files));
  HOCKET_TRY_ASSIGN(const PortRange range, ports_of(said));
  return run_local_ranks(size, range);
}

Result<Settings> JobFlags::settings(const Launch& launch) const {
  const SettingWords said = words();
  HOCKET_TRY_ASSIGN(Settings settings, read_settings(launch, {}, said, kTimeout));
  HOCKET_TRY(check_files(settings, said));
  return settings;
}

Result<Job> join_and_put_away(RendezvousOptions options) {
  std::optional<HeldSignals> held;
  if (options.launch.rank == 0) held.emplace();
  if (held || LostRank::started_here()) {
    options.before.check = [&held, me = options.launch.rank]() -> Result<void> {
      if (held) HOCKET_TRY(held->check());
      return LostRank::check(me);
    };
  }
  return join(options);
}

Result<std::unique_ptr<RankJob>> RankJob::open(const Launch& launch, const JobFlags& flags) {
  HOCKET_TRY_ASSIGN(const Settings settings, flags.settings(launch));
  HOCKET_TRY_ASSIGN(Job joined, join_and_put_away(settings.rendezvous));
  std::unique_ptr<RankJob> made(new RankJob(std::move(joined), settings.driver));
  made->driver_options_.name = made->job_.members[launch.rank].text();
  made->tells_ = settings.debug >= DebugLevel::kMeeting;
  if (made->tells()) say("hocket: rank {}: {}\n", launch.rank, made->job_.way);
  HOCKET_TRY_ASSIGN(made->talk_, open_transport(made->job_, settings.transport, settings.rendezvous.deadline));
  HOCKET_TRY(made->prepare());
  return made;
}

Result<void> RankJob::prepare() {
  HOCKET_TRY_ASSIGN(const Topology topology,
                    topology_from_spec(fmt::format("{}:{}", size() == 1 ? "ring" : "full", size()), {}));
  const Collective gather{CollectiveKind::kAllGather, size(), 0};
  HOCKET_TRY_ASSIGN(const VerifiedSchedule verified, plan_algorithm(*algorithm_named("direct"), {topology, gather}));
  HOCKET_TRY_ASSIGN(const Plan plan, Plan::bind(verified, {gather, size(), DataType::kF64, ReduceOp::kSum}));
  HOCKET_TRY_ASSIGN(sharing_, RankDriver::create(plan, rank(), *talk_.transport, driver_options_));
  shared_.resize(size());
  HOCKET_TRY(share(0));  // nobody goes on before all are connected with all
  return {};
}

Result<std::vector<double>> RankJob::share(double mine) {
  HOCKET_TRY(sharing_->run({&mine, shared_.data()}));
  return shared_;
}

namespace {

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t end = text.find(kBetween); end != std::string_view::npos; end = text.find(kBetween)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + kBetween.size());
  }
  parts.emplace_back(text);
  return parts;
}

/// Of flag, words and meaning.
std::string flag_text(const std::string* flag, bool with_meaning) {
  if (flag[1].empty()) return "no " + flag[0];
  return fmt::format("{} {}{}", flag[0], flag[1], with_meaning ? fmt::format(" ({})", flag[2]) : "");
}

}  // namespace

Result<void> RankJob::compare(const std::vector<SharedFlag>& flags) {
  std::vector<std::string> mine;
  for (const SharedFlag& flag : flags) mine.insert(mine.end(), {flag.flag, flag.words, flag.meaning});
  const auto words = [&mine]() -> Result<std::string> { return fmt::format("{}", fmt::join(mine, kBetween)); };
  if (job_.server) job_.server->stay();  // until all have read them, also when this rank ends before
  HOCKET_TRY_ASSIGN(const std::string said, agree("flags", words));
  const std::vector<std::string> theirs = parts_of(said);
  for (std::size_t i = 0; i < mine.size(); i += 3) {
    const bool there = i + 2 < theirs.size() && theirs[i] == mine[i];
    const std::size_t counts = mine[i + 2].empty() ? i + 1 : i + 2;
    if (there && theirs[counts] == mine[counts]) continue;
    const bool alike = there && theirs[i + 1] == mine[i + 1];  // the same name for two things
    const std::string other = there ? flag_text(&theirs[i], alike) : "flags of another version";
    const Error differs{Code::kMismatch, fmt::format("{} has {}, {} has {}", job_.members[rank()].text(),
                                                     flag_text(&mine[i], alike), job_.members[0].text(), other)};
    talk_.transport->fail(differs);
    return tl::unexpected<Error>(differs);
  }
  HOCKET_TRY(share(0));
  if (job_.server) job_.server->stay(false);
  return {};
}

Result<std::string> RankJob::agree(const std::string& key, const std::function<Result<std::string>()>& at_root) {
  const SteadyTime deadline = steady_clock::now() + driver_options_.timeout;
  if (rank() == 0) {
    Result<std::string> words = at_root();
    if (size() == 1) return words;
    // Others learn of an error too, instead of waiting for words that never come.
    const std::string sent =
        words ? "+" + *words : fmt::format("{}{}", static_cast<int>(words.error().code), "!" + words.error().text);
    HOCKET_TRY(job_.store->set(key, sent, deadline));
    return words;
  }
  const Result<std::optional<std::string>> asked = job_.store->get(key, deadline);
  if (!asked) {
    const std::string me = job_.members[rank()].text();
    const std::string root = job_.members[0].text();
    const Error lost =
        told_cause(*job_.store,
                   {asked.error().code, fmt::format("{} lost {}: {}; after {}, at the step where rank 0 says '{}'", me,
                                                    root, asked.error().text, talk_.transport->call_text(), key)},
                   me);
    talk_.transport->fail(lost);  // or others would only see this rank leave
    return tl::unexpected<Error>(lost);
  }
  const std::optional<std::string>& words = *asked;
  if (!words) return fail(Code::kTimeout, "rank {}: rank 0 has not said '{}' in time", rank(), key);
  if (words->starts_with('+')) return words->substr(1);
  const std::size_t mark = words->find('!');
  int code = static_cast<int>(Code::kInternal);
  std::from_chars(words->data(), words->data() + std::min(mark, words->size()), code);
  return fail(static_cast<Code>(code), "rank {} was told by rank 0: {}", rank(), words->substr(mark + 1));
}

}  // namespace hocket
