#include "net/launch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "net/address.h"

namespace hocket {
namespace {

struct Source {
  std::string_view name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  const char* mark;  // without it the others are a surrounding's, not a launch: ignored; or null
  /// Where rank 0 is, needed unless HOCKET_ROOT says so; or null.
  const char* host;
  const char* port;
};

constexpr std::array kSources{
    Source{"hocket", "HOCKET_RANK", "HOCKET_SIZE", "HOCKET_LOCAL_RANK", "HOCKET_LOCAL_SIZE", nullptr, nullptr, nullptr},
    Source{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", nullptr, "MASTER_ADDR", "MASTER_PORT"},
    Source{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
           "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr, nullptr, nullptr},
    Source{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr, nullptr, nullptr},
    Source{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_STEP_ID", nullptr, nullptr},
};

/// What the variables of one source say.
struct Reading {
  Launch launch;
  bool says_rank = false;
  bool says_size = false;
  std::string lack;  // empty when all is there that a launch needs
};

/// Ports that a root without one gets, by job number.
constexpr std::uint32_t kSlurmPortFirst = 20000;
constexpr std::uint32_t kSlurmPorts = 10000;

/// The words of a variable; null when it is empty, too.
const char* words_or_null(const Variables& variables, const char* name) {
  const char* text = name == nullptr ? nullptr : variables(name);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

std::string words_of(const Variables& variables, const char* name) {
  const char* text = words_or_null(variables, name);
  return text == nullptr ? "" : text;
}

Result<std::uint32_t> number_of(const Variables& variables, const char* name) {
  std::uint32_t value = 0;
  const std::string text = words_of(variables, name);
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return fail(Code::kInvalidArgument, "{}='{}' is not a number of ranks", name, text);
  return value;
}

/// What the launcher says beyond the numbers: where rank 0 is, and a name of the job.
void find_root(Launch& launch, const Source& source, const Variables& variables) {
  if (source.name == "torchrun") {
    const std::string port = words_of(variables, "MASTER_PORT");
    launch.job = fmt::format("torchrun-{}-{}", words_of(variables, "TORCHELASTIC_RUN_ID"), port);
    const std::string host = words_of(variables, "MASTER_ADDR");
    const bool v6 = host.find(':') != std::string::npos && host.front() != '[';
    launch.root_name = "MASTER_ADDR, MASTER_PORT";
    if (!launch.one_host() && !port.empty())
      launch.root = fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
  } else if (source.name == "Open MPI") {
    launch.job = "pmix-" + words_of(variables, "PMIX_NAMESPACE");
  } else if (source.name == "PMI") {
    launch.job = fmt::format("pmi-{}", getppid());  // Hydra's proxy, one per host
    launch.job_note = " (named after the parent process: ranks behind a wrapper need the same HOCKET_JOB)";
  } else if (source.name == "Slurm") {
    const std::string number = words_of(variables, "SLURM_JOB_ID");
    launch.job = fmt::format("slurm-{}-{}", number, words_of(variables, "SLURM_STEP_ID"));
    std::uint32_t id = 0;
    std::from_chars(number.data(), number.data() + number.size(), id);
    std::string nodes = words_of(variables, "SLURM_STEP_NODELIST");
    launch.root_name = nodes.empty() ? "SLURM_JOB_NODELIST" : "SLURM_STEP_NODELIST";
    if (nodes.empty()) nodes = words_of(variables, "SLURM_JOB_NODELIST");
    const std::string count = words_of(variables, "SLURM_STEP_NUM_NODES");
    if (count == "1") launch.local_size = launch.size;
    if (!launch.one_host() && !nodes.empty())
      launch.root = fmt::format("{}:{}", first_host(nodes), kSlurmPortFirst + id % kSlurmPorts);
  }
}

/// "A, B are set but C is not: ..."; empty when nothing is missing.
std::string lack_of(const Source& source, const Variables& variables) {
  std::vector<const char*> wanted{source.rank, source.size};
  if (source.host != nullptr && words_or_null(variables, "HOCKET_ROOT") == nullptr)
    wanted.insert(wanted.end(), {source.host, source.port});
  std::string there;
  std::string missing;
  std::size_t set = 0;
  for (const char* name : wanted) {
    const bool is_set = words_or_null(variables, name) != nullptr;
    std::string& list = is_set ? there : missing;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    set += is_set ? 1 : 0;
  }
  if (missing.empty()) return {};
  if (set == 0) there = words_or_null(variables, source.local_rank) != nullptr ? source.local_rank : source.local_size;
  const bool several = wanted.size() - set > 1;
  const bool where = missing.find(source.rank) == std::string::npos && missing.find(source.size) == std::string::npos;
  return fmt::format("{} {} set but {} {} not{}", there, set > 1 ? "are" : "is", missing, several ? "are" : "is",
                     where ? " (nor HOCKET_ROOT)" : "");
}

/// Whether anything of it is set that no surrounding sets by itself. Addresses alone are none: scripts give them to
/// all.
bool speaks(const Source& source, const Variables& variables) {
  if (source.mark != nullptr && words_or_null(variables, source.mark) == nullptr) return false;
  const auto set = [&](const char* name) { return words_or_null(variables, name) != nullptr; };
  const bool ours = source.name == "hocket";
  return set(source.rank) || set(source.size) || (ours && (set(source.local_rank) || set(source.local_size)));
}

Result<void> check_ranks(const Launch& launch, const Source& source) {
  if (launch.rank >= launch.size)
    return fail(Code::kInvalidArgument, "{}={} is not below {}={}", source.rank, launch.rank, source.size, launch.size);
  if (launch.local_size == 0) return {};
  if (launch.local_rank >= launch.local_size)
    return fail(Code::kInvalidArgument, "{}={} is not below {}={}", source.local_rank, launch.local_rank,
                source.local_size, launch.local_size);
  if (launch.local_size > launch.size)
    return fail(Code::kInvalidArgument, "{}={} is above {}={}", source.local_size, launch.local_size, source.size,
                launch.size);
  return {};
}

Result<std::optional<Reading>> read_source(const Source& source, const Variables& variables) {
  if (!speaks(source, variables)) return std::optional<Reading>();
  Reading reading;
  reading.says_rank = words_or_null(variables, source.rank) != nullptr;
  reading.says_size = words_or_null(variables, source.size) != nullptr;
  Launch& launch = reading.launch;
  HOCKET_TRY_ASSIGN(launch.rank, number_of(variables, source.rank));
  HOCKET_TRY_ASSIGN(launch.size, number_of(variables, source.size));
  reading.lack = lack_of(source, variables);
  if (!reading.lack.empty()) return std::optional(std::move(reading));
  HOCKET_TRY_ASSIGN(launch.local_rank, number_of(variables, source.local_rank));
  HOCKET_TRY_ASSIGN(launch.local_size, number_of(variables, source.local_size));
  HOCKET_TRY(check_ranks(launch, source));
  if (const std::string port = words_of(variables, source.port); !port.empty() && !parse_port(port))
    return fail(Code::kInvalidArgument, "{}='{}' is not a port: 1 to 65535", source.port, port);
  launch.source = fmt::format("{} ({}, {})", source.name, source.rank, source.size);
  find_root(launch, source, variables);
  return std::optional(std::move(reading));
}

std::string stated(const Launch& launch) {
  return fmt::format("{} says rank {} of {}", launch.source, launch.rank, launch.size);
}

/// A source below the one that counts agrees, or is an outer launcher of fewer processes, of which one started ours.
Result<void> compare(Launch& chosen, const Launch& below) {
  if (below.size == chosen.size && below.rank == chosen.rank) return {};
  if (below.size >= chosen.size) return fail(Code::kMismatch, "{}, but {}", stated(chosen), stated(below));
  if (chosen.outer.empty()) chosen.outer = fmt::format("{}, rank {} of {}", below.source, below.rank, below.size);
  return {};
}

/// Half of a source is passed over where a whole one below says the same.
Result<void> check_half(const Reading& half, const std::optional<Launch>& chosen) {
  const std::string also = chosen ? ", and " + stated(*chosen) : "";
  const bool same = chosen && (!half.says_rank || half.launch.rank == chosen->rank) &&
                    (!half.says_size || half.launch.size == chosen->size);
  if (same) return {};
  return fail(Code::kInvalidArgument, "{}{}", half.lack, also);
}

Result<void> check_root(const std::string& root) {
  if (root.starts_with(kRootFile)) {
    HOCKET_TRY(path_of_root(root));
  } else {
    HOCKET_TRY(parse_endpoint(root));
  }
  return {};
}

}  // namespace

Result<void> read_root(Launch& launch, const Variables& variables) {
  const std::string root = words_of(variables, "HOCKET_ROOT");
  if (root.empty()) return {};
  if (const Result<void> good = check_root(root); !good)
    return fail(good.error().code, "HOCKET_ROOT: {}", good.error().text);
  launch.root = root;
  launch.root_name = "HOCKET_ROOT";
  return {};
}

Result<std::string> read_job(const Variables& variables) {
  constexpr std::size_t kLongest = 200;
  std::string job = words_of(variables, "HOCKET_JOB");
  const bool fits = std::all_of(job.begin(), job.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("-_.:").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (fits && job.size() <= kLongest) return job;
  return fail(Code::kInvalidArgument, "HOCKET_JOB='{}': up to {} letters, digits and any of -_.:", job.substr(0, 80),
              kLongest);
}

Result<std::string> path_of_root(const std::string& root) {
  const std::string path = root.substr(kRootFile.size());
  if (!path.empty() && path.back() != '/') return path;
  return fail(Code::kInvalidArgument, "'{}' names no file", root);
}

std::string first_host(std::string_view node_list) {
  const std::size_t open = node_list.find('[');
  const std::size_t comma = node_list.find(',');
  if (open == std::string_view::npos || comma < open) return std::string(node_list.substr(0, comma));
  std::string host(node_list.substr(0, open));
  const std::string_view rest = node_list.substr(open + 1);
  const std::size_t close = rest.find(']');
  host += rest.substr(0, std::min(rest.find_first_of(",-"), close));
  if (close != std::string_view::npos) {
    const std::string_view tail = rest.substr(close + 1);
    host += tail.substr(0, tail.find(','));
  }
  return host;
}

const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
}

Result<std::optional<Launch>> read_launch(const Variables& variables, Halves halves) {
  std::optional<Launch> chosen;
  std::vector<Reading> cut;
  for (const Source& source : kSources) {
    HOCKET_TRY_ASSIGN(std::optional<Reading> found, read_source(source, variables));
    if (!found) continue;
    const bool whole = found->lack.empty();
    if (whole && chosen) HOCKET_TRY(compare(*chosen, found->launch));
    if (whole && !chosen) chosen = std::move(found->launch);
    if (whole || chosen) continue;
    if (source.name == "hocket") return fail(Code::kInvalidArgument, "{}", found->lack);
    if (halves == Halves::kRefuse) cut.push_back(std::move(*found));
  }
  for (const Reading& half : cut) HOCKET_TRY(check_half(half, chosen));
  HOCKET_TRY_ASSIGN(const std::string job, read_job(variables));
  if (chosen && !job.empty()) {
    chosen->job = job;
    chosen->job_note.clear();
  }
  Launch nobody;
  HOCKET_TRY(read_root(chosen ? *chosen : nobody, variables));
  return chosen;
}

}  // namespace hocket
