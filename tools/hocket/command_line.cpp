#include "command_line.h"

#include <fmt/format.h>

#include "base/version.h"

namespace hocket {
namespace {

/// A variable of a script that is not set gives an empty word, which is no value and not the same as no flag. Where
/// numbers have no sign, CLI11 would take "-1" for 2^64 - 1.
void check_words(CLI::App& verb) {
  const CLI::Validator not_empty(
      [](const std::string& word) -> std::string { return word.empty() ? "an empty word is no value" : ""; }, "");
  const CLI::Validator not_negative(
      [](const std::string& word) { return word.starts_with('-') ? word + " is below 0" : std::string(); }, "");
  for (CLI::Option* option : verb.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(not_empty);
    if (option->get_type_name().starts_with("UINT")) option->check(not_negative);
  }
}

}  // namespace

CommandLine make_command_line() {
  CommandLine line;
  line.app = std::make_unique<CLI::App>("plan, prove, simulate and run collectives on your topology", "hocket");
  line.app->set_version_flag("--version", std::string(build_stamp().version));
  line.app->require_subcommand(0, 1);
  for (const Verb* verb : verbs()) {
    CLI::App* sub = line.app->add_subcommand(std::string(verb->name), std::string(verb->summary));
    sub->footer(fmt::format("Example:\n  {}", verb->example));
    line.actions.emplace(sub, verb->declare(*sub));
    check_words(*sub);
  }
  return line;
}

}  // namespace hocket
