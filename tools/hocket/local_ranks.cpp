#include "local_ranks.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/listing.h"
#include "base/say.h"
#include "base/units.h"
#include "lost_rank.h"
#include "net/secret.h"
#include "net/socket.h"
#include "rank_lines.h"
#include "signals.h"

namespace hocket {
namespace {

using std::chrono::steady_clock;

/// After a rank has ended badly the others find out by themselves; this is for those that do not, as they cannot where
/// they had not met yet. Counted anew whenever one ends, up to the second.
constexpr std::chrono::seconds kGrace{2};
constexpr std::chrono::seconds kGraceMax{6};
/// The first where a rank has refused its input: they do so too, or look in vain for the one that has.
constexpr std::chrono::seconds kGraceAfterRefusal{1};
constexpr int kRefused = 2;
constexpr std::chrono::milliseconds kSlice{200};  // of waiting for signals and for what ranks say
/// The first descriptor that nobody uses for something else.
constexpr int kListenerDescriptor = 3;
/// Variables of launchers, ours among them: a child has one launcher only.
constexpr std::array<std::string_view, 19> kLaunchers{
    "HOCKET_RANK=",     "HOCKET_SIZE=",      "HOCKET_LOCAL_",    "HOCKET_ROOT=",  "HOCKET_SECRET=",
    "HOCKET_LISTENER=", "HOCKET_LOST=",      "HOCKET_JOB=",      "RANK=",         "WORLD_SIZE=",
    "LOCAL_RANK=",      "LOCAL_WORLD_SIZE=", "OMPI_COMM_WORLD_", "PMI_",          "MPI_LOCAL",
    "SLURM_PROCID=",    "SLURM_NTASKS",      "SLURM_STEP_ID=",   "SLURM_LOCALID="};
/// What ranks in namespaces of their own are told anew: where they talk, and that each is on a host of its own.
constexpr std::array<std::string_view, 4> kPlaces{
    "HOCKET_SOCKET_IFNAME=", "HOCKET_PORTS=", "HOCKET_CABLES=", "HOCKET_HOSTID="};

struct Child {
  pid_t process = 0;
  std::optional<int> status;  // of the tools: 0..4
};

/// Everything execve() needs, made before fork(): a child of fork must not allocate.
class ChildImage {
 public:
  ChildImage(std::vector<std::string> arguments, std::vector<std::string> variables)
      : arguments_(std::move(arguments)), variables_(std::move(variables)) {}

  /// Keeps the child on one core.
  void pin_to(const cpu_set_t& core) { core_ = core; }
  /// Moves it to another network namespace.
  void move_to(int network) { network_ = network; }
  void write_to(int output, int errors) {
    output_ = output;
    errors_ = errors;
  }

  [[noreturn]] void execute(int listener, pid_t parent, pid_t group, const sigset_t& mask) {
    ::setpgid(0, group);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(3);
    if (network_ >= 0 && ::setns(network_, CLONE_NEWNET) != 0) ::_exit(4);
    const int null = ::open("/dev/null", O_RDONLY);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
    if (null > STDIN_FILENO) ::close(null);
    if (output_ >= 0) ::dup2(output_, STDOUT_FILENO);
    ::dup2(errors_, STDERR_FILENO);
    if (listener >= 0 && listener != kListenerDescriptor) ::dup2(listener, kListenerDescriptor);
    if (listener == kListenerDescriptor) ::fcntl(listener, F_SETFD, 0);
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    if (core_) ::sched_setaffinity(0, sizeof(cpu_set_t), &*core_);
    const std::vector<char*>& argv = arguments_pointers_;
    ::execve("/proc/self/exe", argv.data(), variables_pointers_.data());
    ::_exit(4);
  }

  void prepare() {
    arguments_pointers_ = pointers_to(arguments_);
    variables_pointers_ = pointers_to(variables_);
  }

 private:
  static std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  std::vector<std::string> arguments_;
  std::vector<std::string> variables_;
  std::vector<char*> arguments_pointers_;
  std::vector<char*> variables_pointers_;
  std::optional<cpu_set_t> core_;
  int network_ = -1;
  int output_ = -1;
  int errors_ = -1;
};

/// The core of a local rank when there is one for each: left to itself the system brings two ranks that wake each other
/// together on one core, where neither can spin for the other. Nothing when there are too few: then it balances better.
std::optional<cpu_set_t> core_for(std::uint32_t rank, std::size_t ranks) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::nullopt;
  if (static_cast<std::size_t>(CPU_COUNT(&allowed)) < ranks) return std::nullopt;
  std::uint32_t left = rank;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return one;
  }
  return std::nullopt;
}

/// Whoever read what this process prints has left, as `head` does: there is nobody to tell anything.
bool reader_left() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

