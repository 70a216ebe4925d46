// sealed_memory(): memory without a name that processes can share (a memfd), of a fixed length that nobody can change.
// Ownership: the caller's descriptor. Threading: pure but for the system.
// Refuses: systems without memfd, more memory than available_memory() says, more than this process's files may have
// (RLIMIT_FSIZE, which would otherwise end it by a signal).
#pragma once

#include <cstddef>

#include "base/result.h"
#include "net/descriptor.h"

namespace hocket {

/// `bytes` of zeros, of which the first `reserved` are taken from the system now: later a write could find no memory,
/// and that is a signal. `name` is shown by the system only.
[[nodiscard]] Result<Descriptor> sealed_memory(const char* name, std::size_t bytes, std::size_t reserved);

}  // namespace hocket
