#include "api/settings.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <thread>

#include "base/say.h"
#include "engine/cores.h"
#include "exchange/file_text.h"
#include "net/secret.h"

namespace hocket {
namespace {

using std::chrono::nanoseconds;

/// Ranks with cores of their own spin as long as a sleeping wake-up takes; others leave their core sooner.
constexpr std::chrono::microseconds kSpin{50};
constexpr std::chrono::microseconds kSpinShared{1};
constexpr std::chrono::hours kSpinAlways{24};
constexpr std::chrono::minutes kTimeout{10};
constexpr std::uint32_t kConnectionsMax = 16;             // between two ranks
constexpr std::size_t kCablesMax = std::size_t{1} << 26;  // bytes of the file

/// The error of a parser, with who said the words.
template <class T>
Result<T> named(const Said& said, Result<T> result) {
  if (!result) return tl::unexpected<Error>(Error{result.error().code, said.name + ": " + result.error().text});
  return result;
}

/// The words of an option given in code, else what flags and variables say.
std::string words_of(const std::string& option, const Said& said) { return option.empty() ? said.words : option; }

Result<int> listener_of(const CommunicatorOptions& options, const SettingWords& words) {
  const Said said = words.said("HOCKET_LISTENER");
  if (options.listener >= 0 || options.rank || !said.given()) return options.listener;
  HOCKET_TRY_ASSIGN(const std::uint32_t number, said.number("a descriptor"));
  if (number > static_cast<std::uint32_t>(std::numeric_limits<int>::max()))
    return fail(Code::kInvalidArgument, "{} is not a descriptor", said.text());
  return static_cast<int>(number);
}

/// The child of a launcher has it from its parent, a caller from anywhere.
Result<void> check_listener(int listener) {
  int listens = 0;
  socklen_t length = sizeof(listens);
  if (listener < 0) return {};
  if (::getsockopt(listener, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0) return {};
  return fail(Code::kInvalidArgument, "the listener, descriptor {}, is no socket that listens", listener);
}

/// A word that a caller has cast may be none.
Result<void> check_progress(ProgressMode progress) {
  if (progress <= ProgressMode::kCaller) return {};
  return fail(Code::kInvalidArgument, "progress mode {} does not exist", static_cast<int>(progress));
}

/// What the caller says of the root wins.
Launch rooted_by(const CommunicatorOptions& options, Launch launch) {
  if (options.root.empty()) return launch;
  launch.root = options.root;
  launch.root_name.clear();
  return launch;
}

Result<Launch> launch_of(const CommunicatorOptions& options, const Variables& variables) {
  if (options.rank.has_value() != options.size.has_value())
    return fail(Code::kInvalidArgument, "a rank needs a size, and a size a rank: give both or neither");
  if (options.rank) {
    if (*options.rank >= *options.size)
      return fail(Code::kInvalidArgument, "rank {} is not below the size {}", *options.rank, *options.size);
    Launch launch = Launch::alone("options");
    launch.rank = *options.rank;
    launch.size = *options.size;
    HOCKET_TRY(read_root(launch, variables));
    HOCKET_TRY_ASSIGN(launch.job, read_job(variables));
    return rooted_by(options, std::move(launch));
  }
  HOCKET_TRY_ASSIGN(const std::optional<Launch> found, read_launch(variables));
  return rooted_by(options, found.value_or(Launch::alone("no launcher")));
}

Result<void> read_times(const CommunicatorOptions& options, const SettingWords& words, Settings& settings) {
  DriverOptions& driver = settings.driver;
  if (options.timeout.count() < 0) return fail(Code::kInvalidArgument, "the timeout must be above 0");
  if (const Said said = words.said("HOCKET_TIMEOUT"); said.given()) {
    HOCKET_TRY_ASSIGN(driver.timeout, said.time_above_0());
  }
  if (options.timeout.count() > 0) driver.timeout = options.timeout;
  const Launch& launch = settings.rendezvous.launch;
  const std::uint32_t here = launch.local_size == 0 ? launch.size : launch.local_size;
  driver.spin = here <= std::thread::hardware_concurrency() ? kSpin : kSpinShared;
  if (const Said said = words.said("HOCKET_SPIN"); said.given()) {
    HOCKET_TRY_ASSIGN(driver.spin, said.time());
  }
  if (options.progress == ProgressMode::kDedicated) driver.spin = kSpinAlways;
  settings.rendezvous.deadline = std::chrono::steady_clock::now() + driver.timeout;
  return {};
}

Result<ProgressCost> read_cost(const CommunicatorOptions& options, const SettingWords& words) {
  ProgressCost cost{.core = options.progress_core, .counted = options.count_time};
  if (const Said said = words.said("HOCKET_COUNT_TIME"); said.given()) {
    HOCKET_TRY_ASSIGN(const bool counted, said.on());
    cost.counted = cost.counted || counted;
  }
  const Said said = words.said("HOCKET_PROGRESS_CORE");
  if (said.given()) {
    HOCKET_TRY_ASSIGN(const std::uint32_t core, said.number("a core's number"));
    if (!cost.core) cost.core = core;
  }
  if (!cost.core) return cost;
  const Result<void> usable = check_core(*cost.core);
  if (usable || options.progress_core) return usable ? Result<ProgressCost>(cost) : tl::unexpected(usable.error());
  return tl::unexpected(said.because(usable.error()));
}

Result<DebugLevel> debug_level(const Said& said) {
  constexpr std::array<std::string_view, 4> kWords{"none", "meeting", "plans", "calls"};
  if (!said.given()) return DebugLevel::kSilent;
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (said.words == kWords[i] || said.words == std::to_string(i)) return static_cast<DebugLevel>(i);
  }
  return fail(Code::kInvalidArgument, "{}: known: 0 or none, 1 or meeting, 2 or plans, 3 or calls", said.text());
}

/// The secret of a job of one rank is used for nothing, and must be one all the same.
Result<void> check_secret(const Said& said) {
  if (!said.given()) return {};
  const Result<Secret> secret = Secret::from_text(said.words);
  if (secret) return {};
  return fail(secret.error().code, "{}: {}", said.name, secret.error().text);
}

/// Words with commas between are those of ranks 0, 1 and so on: there is one for each.
Result<void> check_hosts(const Said& said, const Launch& launch) {
  const std::string& words = said.words;
  if (words.find(',') == std::string::npos) return {};
  const auto count = static_cast<std::uint32_t>(std::count(words.begin(), words.end(), ',') + 1);
  if (("," + words + ",").find(",,") != std::string::npos)
    return fail(Code::kInvalidArgument, "{}: a host without a name", said.text());
  if (count >= launch.size) return {};
  return fail(Code::kMismatch, "{} names the hosts of {} ranks, but there are {}", said.text(), count, launch.size);
}

Result<void> check_plug_ins(const Said& said) {
  std::error_code error;
  if (!said.given() || std::filesystem::is_directory(said.words, error)) return {};
  return fail(Code::kInvalidArgument, "{} is no folder", said.text());
}

Result<void> check_file(const Said& said) {
  if (!said.given()) return {};
  const std::ifstream file(said.words);
  if (file) return {};
  return fail(Code::kInvalidArgument, "{}: cannot open it: {}", said.text(), std::generic_category().message(errno));
}

Result<void> check_port_count(const Said& said, const RendezvousOptions& meeting) {
  const std::uint32_t needed = ports_needed(meeting);
  if (needed <= meeting.ports.count()) return {};
  return fail(Code::kInvalidArgument, "{}: has {} port{}, but this host needs {}{}", said.text(), meeting.ports.count(),
              meeting.ports.count() == 1 ? "" : "s", needed,
              needed > 1 ? " (one for each of its ranks, and one more where rank 0 is)" : "");
}

Result<std::uint32_t> connections_of(const Said& said) {
  if (!said.given()) return 1U;
  HOCKET_TRY_ASSIGN(const std::uint32_t count, said.number("a number of connections"));
  if (count >= 1 && count <= kConnectionsMax) return count;
  return fail(Code::kInvalidArgument, "{}: 1 to {} are possible", said.text(), kConnectionsMax);
}

/// Where ranks listen, and by which interfaces and cables they meet.
Result<void> read_places(const SettingWords& words, Settings& settings) {
  RendezvousOptions& meeting = settings.rendezvous;
  HOCKET_TRY_ASSIGN(meeting.ports, ports_of(words));
  if (const Said said = words.said("HOCKET_PORTS"); said.given()) HOCKET_TRY(check_port_count(said, meeting));
  HOCKET_TRY_ASSIGN(meeting.interfaces, interfaces_of(words));
  HOCKET_TRY_ASSIGN(meeting.connections, connections_of(words.said("HOCKET_TCP_CONNECTIONS")));
  const Said cables = words.said("HOCKET_CABLES");
  if (!cables.given()) return {};
  HOCKET_TRY_ASSIGN(const std::string text, named(cables, read_file_bytes(cables.words, kCablesMax)));
  HOCKET_TRY_ASSIGN(meeting.cables, LinkAddresses::parse(text, cables.words, meeting.launch.size));
  settings.transport.by_cable = true;
  return {};
}

Result<void> check_transport(const Said& said) {
  if (!said.given()) return {};
  const Result<TransportChoice> found = transport_named(said.words);
  if (found) return {};
  return tl::unexpected(said.because(found.error()));
}

Result<void> read_transport(const CommunicatorOptions& options, const SettingWords& words, Settings& settings) {
  TransportChoice& choice = settings.transport;
  HOCKET_TRY(check_plug_ins(words.said("HOCKET_PLUGIN_PATH")));
  const Said said = words.said("HOCKET_TRANSPORT");
  if (!options.transport.empty()) HOCKET_TRY(check_transport(said));
  if (const std::string name = words_of(options.transport, said); !name.empty()) {
    const bool by_cable = choice.by_cable;
    Result<TransportChoice> found = transport_named(name);
    if (!found && options.transport.empty() && !said.by_flag) found = tl::unexpected(said.because(found.error()));
    HOCKET_TRY_ASSIGN(choice, std::move(found));
    choice.by_cable = by_cable;
  }
  if (choice.by_cable && choice.name != "auto" && choice.name != "tcp")
    return fail(Code::kInvalidArgument, "{} uses no cables, but {} is given",
                options.transport.empty() ? said.text() : "the transport " + choice.name,
                words.said("HOCKET_CABLES").text());
  if (const Said lends = words.said("HOCKET_SHM_LEND"); lends.given()) {
    HOCKET_TRY_ASSIGN(choice.lends, lends.on());
  }
  return {};
}

/// A variable over which a flag wins is checked for itself all the same, as those over which code wins are.
Result<void> check_outdone(const SettingWords& words) {
  if (const Said said = words.outdone({"HOCKET_TIMEOUT"}); said.given()) HOCKET_TRY(said.time_above_0());
  if (const Said said = words.outdone({"HOCKET_SPIN"}); said.given()) HOCKET_TRY(said.time());
  if (const Said said = words.outdone({"HOCKET_PORTS"}); said.given())
    HOCKET_TRY(named(said, parse_port_range(said.words)));
  const Said filter = words.outdone({"HOCKET_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"});
  HOCKET_TRY(named(filter, InterfaceFilter::parse(filter.words)));
  HOCKET_TRY(connections_of(words.outdone({"HOCKET_TCP_CONNECTIONS"})));
  HOCKET_TRY(check_file(words.outdone({"HOCKET_CABLES"})));
  return check_transport(words.outdone({"HOCKET_TRANSPORT"}));
}

}  // namespace

Result<PortRange> ports_of(const SettingWords& words) {
  const Said said = words.said("HOCKET_PORTS");
  if (!said.given()) return PortRange{};
  HOCKET_TRY_ASSIGN(PortRange range, named(said, parse_port_range(said.words)));
  range.name = said.name;
  return range;
}

Result<InterfaceFilter> interfaces_of(const SettingWords& words, int family) {
  const Said said = words.said({"HOCKET_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"});
  HOCKET_TRY_ASSIGN(InterfaceFilter filter, named(said, InterfaceFilter::parse(said.words)));
  if (filter.empty()) return filter;
  HOCKET_TRY_ASSIGN(const std::vector<Interface> all, list_interfaces());
  HOCKET_TRY(named(said, choose_interface(all, {filter, family, false})));
  return filter;
}

Result<Settings> read_settings(const CommunicatorOptions& options, const Variables& variables) {
  HOCKET_TRY_ASSIGN(Launch launch, launch_of(options, variables));
  return read_settings(std::move(launch), options, SettingWords(variables, {}), kTimeout);
}

Result<Settings> read_settings(Launch launch, const CommunicatorOptions& options, const SettingWords& words,
                               nanoseconds timeout) {
  Settings settings;
  RendezvousOptions& meeting = settings.rendezvous;
  settings.driver.timeout = timeout;
  meeting.launch = std::move(launch);
  HOCKET_TRY(check_outdone(words));
  HOCKET_TRY(check_secret(words.said("HOCKET_SECRET")));
  meeting.secret = words_of(options.secret, words.said("HOCKET_SECRET"));
  HOCKET_TRY_ASSIGN(meeting.listener, listener_of(options, words));
  HOCKET_TRY(check_listener(meeting.listener));
  HOCKET_TRY(check_hosts(words.said("HOCKET_HOSTID"), meeting.launch));
  HOCKET_TRY(read_places(words, settings));
  HOCKET_TRY(read_times(options, words, settings));
  settings.topology = words_of(options.topology, words.said("HOCKET_TOPO_FILE"));
  settings.plan_file = words_of(options.plan_file, words.said("HOCKET_PLAN_FILE"));
  HOCKET_TRY(check_file(words.said("HOCKET_PLAN_FILE")));
  HOCKET_TRY(read_transport(options, words, settings));
  HOCKET_TRY(check_progress(options.progress));
  settings.progress = options.progress;
  HOCKET_TRY_ASSIGN(settings.cost, read_cost(options, words));
  HOCKET_TRY_ASSIGN(settings.debug, debug_level(words.said("HOCKET_DEBUG")));
  return settings;
}

void DebugLog::print_line(const std::string& text) const { say("hocket {}: {}\n", who_, text); }

}  // namespace hocket
