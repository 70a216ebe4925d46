// The whole command line as one CLI11 app, and what is generated from it: manual page and shell completion.
// Verbs and flags are declared once, in verbs/*.cpp; nothing here knows one by name.
// Ownership: the app owns its verbs; `actions` maps each to what it does. Threading: one owner.
// Refuses: nothing here; CLI11 refuses what it cannot parse.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "verb.h"

namespace hocket {

struct CommandLine {
  std::unique_ptr<CLI::App> app;
  std::map<const CLI::App*, VerbAction> actions;
};

[[nodiscard]] CommandLine make_command_line();

/// A manual page of section 1 in roff (`man ./hocket.1` shows it).
[[nodiscard]] std::string manual_page(const CLI::App& app);

/// A completion script for "bash", "zsh" or "fish": verbs, flags of each verb, files elsewhere.
[[nodiscard]] Result<std::string> completion_script(const CLI::App& app, std::string_view shell);

}  // namespace hocket
