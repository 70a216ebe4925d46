// measure_goodput(): what share of its rate a cable of the lab carries as payload of TCP, both directions loaded at
// once: the rest are headers. Plans, bounds and predictions are for links with this share of their rate.
// Ownership: sockets of its own. Threading: the caller's, for two seconds. Refuses: a cable that carries nothing.
#pragma once

#include "lab/network.h"

namespace hocket {

/// Of the first cable; 0.95 or so.
[[nodiscard]] Result<double> measure_goodput(const LabNetwork& network);

}  // namespace hocket
