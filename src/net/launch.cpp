#include "net/launch.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <vector>

namespace hocket {
namespace {

struct Source {
  std::string_view name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  const char* must;  // set by this launcher and nobody else, or null
};

constexpr std::array kSources{
    Source{"hocket", "HOCKET_RANK", "HOCKET_SIZE", "HOCKET_LOCAL_RANK", "HOCKET_LOCAL_SIZE", nullptr},
    Source{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR"},
    Source{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
           "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr},
    Source{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr},
    Source{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_STEP_ID"},
};

/// Ports that a root without one gets, by job number.
constexpr std::uint32_t kSlurmPortFirst = 20000;
constexpr std::uint32_t kSlurmPorts = 10000;

Result<std::uint32_t> number_of(const char* name, const char* text) {
  std::uint32_t value = 0;
  const std::string_view view(text);
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size())
    return fail(Code::kInvalidArgument, "{}='{}' is not a number of ranks", name, text);
  return value;
}

Result<std::uint32_t> optional_number(const Variables& variables, const char* name) {
  const char* text = name == nullptr ? nullptr : variables(name);
  if (text == nullptr) return 0;
  return number_of(name, text);
}

std::string words_of(const Variables& variables, const char* name) {
  const char* text = variables(name);
  return text == nullptr ? "" : text;
}

/// What the launcher says beyond the numbers: where rank 0 is, and a name of the job.
void find_root(Launch& launch, const Source& source, const Variables& variables) {
  if (source.name == "torchrun") {
    const std::string port = words_of(variables, "MASTER_PORT");
    launch.job = fmt::format("torchrun-{}-{}", words_of(variables, "TORCHELASTIC_RUN_ID"), port);
    const std::string host = words_of(variables, "MASTER_ADDR");
    const bool v6 = host.find(':') != std::string::npos && host.front() != '[';
    if (!launch.one_host() && !port.empty())
      launch.root = fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
  } else if (source.name == "Open MPI") {
    launch.job = "pmix-" + words_of(variables, "PMIX_NAMESPACE");
  } else if (source.name == "PMI") {
    launch.job = fmt::format("pmi-{}", getppid());  // Hydra's proxy, one per host
  } else if (source.name == "Slurm") {
    const std::string number = words_of(variables, "SLURM_JOB_ID");
    launch.job = fmt::format("slurm-{}-{}", number, words_of(variables, "SLURM_STEP_ID"));
    std::uint32_t id = 0;
    std::from_chars(number.data(), number.data() + number.size(), id);
    std::string nodes = words_of(variables, "SLURM_STEP_NODELIST");
    if (nodes.empty()) nodes = words_of(variables, "SLURM_JOB_NODELIST");
    const std::string count = words_of(variables, "SLURM_STEP_NUM_NODES");
    if (count == "1") launch.local_size = launch.size;
    if (!launch.one_host() && !nodes.empty())
      launch.root = fmt::format("{}:{}", first_host(nodes), kSlurmPortFirst + id % kSlurmPorts);
  }
}

Result<std::optional<Launch>> read_source(const Source& source, const Variables& variables) {
  const char* rank = variables(source.rank);
  const char* size = variables(source.size);
  const bool ours = source.name == "hocket";
  if (ours && (rank == nullptr) != (size == nullptr))
    return fail(Code::kInvalidArgument, "{} is set but {} is not", rank == nullptr ? source.size : source.rank,
                rank == nullptr ? source.rank : source.size);
  if (rank == nullptr || size == nullptr) return std::optional<Launch>();
  if (source.must != nullptr && variables(source.must) == nullptr) return std::optional<Launch>();
  Launch launch;
  HOCKET_TRY_ASSIGN(launch.rank, number_of(source.rank, rank));
  HOCKET_TRY_ASSIGN(launch.size, number_of(source.size, size));
  HOCKET_TRY_ASSIGN(launch.local_rank, optional_number(variables, source.local_rank));
  HOCKET_TRY_ASSIGN(launch.local_size, optional_number(variables, source.local_size));
  if (launch.rank >= launch.size)
    return fail(Code::kInvalidArgument, "{}={} is not below {}={}", source.rank, launch.rank, source.size, launch.size);
  launch.source = fmt::format("{} ({}, {})", source.name, source.rank, source.size);
  find_root(launch, source, variables);
  if (variables("HOCKET_JOB") != nullptr) launch.job = words_of(variables, "HOCKET_JOB");
  return std::optional(std::move(launch));
}

}  // namespace

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

Result<std::optional<Launch>> read_launch(const Variables& variables) {
  std::optional<Launch> chosen;
  for (const Source& source : kSources) {
    HOCKET_TRY_ASSIGN(const std::optional<Launch> found, read_source(source, variables));
    if (!found) continue;
    if (!chosen) {
      chosen = found;
      continue;
    }
    const bool same_size = found->size == chosen->size;
    if ((same_size && found->rank != chosen->rank) || found->size > chosen->size)
      return fail(Code::kMismatch, "{} says rank {} of {}, but {} says rank {} of {}", chosen->source, chosen->rank,
                  chosen->size, found->source, found->rank, found->size);
  }
  return chosen;
}

}  // namespace hocket
