// Verifier speed and memory: a ring all-reduce of 1,024 ranks (one piece per rank), proved once.
// Prints ops, messages, seconds of building and proving, and the peak of
// resident memory while proving (the schedule itself included).
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "algorithms/algorithm.h"
#include "topology/spec.h"
#include "verify/verify.h"

namespace {

/// Linux: forgets the peak of resident memory so far.
void reset_peak() {
  malloc_trim(0);
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

double peak_mib() {
  double kib = 0;
  if (std::FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::strncmp(line, "VmHWM:", 6) == 0) kib = std::atof(line + 6);
    }
    std::fclose(file);
  }
  return kib / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hocket;
  const std::string spec = argc > 1 ? argv[1] : "ring:1024";
  const auto topology = topology_from_spec(spec, {});
  const auto algorithm = find_algorithm("ring");
  if (!topology || !algorithm) return 2;
  const auto start = std::chrono::steady_clock::now();
  auto schedule = (*algorithm)->plan({*topology, {CollectiveKind::kAllReduce, topology->rank_count(), 0}});
  if (!schedule) return 2;
  reset_peak();
  const auto built = std::chrono::steady_clock::now();
  const std::size_t ops = schedule->ops().size();
  const Verification result = verify(std::make_shared<const Schedule>(std::move(*schedule)));
  const auto proved = std::chrono::steady_clock::now();
  const auto seconds = [](auto a, auto b) { return std::chrono::duration<double>(b - a).count(); };
  fmt::print("{}: {} ops, proved {}, built in {:.2f} s, proved in {:.2f} s, peak while proving {:.0f} MiB\n", spec, ops,
             result.proved(), seconds(start, built), seconds(built, proved), peak_mib());
  return result.proved() ? 0 : 1;
}
