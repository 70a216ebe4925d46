// Chakra traces, their JSON twin and groups files from any bytes: refused with a message, or a graph; one that
// validates is written as traces and read again with the same tasks.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "exchange/chakra_graph.h"

namespace hocket {
namespace {

void check_copy(const TaskGraph& graph) {
  auto copy = export_chakra(graph);
  HOCKET_ASSERT(copy.has_value(), "a graph that validates is not written");
  const auto groups = read_chakra_groups(copy->groups, "copy");
  HOCKET_ASSERT(groups.has_value() || graph.divisions.empty(), "the groups of a copy are refused");
  std::vector<RankTrace> traces;
  for (ChakraTrace& trace : copy->traces) traces.push_back({"copy", std::move(trace)});
  const auto again =
      graph_of(traces, {{graph.ranks(), {graph.ranks()}}, groups ? *groups : ChakraGroups(), DataType::kF16});
  HOCKET_ASSERT(again.has_value() && validate(again->graph).has_value(), "a copy is refused");
  for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
    HOCKET_ASSERT(again->graph.program(rank).tasks.size() == graph.program(rank).tasks.size(), "tasks are lost");
  }
}

void check(std::string_view bytes) {
  static_cast<void>(read_chakra_groups(bytes, "fuzz"));
  const auto trace = looks_like_chakra_json(bytes) ? read_chakra_json(bytes, "fuzz") : read_chakra(bytes, "fuzz");
  if (!trace) return;
  const std::vector<RankTrace> traces{{"0", *trace}, {"1", *trace}};
  const auto imported = graph_of(traces, {{2, {2}}, {}, DataType::kF16});
  if (imported && validate(imported->graph)) check_copy(imported->graph);
}

}  // namespace
}  // namespace hocket

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
