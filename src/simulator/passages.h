// Passages: how often what a model moves on its own (segments, packets, chunks) enters a link. They are what a
// simulation costs, and known before it runs.
// Ownership: none. Threading: pure functions. Refuses: more than the model handles in about a minute.
#pragma once

#include <span>

#include "simulator/routes.h"
#include "simulator/simulator.h"

namespace hocket {

/// Of all jobs together, whose routes are given in their order.
[[nodiscard]] Result<double> count_passages(std::span<const SimulatedJob> jobs, const SimulateOptions& options,
                                            std::span<const FlatRoutes> routes);

}  // namespace hocket
