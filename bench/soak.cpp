// Soak: many small and some large collectives and messages on local ranks, through Communicators that are made anew
// again and again. Every rank prints its resident memory, descriptors and threads after the first communicator, along
// the way and at the end. Exit status 1: wrong data, an error, more than 1 MiB of growth, or other descriptors.
//   bench_soak --calls 1000000 --communicators 101 --ranks 2 --transport shm
#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/say.h"
#include "hocket/communicator.h"

namespace hocket {
namespace {

struct Options {
  std::uint64_t calls = 1'000'000;
  std::uint32_t communicators = 101;
  std::uint32_t ranks = 2;
  std::uint64_t large_every = 2000;
  std::string transport = "auto";
};

constexpr std::int64_t kLarge = 1 << 18;   // elements of f32: 1 MiB
constexpr std::int64_t kGrowthMax = 1024;  // KiB
constexpr std::array<std::int64_t, 8> kSmall{0, 1, 2, 7, 16, 33, 100, 257};

// Mostly all-reduces; the other operations come now and then, messages more rarely, as each takes a thread's turn.
constexpr std::array kOperations{Operation::kAllReduce,     Operation::kAllReduce, Operation::kAllReduce,
                                 Operation::kReduceScatter, Operation::kAllGather, Operation::kBroadcast,
                                 Operation::kReduce,        Operation::kAllToAll,  Operation::kBarrier};

struct Footprint {
  std::int64_t resident = 0;  // KiB
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
};

Footprint footprint() {
  ::malloc_trim(0);
  Footprint now;
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word == "VmRSS:") file >> now.resident;
    if (word == "Threads:") file >> now.threads;
  }
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++now.descriptors;
  --now.descriptors;  // the folder's own
  return now;
}

/// One rank: the same calls on all, each a function of its number.
class Soak {
 public:
  Soak(const Options& options, std::uint32_t rank)
      : options_(options),
        rank_(rank),
        input_(static_cast<std::size_t>(kLarge) * options.ranks, static_cast<float>(rank + 1)),
        output_(input_.size()) {}

