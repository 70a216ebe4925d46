#include "astra_view.h"

#include <fmt/format.h>

#include "exchange/load_platform.h"
#include "report/table.h"
#include "simulator/astra_compat.h"

namespace hocket {
namespace {

/// Of kAstraCollectives; the library refuses the rest.
std::size_t list_of(CollectiveKind kind) {
  if (kind == CollectiveKind::kAllGather) return 1;
  return kind == CollectiveKind::kReduceScatter ? 2 : 0;
}

/// The rules need these keys, and know one value of some.
Result<void> check_system(const AstraSystem& s, const std::string& file, CollectiveKind kind) {
  const auto lacks = [&](std::string_view key) { return fail(Code::kMalformed, "{}: no key '{}'", file, key); };
  if (!s.splits) return lacks("preferred-dataset-splits");
  if (!s.endpoint_delay_ns) return lacks("endpoint-delay");
  if (!s.local_memory_GBps) return lacks("local-mem-bw");
  if (s.active_chunks.value_or(1) != 1) {
    return fail(
        Code::kUnsupported,
        "{}: {}: {} active chunks per dimension: ASTRA-sim's rules are known for one (its analytical network lets "
        "several use a link at once)",
        file, s.find("active-chunks-per-dimension")->where, *s.active_chunks);
  }
  if (s.dimensions > 1 && !s.bandwidth_aware) {
    return fail(Code::kUnsupported, "{}: 'collective-optimization' is not localBWAware: the phases are known for that",
                file);
  }
  const std::size_t list = list_of(kind);
  for (const std::string& word : s.algorithms[list]) {
    if (word == "ring") continue;
    return fail(Code::kUnsupported, "{}: {}-implementation '{}': ASTRA-sim's rules are known for 'ring'", file,
                kAstraCollectives[list], word);
  }
  if (s.algorithms[list].empty()) return lacks(fmt::format("{}-implementation", kAstraCollectives[list]));
  return {};
}

void print_text(const AstraInput& input, const BoundCollective& what, const AstraResult& r) {
  fmt::print("{} of {} on {}, {} ranks, by the rules of ASTRA-sim: {} chunk{}, endpoint {} ns, memory {} GB/s\n",
             name_of(what.collective.kind), format_bytes(what.bytes()), input.network_file, what.collective.ranks,
             *input.system.splits, *input.system.splits == 1 ? "" : "s", *input.system.endpoint_delay_ns,
             *input.system.local_memory_GBps);
  Table table({"phase of a chunk", "dimension", "bytes", "alone"});
  for (const AstraPhase& p : r.phases) {
    table.add({std::string(name_of(p.kind)), fmt::format("{}", p.dimension), format_bytes(p.size),
               fmt::format("{} ns", p.time.count / 1000)});
  }
  fmt::print("{}time {} ns\n", table.text(), r.time.count / 1000);
}

void print_document(const AstraInput& input, const BoundCollective& what, const AstraResult& r) {
  nlohmann::ordered_json out = document("sim");
  out["rules"] = "ASTRA-sim";
  out["collective"] = std::string(name_of(what.collective.kind));
  out["size_bytes"] = what.bytes().count;
  out["ranks"] = what.collective.ranks;
  out["chunks"] = *input.system.splits;
  out["time_ns"] = r.time.count / 1000;
  out["time_s"] = to_seconds(r.time).value;
  for (const AstraPhase& p : r.phases) {
    out["phases"].push_back({{"collective", std::string(name_of(p.kind))},
                             {"dimension", p.dimension},
                             {"bytes", p.size.count},
                             {"time_ns", p.time.count / 1000}});
  }
  out["events"] = r.events;
  print_json(out);
}

}  // namespace

Result<int> simulate_by_astra_rules(const AstraFlags& flags, const CollectiveFlags& amount) {
  if (flags.network.empty())
    return fail(Code::kInvalidArgument, "--topo is missing: --astra-compat needs ASTRA-sim's network YAML");
  HOCKET_TRY_ASSIGN(const CollectiveKind kind, parse_collective(flags.collective));
  HOCKET_TRY_ASSIGN(const AstraInput input, load_astra({flags.network, flags.system, {}}));
  HOCKET_TRY(check_system(input.system, flags.system, kind));
  std::uint64_t ranks = 1;
  for (const ProductDimension& d : input.network.dimensions) ranks *= d.extent;
  if (ranks > UINT32_MAX) return fail(Code::kResourceExhausted, "{}: {} npus", flags.network, ranks);
  HOCKET_TRY_ASSIGN(const Bytes asked, parse_bytes(amount.size));
  HOCKET_TRY_ASSIGN(const DataType type, parse_data_type(amount.type));
  if (asked.count % size_of(type) != 0)
    return fail(Code::kInvalidArgument, "--size {}: no whole number of {}, and ASTRA-sim's rules round nothing",
                amount.size, name_of(type));
  HOCKET_TRY_ASSIGN(const BoundCollective what, amount.bind(kind, static_cast<std::uint32_t>(ranks)));
  const AstraRules rules{.endpoint_ns = static_cast<std::int64_t>(*input.system.endpoint_delay_ns),
                         .memory = {*input.system.local_memory_GBps * 1e9}};
  HOCKET_TRY_ASSIGN(const AstraResult result,
                    simulate_astra({input.network.dimensions, kind, what.bytes(), *input.system.splits, rules}));
  amount.note_cut(what);
  if (flags.json) {
    print_document(input, what, result);
  } else {
    print_text(input, what, result);
  }
  return 0;
}

}  // namespace hocket
