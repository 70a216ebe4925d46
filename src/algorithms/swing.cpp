// Swing (De Sensi, Bonato, Saam and Hoefler, "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024,
// section 3), the variant with least latency: log2 N steps, in each of which peers exchange all they have. The
// distances 1, 1, 3, 5, 11 ... in alternating directions are shorter than those of recursive doubling. Ring of eight:
//     step 0: 0-1 2-3 4-5 6-7      step 1: 1-2 3-4 5-6 7-0      step 2: 0-3 2-5 4-7 6-1
// On a torus the dimensions take turns, and two parts per dimension use all links at once.
#include "algorithms/parts/swing_peers.h"

namespace hocket {
namespace {

Result<Schedule> plan(const PlanRequest& request) {
  const SwingPeers peers(request.topology);
  const ExchangePlan exchange{
      .parts = peers.parts(), .steps = peers.steps(), .peers = [&](auto rank, auto part, auto step) {
        return std::vector<std::uint32_t>{peers.peer(rank, part, step)};
      }};
  return schedule_exchange(request.collective, exchange, "swing");
}

}  // namespace

extern const Algorithm algorithm_swing{
    .name = "swing",
    .description = "peers at swinging distances exchange all they have; for small vectors on rings and tori",
    .source = "De Sensi et al., NSDI 2024, section 3",
    .supports = SwingPeers::supports,
    .plan = plan,
};

}  // namespace hocket