  Result<void> run() {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint32_t i = 0; i < options_.communicators; ++i) {
      HOCKET_TRY(with_one(options_.calls * (i + 1) / options_.communicators));
      const std::uint32_t tenth = std::max(1U, options_.communicators / 10);
      if (i == 0) at_begin_ = footprint();
      if (i + 1 == tenth) settled_ = footprint();
      if (i == 0 || i + 1 == options_.communicators || i % tenth == 0) print(i + 1);
    }
    last_ = footprint();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fmt::print(
        "rank {}: {} calls, {} large among them, {} communicators, {:.0f} s: resident {:+} KiB since the first, {:+} "
        "KiB since a tenth of them, descriptors {:+}\n",
        rank_, done_, large_, options_.communicators, took.count(), last_.resident - at_begin_.resident,
        last_.resident - settled_.resident, last_.descriptors - at_begin_.descriptors);
    return {};
  }

  [[nodiscard]] bool constant() const {
    return last_.resident - settled_.resident <= kGrowthMax && last_.descriptors == at_begin_.descriptors &&
           last_.threads == at_begin_.threads;
  }

 private:
  Result<void> with_one(std::uint64_t until) {
    CommunicatorOptions options;
    options.transport = options_.transport;
    options.timeout = std::chrono::seconds(60);
    Result<Communicator> comm = Communicator::create(options);
    if (!comm) return tl::unexpected<Error>(comm.error());
    if (done_ == 0) HOCKET_TRY(warm_up(*comm));
    for (; done_ < until; ++done_) HOCKET_TRY(call(*comm));
    return {};
  }

  /// Every operation in every size, so that what is compared has all memory that is needed once.
  Result<void> warm_up(Communicator& comm) {
    for (const std::int64_t count : {kSmall[1], kSmall[7], kLarge}) {
      for (const Operation operation : kOperations) HOCKET_TRY(check(comm, operation, count));
      HOCKET_TRY(check(comm, Operation::kGather, count));
      HOCKET_TRY(check(comm, Operation::kScatter, count));
      HOCKET_TRY(exchange(comm, count));
    }
    return {};
  }

  Result<void> call(Communicator& comm) {
    const bool large = done_ % options_.large_every == options_.large_every - 1;
    large_ += large ? 1 : 0;
    const std::int64_t count = large ? kLarge : kSmall[done_ / 11 % kSmall.size()];
    if (done_ % 64 == 1) return exchange(comm, count);
    Operation operation = kOperations[done_ % kOperations.size()];
    if (done_ % 50 == 0) operation = done_ % 100 == 0 ? Operation::kGather : Operation::kScatter;
    return check(comm, operation, count);
  }

  Result<void> check(Communicator& comm, Operation operation, std::int64_t count) {
    output_[0] = -1;
    HOCKET_TRY(comm.run({.operation = operation, .input = input_.data(), .output = output_.data(), .count = count}));
    if (count == 0 || operation == Operation::kBarrier || output_[0] == expected(operation)) return {};
    return fail(Code::kInternal, "rank {}: call {}: {} instead of {}", rank_, done_, output_[0], expected(operation));
  }

  /// What the first element must be.
  [[nodiscard]] float expected(Operation operation) const {
    const auto n = static_cast<float>(options_.ranks);
    const bool sums = operation == Operation::kAllReduce || operation == Operation::kReduceScatter;
    if (sums || (operation == Operation::kReduce && rank_ == 0)) return n * (n + 1) / 2;
    const bool nothing = rank_ != 0 && (operation == Operation::kReduce || operation == Operation::kGather);
    return nothing ? -1 : 1;  // else from rank 0
  }

  /// A ring of messages.
  Result<void> exchange(Communicator& comm, std::int64_t count) {
    const std::uint32_t n = options_.ranks;
    if (n == 1) return {};
    const std::array calls{
        Call{.operation = Operation::kSend, .input = input_.data(), .count = count, .root = (rank_ + 1) % n},
        Call{.operation = Operation::kReceive, .output = output_.data(), .count = count, .root = (rank_ + n - 1) % n}};
    HOCKET_TRY(comm.run_group(calls));
    const auto want = static_cast<float>((rank_ + n - 1) % n + 1);
    if (count == 0 || output_[0] == want) return {};
    return fail(Code::kInternal, "rank {}: message {}: {} instead of {}", rank_, done_, output_[0], want);
  }

  void print(std::uint32_t communicators) const {
    const Footprint now = footprint();
    fmt::print("rank {}: after {} communicators, {} calls: resident {} KiB, {} descriptors, {} threads\n", rank_,
               communicators, done_, now.resident, now.descriptors, now.threads);
    std::fflush(stdout);
  }

  const Options& options_;
  std::uint32_t rank_;
  std::vector<float> input_;
  std::vector<float> output_;
  std::uint64_t done_ = 0;
  std::uint64_t large_ = 0;
  Footprint at_begin_;
  Footprint settled_;
  Footprint last_;
};

int be_rank(const Options& options, std::uint32_t rank, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto set = [](const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): a fresh child has one thread
  };
  set("HOCKET_RANK", std::to_string(rank));
  set("HOCKET_LOCAL_RANK", std::to_string(rank));
  set("HOCKET_SIZE", std::to_string(options.ranks));
  set("HOCKET_LOCAL_SIZE", std::to_string(options.ranks));
  set("HOCKET_JOB", fmt::format("soak-{}", parent));
  Soak soak(options, rank);
  const Result<void> result = soak.run();
  if (!result) hocket::say("{}\n", result.error().text);
  std::fflush(stdout);
  return result && soak.constant() ? 0 : 1;
}

int run(const Options& options) {
  const pid_t parent = ::getpid();
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(be_rank(options, rank, parent));
    if (child < 0) return 1;
  }
  int worst = 0;
  int status = 0;
  while (::wait(&status) > 0) worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  fmt::print("soak: {}\n", worst == 0 ? "constant" : "FAILED");
  return worst;
}

}  // namespace
}  // namespace hocket

int main(int argc, char** argv) {
  hocket::Options options;
  CLI::App app("many calls and communicators on local ranks; memory and descriptors must stay constant");
  app.add_option("--calls", options.calls)->check(CLI::Range(1ULL, 1'000'000'000ULL))->capture_default_str();
  app.add_option("--communicators", options.communicators)->check(CLI::Range(1U, 100'000U))->capture_default_str();
  app.add_option("--ranks", options.ranks)->check(CLI::Range(1U, 64U))->capture_default_str();
  app.add_option("--large-every", options.large_every, "one call of so many is of 1 MiB")
      ->check(CLI::Range(1ULL, 1'000'000'000ULL))
      ->capture_default_str();
  app.add_option("--transport", options.transport, "shm, tcp, auto")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return hocket::run(options);
}
