// Verifier speed and memory: a ring all-reduce of 1,024 ranks (one piece per rank), proved once.
// Prints ops, messages, seconds of building and proving, and the peak resident memory of the whole process.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>

#include "algorithms/algorithm.h"
#include "topology/spec.h"
#include "verify/verify.h"

int main(int argc, char** argv) {
  using namespace hocket;
  const std::string spec = argc > 1 ? argv[1] : "ring:1024";
  const auto topology = topology_from_spec(spec, {});
  const auto algorithm = find_algorithm("ring");
  if (!topology || !algorithm) return 2;
  const auto start = std::chrono::steady_clock::now();
  auto schedule = (*algorithm)->plan({*topology, {CollectiveKind::kAllReduce, topology->rank_count(), 0}});
  if (!schedule) return 2;
  const auto built = std::chrono::steady_clock::now();
  const std::size_t ops = schedule->ops().size();
  const Verification result = verify(std::make_shared<const Schedule>(std::move(*schedule)));
  const auto proved = std::chrono::steady_clock::now();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) / 1024;
  const auto seconds = [](auto a, auto b) { return std::chrono::duration<double>(b - a).count(); };
  fmt::print("{}: {} ops, proved {}, built in {:.2f} s, proved in {:.2f} s, peak {:.0f} MiB\n", spec, ops,
             result.proved(), seconds(start, built), seconds(built, proved), peak);
  return result.proved() ? 0 : 1;
}
