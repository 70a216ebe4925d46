#include "api/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <thread>

#include "base/units.h"
#include "engine/cores.h"
#include "exchange/file_text.h"

namespace hocket {
namespace {

using std::chrono::nanoseconds;

/// Ranks with cores of their own spin as long as a sleeping wake-up takes; others leave their core sooner.
constexpr std::chrono::microseconds kSpin{50};
constexpr std::chrono::microseconds kSpinShared{2};
constexpr std::chrono::hours kSpinAlways{24};
constexpr std::chrono::minutes kTimeout{10};
constexpr double kSecondsMax = 1e6;
constexpr std::size_t kCablesMax = std::size_t{1} << 26;  // bytes of the file

/// The first that is given: an option, or one of the variables.
std::string first_of(const Variables& variables, const std::string& option, std::initializer_list<const char*> names) {
  if (!option.empty()) return option;
  for (const char* name : names) {
    const char* text = variables(name);
    if (text != nullptr && *text != '\0') return text;
  }
  return {};
}

Result<nanoseconds> time_of(const char* name, const std::string& words) {
  const Result<Seconds> seconds = parse_seconds(words);
  if (!seconds) return fail(seconds.error().code, "{}: {}", name, seconds.error().text);
  if (seconds->value < 0 || seconds->value > kSecondsMax)
    return fail(Code::kInvalidArgument, "{}={}: must be from 0s to 1000000s", name, words);
  return nanoseconds(static_cast<std::int64_t>(seconds->value * 1e9));
}

Result<int> listener_of(const CommunicatorOptions& options, const Variables& variables) {
  int number = options.listener;
  const std::string text = options.rank ? "" : first_of(variables, "", {"HOCKET_LISTENER"});
  if (number >= 0 || text.empty()) return number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0)
    return fail(Code::kInvalidArgument, "HOCKET_LISTENER='{}' is not a descriptor", text);
  return number;
}

Result<Launch> launch_of(const CommunicatorOptions& options, const Variables& variables) {
  if (options.rank.has_value() != options.size.has_value())
    return fail(Code::kInvalidArgument, "a rank needs a size, and a size a rank: give both or neither");
  Launch launch{.source = "no launcher", .root = {}, .job = {}};
  if (options.rank) {
    if (*options.rank >= *options.size)
      return fail(Code::kInvalidArgument, "rank {} is not below the size {}", *options.rank, *options.size);
    launch = {.rank = *options.rank, .size = *options.size, .source = "options", .root = options.root, .job = {}};
    if (const char* job = variables("HOCKET_JOB")) launch.job = job;
    return launch;
  }
  HOCKET_TRY_ASSIGN(const std::optional<Launch> found, read_launch(variables));
  if (found) launch = *found;
  if (const std::string root = first_of(variables, options.root, {"HOCKET_ROOT"}); !root.empty()) launch.root = root;
  return launch;
}

Result<void> read_times(const CommunicatorOptions& options, const Variables& variables, Settings& settings) {
  settings.driver.timeout = kTimeout;
  if (options.timeout.count() < 0) return fail(Code::kInvalidArgument, "the timeout must be above 0");
  if (options.timeout.count() > 0) settings.driver.timeout = options.timeout;
  if (const std::string words = first_of(variables, "", {"HOCKET_TIMEOUT"});
      !words.empty() && options.timeout.count() == 0) {
    HOCKET_TRY_ASSIGN(settings.driver.timeout, time_of("HOCKET_TIMEOUT", words));
    if (settings.driver.timeout.count() == 0)
      return fail(Code::kInvalidArgument, "HOCKET_TIMEOUT={}: must be above 0", words);
  }
  const Launch& launch = settings.rendezvous.launch;
  const std::uint32_t here = launch.local_size == 0 ? launch.size : launch.local_size;
  settings.driver.spin = here <= std::thread::hardware_concurrency() ? kSpin : kSpinShared;
  if (const std::string words = first_of(variables, "", {"HOCKET_SPIN"}); !words.empty()) {
    HOCKET_TRY_ASSIGN(settings.driver.spin, time_of("HOCKET_SPIN", words));
  }
  if (options.progress == ProgressMode::kDedicated) settings.driver.spin = kSpinAlways;
  settings.rendezvous.deadline = std::chrono::steady_clock::now() + settings.driver.timeout;
  return {};
}

Result<ProgressCost> read_cost(const CommunicatorOptions& options, const Variables& variables) {
  ProgressCost cost{.core = options.progress_core, .counted = options.count_time};
  if (const std::string words = first_of(variables, "", {"HOCKET_COUNT_TIME"}); !words.empty() && !cost.counted) {
    if (words != "0" && words != "1")
      return fail(Code::kInvalidArgument, "HOCKET_COUNT_TIME='{}': known: 0 and 1", words);
    cost.counted = words == "1";
  }
  if (const std::string words = first_of(variables, "", {"HOCKET_PROGRESS_CORE"}); !words.empty() && !cost.core) {
    std::uint32_t core = 0;
    const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), core);
    if (error != std::errc{} || end != words.data() + words.size())
      return fail(Code::kInvalidArgument, "HOCKET_PROGRESS_CORE='{}' is not a core's number", words);
    cost.core = core;
  }
  if (cost.core) HOCKET_TRY(check_core(*cost.core));
  return cost;
}

