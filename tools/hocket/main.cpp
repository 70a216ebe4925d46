// hocket: the command line. Finds the verb, parses its flags, runs it, turns errors into one line and an exit code:
// 0 good, 1 a check failed, 2 bad usage or input, 3 a peer failed or a deadline passed, 4 internal.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/version.h"
#include "verb.h"

namespace hocket {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

bool is_verb(std::string_view word) {
  return std::any_of(verbs().begin(), verbs().end(), [&](const Verb* verb) { return verb->name == word; });
}

int unknown_verb(std::string_view word) {
  const Verb* nearest = verbs().front();
  for (const Verb* verb : verbs()) {
    if (edit_distance(word, verb->name) < edit_distance(word, nearest->name)) nearest = verb;
  }
  fmt::print(stderr, "hocket: unknown verb '{}'; did you mean '{}'? (hocket --help lists all)\n", word, nearest->name);
  return 2;
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  fmt::print(stderr, "hocket: {}\n", text);
  return 2;
}

int run(int argc, char** argv) {
  CLI::App app{"hocket plans, proves, simulates and runs collectives on your topology", "hocket"};
  app.set_version_flag("--version", std::string(build_stamp().version));
  app.require_subcommand(0, 1);
  std::map<const CLI::App*, VerbAction> actions;
  for (const Verb* verb : verbs()) {
    CLI::App* sub = app.add_subcommand(std::string(verb->name), std::string(verb->summary));
    sub->footer(fmt::format("Example:\n  {}", verb->example));
    actions.emplace(sub, verb->declare(*sub));
  }
  if (argc > 1 && argv[1][0] != '-' && !is_verb(argv[1])) return unknown_verb(argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error);
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return 0;
  }
  const CLI::App* chosen = app.get_subcommands().front();
  const Result<int> result = actions.at(chosen)();
  if (result) return *result;
  fmt::print(stderr, "hocket {}: {}\n", chosen->get_name(), result.error().text);
  return exit_code(result.error().code);
}

}  // namespace
}  // namespace hocket

int main(int argc, char** argv) {
  try {
    return hocket::run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "hocket: out of memory\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hocket: internal error: {}\n", error.what());
    return 4;
  }
}
