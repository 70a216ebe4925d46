// How many descriptors this process can still open. Who asks before it begins hears why it cannot go on; otherwise the
// system refuses in the midst, where a peer waits for a connection that nobody can take.
// Ownership: none. Threading: pure but for reading /proc; others may open some at the same time.
// Refuses: needs beyond the limit (kResourceExhausted, with both numbers); nothing where the system does not say.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace hocket {

[[nodiscard]] Result<void> check_descriptors(std::size_t needed);

}  // namespace hocket
