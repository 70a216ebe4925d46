#include "rank_job.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>

#include "algorithms/algorithm.h"
#include "base/units.h"
#include "exchange/file_text.h"
#include "planner/planner.h"
#include "topology/spec.h"
#include "transport/choice.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// Ranks that have cores of their own spin as long as a sleeping wake-up takes; others leave their core sooner.
constexpr std::chrono::microseconds kSpin{50};
constexpr std::chrono::microseconds kSpinShared{1};
constexpr std::uint32_t kRanksMax = 1024;
constexpr std::size_t kCablesMax = std::size_t{1} << 26;  // bytes of the file

const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
}

std::string words_of(const char* name) {
  const char* text = variable(name);
  return text == nullptr ? "" : text;
}

/// The first that is given: a flag, or one of the variables.
std::string first_of(const std::string& flag, std::initializer_list<const char*> names) {
  if (!flag.empty()) return flag;
  for (const char* name : names) {
    if (std::string words = words_of(name); !words.empty()) return words;
  }
  return {};
}

Result<int> inherited_listener() {
  const std::string text = words_of("HOCKET_LISTENER");
  int number = -1;
  if (text.empty()) return number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0)
    return fail(Code::kInvalidArgument, "HOCKET_LISTENER='{}' is not a descriptor", text);
  return number;
}

Result<std::chrono::nanoseconds> spin_time(const JobFlags& flags, const Launch& launch) {
  const std::string words = first_of(flags.spin, {"HOCKET_SPIN"});
  if (!words.empty()) {
    HOCKET_TRY_ASSIGN(const Seconds seconds, parse_seconds(words));
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds.value, 1e6) * 1e9));
  }
  const std::uint32_t here = launch.local_size == 0 ? launch.size : launch.local_size;
  return std::chrono::nanoseconds(here <= std::thread::hardware_concurrency() ? kSpin : kSpinShared);
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
                 "how ranks talk: shm, tcp, a plug-in's name; auto: shm among the ranks of a host, tcp between")
      ->envname("HOCKET_TRANSPORT")
      ->capture_default_str();
  app.add_option("--timeout", timeout, "give up after this long")->envname("HOCKET_TIMEOUT")->capture_default_str();
  declare_network(app);
}

void JobFlags::declare_network(CLI::App& app) {
  app.add_option("--spin", spin,
                 "a waiting rank spins that long before it sleeps [HOCKET_SPIN, else 50us; 1us on too few cores]");
  app.add_option("--ports", ports, "ports ranks may listen on: FIRST-LAST [HOCKET_PORTS, else any]");
  app.add_option("--interface", interfaces, "interface filter, NCCL's grammar [HOCKET_SOCKET_IFNAME]");
  app.add_option("--cables", cables, "a file: addresses by which two ranks are joined directly [HOCKET_CABLES]");
}

Result<std::chrono::nanoseconds> JobFlags::limit() const {
  HOCKET_TRY_ASSIGN(const Seconds seconds, parse_seconds(timeout));
  if (seconds.value <= 0 || seconds.value > 1e6)
    return fail(Code::kInvalidArgument, "--timeout {}: must be above 0 and at most 1000000s", timeout);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds.value * 1e9));
}

Result<std::optional<Launch>> JobFlags::launch() const {
  HOCKET_TRY(transport_named(transport));
  HOCKET_TRY_ASSIGN(std::optional<Launch> found, read_launch(variable));
  if (found && found->size == 1 && ranks > 1) found.reset();  // a launcher of one process: ours to start the ranks
  if (found && ranks != 0 && ranks != found->size)
    return fail(Code::kMismatch, "--ranks {} but {} says rank {} of {}", ranks, found->source, found->rank,
                found->size);
  if (found) {
    const std::string root = words_of("HOCKET_ROOT");
    if (!root.empty()) found->root = root;
    return found;
  }
  if (ranks > 1) return std::optional<Launch>();
  return std::optional(Launch{.source = "no launcher", .root = {}, .job = {}});
}

Result<std::unique_ptr<RankJob>> RankJob::open(const Launch& launch, const JobFlags& flags) {
  HOCKET_TRY_ASSIGN(const auto limit, flags.limit());
  HOCKET_TRY_ASSIGN(TransportChoice choice, transport_named(flags.transport));
  choice.lends = words_of("HOCKET_SHM_LEND") != "0";
  RendezvousOptions options{.launch = launch, .secret = words_of("HOCKET_SECRET"), .ports = {}, .interfaces = {}};
  HOCKET_TRY_ASSIGN(options.listener, inherited_listener());
  if (const std::string ports = first_of(flags.ports, {"HOCKET_PORTS"}); !ports.empty()) {
    HOCKET_TRY_ASSIGN(options.ports, parse_port_range(ports));
  }
  HOCKET_TRY_ASSIGN(options.interfaces,
                    InterfaceFilter::parse(first_of(flags.interfaces, {"HOCKET_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"})));
  if (const std::string file = first_of(flags.cables, {"HOCKET_CABLES"}); !file.empty()) {
    HOCKET_TRY_ASSIGN(const std::string text, read_file_bytes(file, kCablesMax));
    HOCKET_TRY_ASSIGN(options.cables, LinkAddresses::parse(text, file, launch.size));
    choice.by_cable = true;
    if (flags.transport != "auto" && flags.transport != "tcp")
      return fail(Code::kInvalidArgument, "--transport {} uses no cables ('{}')", flags.transport, file);
  }
  options.deadline = steady_clock::now() + limit;
  HOCKET_TRY_ASSIGN(Job joined, join(options));
  if (!words_of("HOCKET_DEBUG").empty()) fmt::print(stderr, "hocket: rank {}: {}\n", launch.rank, joined.way);
  DriverOptions driver;
  driver.timeout = limit;
  HOCKET_TRY_ASSIGN(driver.spin, spin_time(flags, launch));
  std::unique_ptr<RankJob> made(new RankJob(std::move(joined), driver));
  HOCKET_TRY_ASSIGN(made->talk_, open_transport(made->job_, choice, options.deadline));
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
    const Error lost{asked.error().code, fmt::format("{} lost {}: {}; after {}, at the step where rank 0 says '{}'",
                                                     job_.members[rank()].text(), job_.members[0].text(),
                                                     asked.error().text, talk_.transport->call_text(), key)};
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
