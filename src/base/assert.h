// HOCKET_ASSERT: checks of our own invariants, on in release builds too.
// Prints file, line, condition and a message to stderr, then aborts. Never used on data from a peer, file or caller.
// Threading: safe from any thread.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace hocket::detail {

[[noreturn]] inline void assert_failed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "hocket: internal error at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace hocket::detail

#define HOCKET_ASSERT(condition, message)                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      ::hocket::detail::assert_failed(__FILE__, __LINE__, #condition, message); \
    }                                                                           \
  } while (false)
