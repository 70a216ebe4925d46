// say(): a line to stderr, formatted by fmt, whose own printing throws when the line cannot be written: what is said
// beside the work must not end it, and the exit status tells how that went. Threading: a line at a time, by stdio's
// lock. Refuses: nothing; what stderr does not take (closed, a full device) is lost.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace hocket {

template <typename... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace hocket
