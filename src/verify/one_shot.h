// One-shot plans: every rank sends one and the same message to all others, none of which depends on anything received.
// Where ranks can show each other memory (transport/board.h) such a plan needs no messages and no events: each rank
// shows its own once and runs its ops in their order when the others have shown theirs (Engine::begin_one_shot).
// The whole plan is looked at, so that all ranks agree on it. Threading: pure functions. Refuses: nothing.
#pragma once

#include <cstddef>
#include <optional>

#include "verify/plan.h"

namespace hocket {

/// The length of the messages of a one-shot plan if it is `bytes_max` at most; nothing for other plans.
[[nodiscard]] std::optional<std::size_t> one_shot_bytes(const Plan& plan, std::size_t bytes_max);

}  // namespace hocket