/// How bad a status is. A rank that refuses its input (2) is the cause of what the others then see (3).
int gravity(int status) {
  switch (status) {
    case 4:
      return 4;
    case kRefused:
      return 3;
    case 3:
      return 2;
    default:
      return status == 0 ? 0 : 1;
  }
}

bool begins_with_one_of(std::string_view word, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [word](std::string_view prefix) { return word.starts_with(prefix); });
}

std::vector<std::string> inherited_variables(bool placed) {
  std::vector<std::string> kept;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view word(*each);
    if (begins_with_one_of(word, kLaunchers) || (placed && begins_with_one_of(word, kPlaces))) continue;
    kept.emplace_back(word);
  }
  return kept;
}

class LocalRanks {
 public:
  LocalRanks(std::uint32_t ranks, PlacedRanks placed) : placed_(std::move(placed)), children_(ranks) {}

  Result<int> run() {
    sigset_t watched = ending_signals();
    sigaddset(&watched, SIGCHLD);
    HOCKET_TRY_ASSIGN(lines_, RankLines::make());
    HOCKET_TRY_ASSIGN(lost_, LostRank::make());
    sigset_t before;
    ::pthread_sigmask(SIG_BLOCK, &watched, &before);
    signals_.reset(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    const Result<void> started = start(before);
    if (!started) end_all();
    while (left() > 0) {
      if (!step() || !can_reach()) end_all();
      reap();
    }
    lines_.pass_on(true);
    say_who_was_left();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    HOCKET_TRY(started);
    if (interrupted_ != 0) return kSignalled + interrupted_;
    HOCKET_TRY(reach_);
    int worst = 0;
    for (const Child& child : children_) {
      if (gravity(child.status.value_or(4)) > gravity(worst)) worst = child.status.value_or(4);
    }
    return worst;
  }

 private:
  Result<void> start(const sigset_t& mask) {
    HOCKET_TRY_ASSIGN(const Address root, local_address(placed_.listener));
    HOCKET_TRY_ASSIGN(const Secret secret, Secret::random());
    if (!signals_.open()) return fail(Code::kResourceExhausted, "no descriptor for signals: {}", system_words(errno));
    for (std::uint32_t rank = 0; rank < children_.size(); ++rank) {
      ChildImage image(placed_.arguments, variables_of(rank, root, secret));
      image.prepare();
      if (const auto core = core_for(rank, children_.size())) image.pin_to(*core);
      if (!placed_.namespaces.empty()) image.move_to(placed_.namespaces[rank]);
      image.write_to(placed_.output, lines_.writer());
      HOCKET_TRY(spawn(rank, image, rank == 0 ? placed_.listener.get() : -1, mask));
      placed_.listener.reset();
    }
    return {};
  }

  /// Ranks in namespaces of their own are each on a host of its own, as far as they can tell.
  [[nodiscard]] std::vector<std::string> variables_of(std::uint32_t rank, const Address& root,
                                                      const Secret& secret) const {
    std::vector<std::string> variables = inherited_variables(!placed_.namespaces.empty());
    variables.insert(variables.end(), placed_.variables.begin(), placed_.variables.end());
    variables.push_back(fmt::format("HOCKET_RANK={}", rank));
    variables.push_back(fmt::format("HOCKET_SIZE={}", children_.size()));
    if (placed_.namespaces.empty()) {
      variables.push_back(fmt::format("HOCKET_LOCAL_RANK={}", rank));
      variables.push_back(fmt::format("HOCKET_LOCAL_SIZE={}", children_.size()));
    }
    variables.push_back("HOCKET_ROOT=" + root.text());
    variables.push_back("HOCKET_SECRET=" + secret.text());
    variables.push_back(lost_.variable());
    if (rank == 0) variables.push_back(fmt::format("HOCKET_LISTENER={}", kListenerDescriptor));
    return variables;
  }

  Result<void> spawn(std::uint32_t rank, ChildImage& image, int listener, const sigset_t& mask) {
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) return fail(Code::kResourceExhausted, "cannot start rank {}: {}", rank, system_words(errno));
    if (process == 0) image.execute(listener, parent, group_, mask);
    if (group_ == 0) group_ = process;
    ::setpgid(process, group_);
    children_[rank].process = process;
    return {};
  }

  [[nodiscard]] std::size_t left() const {
    return static_cast<std::size_t>(std::count_if(
        children_.begin(), children_.end(), [](const Child& child) { return child.process != 0 && !child.status; }));
  }

