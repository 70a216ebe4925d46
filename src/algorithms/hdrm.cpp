// HDRM: halving-doubling with rank mapping (Dong et al., "EFLOPS: Algorithm and System Co-design for a High Performance
// Distributed Training Platform", HPCA 2020, section V) for BiGraph networks: ranks are placed so that the partners of
// every step sit in different halves and no two messages of a step share a cable. The placement is our own derivation:
// the halves have 2^b switches each, and a logical number has fields p and q of b bits, u, and one more bit. A number
// with even parity sits on switch p of the first half in slot (q, u), one with odd parity on switch q of the second
// half in slot (p, u). Partners differ in one bit, so their parities differ, and the 2^b 2^|u| servers of switch p send
// over different cables, since q (or q with one bit changed) and u tell them apart. Two switches of two:
//     switch 0: numbers 0 3      switch 1: numbers 1 2      step 0: 0-2 3-1 across      step 1: 0-1 3-2 across
#include <bit>

#include "algorithms/algorithm.h"
#include "algorithms/parts/transfers.h"

namespace hocket {
namespace {

struct Shape {
  std::uint32_t half = 0;    // switches of a half
  std::uint32_t cables = 0;  // between two switches
};

Shape shape_of(const Topology& topology) {
  if (topology.family() != "bigraph" || topology.extents().size() != 2) return {};
  const std::uint32_t half = topology.extents()[1] / 2;
  return {half, topology.extents()[0] / std::max(1U, half)};
}

std::string supports(const PlanRequest& request) {
  if (request.collective.kind != CollectiveKind::kAllReduce) {
    return fmt::format("it does not do {}", name_of(request.collective.kind));
  }
  const Shape shape = shape_of(request.topology);
  if (shape.half == 0) return "it needs a bigraph";
  if (request.topology.extents()[0] != shape.half * shape.cables || !std::has_single_bit(shape.half) ||
      !std::has_single_bit(shape.cables) || request.collective.ranks != 2 * shape.half * shape.half * shape.cables) {
    return "it needs powers of two of switches and of npus, as many npus on a switch as cables to the other half";
  }
  return {};
}

struct Place {
  std::uint32_t rank = 0;
  std::uint32_t cable = 0;
};

/// Where the logical number lives, and the cable it sends by.
Place place_of(const Shape& shape, std::uint32_t number) {
  const std::uint32_t p = number % shape.half;
  const std::uint32_t q = number / shape.half % shape.half;
  const std::uint32_t u = number / shape.half / shape.half % shape.cables;
  const bool first = std::popcount(number) % 2 == 0;
  const std::uint32_t at = first ? p : shape.half + q;
  const std::uint32_t slot = (first ? q : p) * shape.cables + u;
  return {at * shape.half * shape.cables + slot, u};
}

/// The `length` pieces, aligned, that piece `number` lies in.
Run aligned(std::uint32_t number, std::uint32_t length) { return {number & ~(length - 1), length}; }

Result<Schedule> plan(const PlanRequest& request) {
  const Shape shape = shape_of(request.topology);
  const std::uint32_t n = request.collective.ranks;
  Transfers transfers(request.collective, n, "hdrm");
  const auto steps = static_cast<std::uint32_t>(std::bit_width(n) - 1);
  for (std::uint32_t step = 0; step < 2 * steps; ++step) {
    const bool reducing = step < steps;
    const std::uint32_t distance = reducing ? n >> (step + 1) : 1U << (step - steps);
    for (std::uint32_t number = 0; number < n; ++number) {
      const Place from = place_of(shape, number);
      const Place to = place_of(shape, number ^ distance);
      const OpOptions options{.channel = static_cast<std::uint16_t>(from.cable), .step = step};
      transfers.send(from.rank, to.rank, aligned(reducing ? number ^ distance : number, distance), options);
    }
    for (std::uint32_t number = 0; number < n; ++number) {
      const Place to = place_of(shape, number);
      const Place from = place_of(shape, number ^ distance);
      const OpOptions options{.channel = static_cast<std::uint16_t>(from.cable), .step = step};
      if (reducing) {
        transfers.recv_reduce(to.rank, from.rank, aligned(number, distance), options);
      } else {
        transfers.recv(to.rank, from.rank, aligned(number ^ distance, distance), options);
      }
    }
  }
  return std::move(transfers).finish();
}

}  // namespace

extern const Algorithm algorithm_hdrm{
    .name = "hdrm",
    .description = "halving-doubling with ranks placed so that no cable of a bigraph is shared",
    .source = "Dong et al., HPCA 2020, section V",
    .supports = supports,
    .plan = plan,
};

}  // namespace hocket
