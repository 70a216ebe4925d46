// YAML text as a tree, with errors that carry line and column, and quoting of names for writing it.
// yaml-cpp throws; nothing leaves this file as an exception, and readers wrap their walk in guard_yaml().
// Ownership: nodes share their tree. Threading: one thread per tree.
// Refuses: malformed YAML, nesting over 500 (yaml-cpp's own limit), a root that is not a map, keys that stand twice.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

/// The root map.
[[nodiscard]] Result<YAML::Node> parse_yaml_map(std::string_view text, std::string_view file_name);

/// "file:3:7".
[[nodiscard]] std::string yaml_place(const YAML::Node& node, std::string_view file_name);

/// True when some line begins with `key:` (perhaps quoted), or text in braces mentions it.
[[nodiscard]] bool has_yaml_key(std::string_view text, std::string_view key);

/// The name in double quotes; refuses control characters and text that is not UTF-8.
[[nodiscard]] Result<std::string> yaml_quoted(std::string_view name);

/// Runs a reader and turns what yaml-cpp throws into an Error.
template <class Reader>
auto guard_yaml(std::string_view file_name, Reader&& reader) -> decltype(reader()) {
  try {
    return reader();
  } catch (const YAML::Exception& error) {
    return fail(Code::kMalformed, "{}:{}:{}: {}", file_name, error.mark.line + 1, error.mark.column + 1, error.msg);
  }
}

}  // namespace hocket
