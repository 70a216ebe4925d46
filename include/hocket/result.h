#pragma once

// Result<T>: the one way an operating error (user, file, peer, resources) travels.
// Ownership: values are moved in and out; an Error owns its text.
// Threading: plain values, no shared state. Refuses: nothing.

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace hocket {

/// The classes of failure a caller can act on. Exit codes of the tools follow from them.
enum class Code : std::uint8_t {
  kInvalidArgument,    // bad usage: a word, a unit, a range
  kMalformed,          // a file or frame that does not parse
  kMismatch,           // two sides or two figures that must agree do not
  kDisproved,          // a schedule that does not do what it claims, or wrong data
  kUnsupported,        // well formed, but not something that can be done
  kResourceExhausted,  // memory, descriptors, limits
  kTimeout,
  kPeerFailed,
  kCancelled,
  kIo,
  kInternal,
};

struct Error {
  Code code = Code::kInternal;
  std::string text;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace hocket
