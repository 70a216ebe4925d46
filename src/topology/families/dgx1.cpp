// dgx1 : eight npus joined like the GPUs of a DGX-1V, a hybrid cube mesh. Six cables per npu; where two npus have a
// double link there are two parallel cables. Every cable has the inner rate (an NVLink 2 carries 25GB/s each way).
//   0-1 0-2 0=3 0=4   1=2 1-3 1=5   2=3 2-6   3-7   4-5 4-6 4=7   5=6 5-7   6=7      (- one cable, = two)
#include <array>

#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

struct Pair {
  VertexId a, b;
  int cables;
};

constexpr std::array kPairs{Pair{0, 1, 1}, Pair{0, 2, 1}, Pair{0, 3, 2}, Pair{0, 4, 2}, Pair{1, 2, 2}, Pair{1, 3, 1},
                            Pair{1, 5, 2}, Pair{2, 3, 2}, Pair{2, 6, 1}, Pair{3, 7, 1}, Pair{4, 5, 1}, Pair{4, 6, 1},
                            Pair{4, 7, 2}, Pair{5, 6, 2}, Pair{5, 7, 1}, Pair{6, 7, 2}};

Result<Topology> build(const FamilyRequest& request) {
  if (!request.arguments.empty()) {
    return fail(Code::kInvalidArgument, "topology '{}': dgx1 takes no size, got '{}'", request.spec, request.arguments);
  }
  TopologyBuilder builder{std::string(request.spec), "dgx1"};
  add_npus(builder, {8});
  for (const Pair& pair : kPairs) {
    for (int i = 0; i < pair.cables; ++i) {
      builder.add_cable(pair.a, pair.b, request.links[0].bandwidth, request.links[0].latency);
    }
  }
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_dgx1{
    .name = "dgx1",
    .grammar = "dgx1",
    .description = "hybrid cube mesh of eight npus with single and double cables, like a DGX-1V",
    .example = "dgx1",
    .build = build,
};

}  // namespace hocket