Result<DebugLevel> debug_level(const std::string& words) {
  constexpr std::array<std::string_view, 4> kWords{"none", "meeting", "plans", "calls"};
  if (words.empty()) return DebugLevel::kSilent;
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (words == kWords[i] || words == std::to_string(i)) return static_cast<DebugLevel>(i);
  }
  return fail(Code::kInvalidArgument, "HOCKET_DEBUG='{}': known: 0 or none, 1 or meeting, 2 or plans, 3 or calls",
              words);
}

}  // namespace

Result<Settings> read_settings(const CommunicatorOptions& options, const Variables& variables) {
  Settings settings;
  RendezvousOptions& meeting = settings.rendezvous;
  HOCKET_TRY_ASSIGN(meeting.launch, launch_of(options, variables));
  meeting.secret = first_of(variables, options.secret, {"HOCKET_SECRET"});
  HOCKET_TRY_ASSIGN(meeting.listener, listener_of(options, variables));
  if (const std::string ports = first_of(variables, "", {"HOCKET_PORTS"}); !ports.empty()) {
    HOCKET_TRY_ASSIGN(meeting.ports, parse_port_range(ports));
  }
  HOCKET_TRY_ASSIGN(meeting.interfaces,
                    InterfaceFilter::parse(first_of(variables, "", {"HOCKET_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"})));
  if (const std::string file = first_of(variables, "", {"HOCKET_CABLES"}); !file.empty()) {
    HOCKET_TRY_ASSIGN(const std::string text, read_file_bytes(file, kCablesMax));
    HOCKET_TRY_ASSIGN(meeting.cables, LinkAddresses::parse(text, file, meeting.launch.size));
    settings.transport.by_cable = true;
  }
  HOCKET_TRY(read_times(options, variables, settings));
  settings.topology = first_of(variables, options.topology, {"HOCKET_TOPO_FILE"});
  settings.plan_file = first_of(variables, options.plan_file, {"HOCKET_PLAN_FILE"});
  if (const std::string name = first_of(variables, options.transport, {"HOCKET_TRANSPORT"}); !name.empty()) {
    const bool by_cable = settings.transport.by_cable;
    HOCKET_TRY_ASSIGN(settings.transport, transport_named(name));
    settings.transport.by_cable = by_cable;
  }
  settings.transport.lends = first_of(variables, "", {"HOCKET_SHM_LEND"}) != "0";
  settings.progress = options.progress;
  HOCKET_TRY_ASSIGN(settings.cost, read_cost(options, variables));
  HOCKET_TRY_ASSIGN(settings.debug, debug_level(first_of(variables, "", {"HOCKET_DEBUG"})));
  return settings;
}

void DebugLog::print_line(const std::string& text) const { fmt::print(stderr, "hocket {}: {}\n", who_, text); }

}  // namespace hocket
