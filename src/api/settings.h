// Settings: what a communicator needs to begin, from its options and, where those are silent, from the environment.
//   HOCKET_TOPO_FILE HOCKET_PLAN_FILE HOCKET_TRANSPORT HOCKET_PLUGIN_PATH HOCKET_SHM_LEND HOCKET_HOSTID
//   HOCKET_TIMEOUT HOCKET_SPIN HOCKET_PORTS HOCKET_SOCKET_IFNAME HOCKET_SECRET HOCKET_CABLES HOCKET_TCP_CONNECTIONS
//   HOCKET_LISTENER HOCKET_DEBUG HOCKET_PROGRESS_CORE HOCKET_COUNT_TIME,
//   and the launcher's variables with HOCKET_ROOT (net/launch.h)
// The library and the tools read them here; a tool's flags win over variables.
// Ownership: plain values. Threading: pure functions over the environment.
// Refuses: words that do not parse (the Error names the variable or flag), also of settings that this job does not use
// and of variables over which a flag wins; a rank without a size; ranges of ports and lists of hosts too short for the
// ranks.
#pragma once

#include "api/obituary.h"
#include "api/setting_words.h"
#include "engine/rank_driver.h"
#include "hocket/communicator.h"
#include "net/rendezvous.h"
#include "transport/choice.h"

namespace hocket {

/// HOCKET_DEBUG: nothing, how ranks met, every plan, every call.
enum class DebugLevel : std::uint8_t { kSilent, kMeeting, kPlans, kCalls };

/// Where a communicator's own threads run, and whether their time is counted.
struct ProgressCost {
  std::optional<std::uint32_t> core;
  bool counted = false;
};

struct Settings {
  RendezvousOptions rendezvous;
  DriverOptions driver;
  std::string topology;
  std::vector<std::uint32_t> topology_ranks;  // which of its ranks these are; empty: all
  std::string plan_file;
  TransportChoice transport;
  ProgressMode progress = ProgressMode::kShared;
  ProgressCost cost;
  DebugLevel debug = DebugLevel::kSilent;
  std::shared_ptr<Obituary::Family> family{};  // of communicators made out of one another; null: the first
};

[[nodiscard]] Result<Settings> read_settings(const CommunicatorOptions& options, const Variables& variables);
/// The same for a tool, which has found its launch. `timeout`: when neither options, flags nor variables say one.
[[nodiscard]] Result<Settings> read_settings(Launch launch, const CommunicatorOptions& options,
                                             const SettingWords& words, std::chrono::nanoseconds timeout);

/// Where this process may listen.
[[nodiscard]] Result<PortRange> ports_of(const SettingWords& words);
/// That leaves an interface of this host with an address of that family.
[[nodiscard]] Result<InterfaceFilter> interfaces_of(const SettingWords& words, int family = AF_UNSPEC);

/// Lines of HOCKET_DEBUG on standard error: "hocket rank 2 (host a, pid 17): ...".
class DebugLog {
 public:
  DebugLog() = default;
  DebugLog(DebugLevel level, std::string who) : level_(level), who_(std::move(who)) {}
  [[nodiscard]] bool shows(DebugLevel level) const { return level <= level_; }
  template <class... Args>
  void print(DebugLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (shows(level)) print_line(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void print_line(const std::string& text) const;
  DebugLevel level_ = DebugLevel::kSilent;
  std::string who_;
};

}  // namespace hocket
