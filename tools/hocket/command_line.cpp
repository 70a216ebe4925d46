#include "command_line.h"

#include <fmt/format.h>

#include "base/version.h"

namespace hocket {
namespace {

/// A variable of a script that is not set gives an empty word, which is no value and not the same as no flag.
void refuse_empty_words(CLI::App& verb) {
  const CLI::Validator not_empty(
      [](const std::string& word) -> std::string { return word.empty() ? "an empty word is no value" : ""; }, "");
  for (CLI::Option* option : verb.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(not_empty);
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
    refuse_empty_words(*sub);
  }
  return line;
}

}  // namespace hocket
