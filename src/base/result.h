// What our own code adds to Result<T> (hocket/result.h): building errors, passing them on, exit codes.
// Ownership: values are moved in and out; an Error owns its text.
// Threading: plain values, no shared state.
// Refuses: programmer errors. A broken invariant of our own goes through HOCKET_ASSERT instead.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "hocket/result.h"

namespace hocket {

/// Builds an unexpected Error from a format string: `return fail(Code::kMalformed, "line {}: ...", line);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// Process exit code of the tools for an error: 1 a check failed, 2 bad input, 3 a peer or a deadline, 4 internal.
[[nodiscard]] constexpr int exit_code(Code code) {
  switch (code) {
    case Code::kDisproved:
      return 1;
    case Code::kTimeout:
    case Code::kPeerFailed:
    case Code::kCancelled:
      return 3;
    case Code::kInternal:
      return 4;
    default:
      return 2;
  }
}

}  // namespace hocket

#define HOCKET_CONCAT_INNER(a, b) a##b
#define HOCKET_CONCAT(a, b) HOCKET_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a Result) from the enclosing function.
#define HOCKET_TRY(expression)                                               \
  do {                                                                       \
    if (auto hocket_try = (expression); !hocket_try.has_value()) {           \
      return tl::unexpected<::hocket::Error>(std::move(hocket_try.error())); \
    }                                                                        \
  } while (false)

/// Declares `target` from the value of `expression` (a Result) or returns its error.
#define HOCKET_TRY_ASSIGN(target, expression)                                                           \
  auto HOCKET_CONCAT(hocket_result_, __LINE__) = (expression);                                          \
  if (!HOCKET_CONCAT(hocket_result_, __LINE__).has_value()) {                                           \
    return tl::unexpected<::hocket::Error>(std::move(HOCKET_CONCAT(hocket_result_, __LINE__).error())); \
  }                                                                                                     \
  target = std::move(*HOCKET_CONCAT(hocket_result_, __LINE__))
