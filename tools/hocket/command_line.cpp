#include "command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/version.h"

namespace hocket {
namespace {

/// A variable of a script that is not set gives an empty word, which is no value and not the same as no flag. Where
/// numbers have no sign, CLI11 would take "-1" for 2^64 - 1, and what follows a flag and '=' for how often it is set.
void check_words(CLI::App& app) {
  const CLI::Validator not_empty(
      [](const std::string& word) -> std::string { return word.empty() ? "an empty word is no value" : ""; }, "");
  const CLI::Validator not_negative(
      [](const std::string& word) { return word.starts_with('-') ? word + " is below 0" : std::string(); }, "");
  const CLI::Validator yes_or_no(
      [](const std::string& word) -> std::string {
        constexpr std::array<std::string_view, 8> kWords{"true", "false", "yes", "no", "on", "off", "1", "0"};
        const bool known = std::find(kWords.begin(), kWords.end(), word) != kWords.end();
        return known ? "" : fmt::format("{} is neither true nor false", word);
      },
      "");
  for (CLI::Option* option : app.get_options()) {
    option->check(option->get_items_expected_max() > 0 ? not_empty : yes_or_no);
    if (option->get_type_name().starts_with("UINT")) option->check(not_negative);
  }
}

}  // namespace

CommandLine make_command_line() {
  CommandLine line;
  line.app = std::make_unique<CLI::App>("plan, prove, simulate and run collectives on your topology", "hocket");
  line.app->set_version_flag("--version", std::string(build_stamp().version));
  line.app->require_subcommand(0, 1);
  check_words(*line.app);
  for (const Verb* verb : verbs()) {
    CLI::App* sub = line.app->add_subcommand(std::string(verb->name), std::string(verb->summary));
    sub->footer(fmt::format("Example:\n  {}", verb->example));
    line.actions.emplace(sub, verb->declare(*sub));
    check_words(*sub);
  }
  return line;
}

}  // namespace hocket
