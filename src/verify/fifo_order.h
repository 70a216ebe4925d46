// fifo_order(): an order in which all ops can run when every connection is a FIFO of a given depth.
// Sends and receives of one connection follow their program order; message k leaves only after message k - depth was
// taken; depth 0 is rendezvous: a message leaves only when its receive is ready. All messages must be matched.
// Threading: pure function. Refuses: nothing; the order is shorter than the schedule when something waits for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/connections.h"

namespace hocket {

inline constexpr std::uint32_t kUnboundedDepth = 0x7fffffff;

[[nodiscard]] std::vector<OpId> fifo_order(const Schedule& schedule, const Connections& connections,
                                           std::uint32_t depth);

/// Whether all ops can run; less memory than the order itself.
[[nodiscard]] bool fifo_safe(const Schedule& schedule, const Connections& connections, std::uint32_t depth);

}  // namespace hocket