  /// False when it is time to end whoever is left.
  bool step() {
    std::array<pollfd, 2> waits{pollfd{signals_.get(), POLLIN, 0}, pollfd{lines_.reader(), POLLIN, 0}};
    wait_for(waits, steady_clock::now() + kSlice);
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof(signal)) == sizeof(signal)) {
      if (signal.ssi_signo != SIGCHLD) interrupted_ = static_cast<int>(signal.ssi_signo);
    }
    if ((waits[1].revents & POLLIN) != 0 && reader_left()) interrupted_ = SIGPIPE;
    if (interrupted_ != 0) lines_.silence();
    lines_.pass_on();
    return interrupted_ == 0 && (!give_up_ || steady_clock::now() < *give_up_);
  }

  /// What ranks say that cannot reach each other any more says nothing.
  bool can_reach() {
    if (reach_ && placed_.check) reach_ = placed_.check();
    if (!reach_) lines_.silence();
    return reach_.has_value();
  }

  void end_all() {
    ending_ = true;
    if (group_ > 0) ::kill(-group_, SIGKILL);
  }

  /// One that this process has ended tells nothing about how it went: the one that ended badly before does.
  [[nodiscard]] int status_of(std::uint32_t rank, pid_t process, int status) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGPIPE && interrupted_ == 0) interrupted_ = SIGPIPE;
    if (interrupted_ != 0) return 3;
    if (ending_ && WTERMSIG(status) == SIGKILL) {
      left_over_.push_back(rank);
      return 0;
    }
    lost_.note(rank, process, WTERMSIG(status));
    say("hocket: rank {} (pid {}) was ended by signal {} ({})\n", rank, process, WTERMSIG(status),
        ::sigdescr_np(WTERMSIG(status)));
    return 3;
  }

  /// One line for all; none where not all could be started, which is said instead.
  void say_who_was_left() const {
    if (left_over_.empty() || !give_up_ || !reach_) return;
    const std::span<const std::uint32_t> listed(left_over_.data(), listed_of(left_over_.size()));
    const bool one = left_over_.size() == 1;
    say("hocket: rank{} {}{} {} still there {} after another had ended badly, and {} ended\n", one ? "" : "s",
        fmt::join(listed, ", "), and_more(left_over_.size()), one ? "was" : "were",
        format_seconds({std::chrono::duration<double>(*give_up_ - first_bad_).count()}), one ? "was" : "were");
  }

  /// When whoever is left will be ended, now that one has ended: not before one has ended badly.
  void set_limit(int status) {
    const SteadyTime now = steady_clock::now();
    if (status != 0 && !give_up_) {
      first_bad_ = now;
      grace_ = status == kRefused ? kGraceAfterRefusal : kGrace;
      give_up_ = now;
    }
    if (give_up_) give_up_ = std::min(now + grace_, first_bad_ + kGraceMax);
  }

  void reap() {
    int status = 0;
    pid_t process = 0;
    while ((process = ::waitpid(-1, &status, WNOHANG)) > 0) {
      const auto found = std::find_if(children_.begin(), children_.end(),
                                      [process](const Child& child) { return child.process == process; });
      if (found == children_.end()) continue;
      found->status = status_of(static_cast<std::uint32_t>(found - children_.begin()), process, status);
      if (!ending_) set_limit(*found->status);
    }
    if (process == 0 || errno != ECHILD) return;
    for (Child& child : children_) {  // that nobody can be asked for any more
      if (child.process != 0 && !child.status) child.status = 4;
    }
  }

  PlacedRanks placed_;
  std::vector<Child> children_;
  RankLines lines_;
  LostRank lost_;
  Descriptor signals_;
  pid_t group_ = 0;
  int interrupted_ = 0;
  std::chrono::seconds grace_{};
  SteadyTime first_bad_;
  std::optional<SteadyTime> give_up_;
  std::vector<std::uint32_t> left_over_;  // ranks that this process has ended
  bool ending_ = false;
  Result<void> reach_;
};

}  // namespace

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

Result<void> check_read_again(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code error;  // words that are no file are no pipe
    if (std::filesystem::is_fifo(file, error))
      return fail(Code::kInvalidArgument, "{}: a pipe can be read once, but every rank reads it: it takes a file",
                  file);
  }
  return {};
}

Result<int> run_local_ranks(std::uint32_t ranks, const PortRange& ports) {
  PlacedRanks here;
  here.arguments = own_arguments();
  if (here.arguments.empty()) return fail(Code::kIo, "cannot read our own arguments");
  HOCKET_TRY_ASSIGN(here.listener, listen_in(ports, Address::loopback(), ranks + 1));
  return LocalRanks(ranks, std::move(here)).run();
}

Result<int> run_placed_ranks(PlacedRanks placed) {
  const auto ranks = static_cast<std::uint32_t>(placed.namespaces.size());
  return LocalRanks(ranks, std::move(placed)).run();
}

}  // namespace hocket
