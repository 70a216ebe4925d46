// hocket: the command line. Finds the verb, parses its flags, runs it, turns errors into one line and an exit code:
// 0 good, 1 a check failed, 2 bad usage or input, 3 a peer failed or a deadline passed, 4 internal. A signal that ends
// local ranks ends this process too.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "base/printable.h"
#include "base/say.h"
#include "base/spelling.h"
#include "command_line.h"
#include "local_ranks.h"
#include "signals.h"

namespace hocket {
namespace {

bool is_verb(std::string_view word) {
  return std::any_of(verbs().begin(), verbs().end(), [&](const Verb* verb) { return verb->name == word; });
}

int unknown_verb(std::string_view word) {
  std::vector<std::string_view> known;
  for (const Verb* verb : verbs()) known.push_back(verb->name);
  say("hocket: unknown verb '{}'{} (hocket --help lists all)\n", word, spelling_hint(word, known));
  return 2;
}

/// "help VERB" as "VERB --help", "help" alone as "--help".
std::vector<std::string> words_of_help(std::vector<std::string> words) {
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

/// "--name" and "-n" of every flag of a verb.
std::vector<std::string> flags_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// The first word that looks like a flag and is none of the verb's; CLI11 names all that is left over, in reverse.
int unknown_flag(const CLI::App& verb, const std::vector<std::string>& left_over) {
  const auto flag = std::find_if(left_over.rbegin(), left_over.rend(),
                                 [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if (flag == left_over.rend()) {
    say("hocket {}: '{}' is one argument too many\n", verb.get_name(), left_over.back());
    return 2;
  }
  const std::string name = flag->substr(0, flag->find('='));
  say("hocket {}: unknown flag '{}'{} (hocket {} --help lists all)\n", verb.get_name(), name,
      spelling_hint(name, flags_of(verb)), verb.get_name());
  return 2;
}

/// A standard descriptor that is closed would be the next file's or socket's number, which a child's own streams then
/// replace. Opened the wrong way round: to read and to write go on failing as on a closed one. False without /dev/null.
bool open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) return false;
  }
  return true;
}

/// Output that did not arrive is no success.
int cannot_print() {
  say("hocket: cannot write to stdout: {}\n", std::generic_category().message(errno));
  return 2;
}

/// Ends by the signal that a status of local ranks names, so that shells and scripts see what happened.
int end_with(int status) {
  std::signal(status - kSignalled, SIG_DFL);
  std::raise(status - kSignalled);
  return status;
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    const int status = app.exit(error);
    return std::cout.flush() ? status : cannot_print();
  }
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) {
    say("hocket: {}\n", text);
    return 2;
  }
  if (const std::vector<std::string> left_over = chosen.front()->remaining(); !left_over.empty())
    return unknown_flag(*chosen.front(), left_over);
  say("hocket {}: {}\n", chosen.front()->get_name(), text);
  return 2;
}

int run(int argc, char** argv) {
  const CommandLine line = make_command_line();
  CLI::App& app = *line.app;
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words[0] == "help") words = words_of_help(words);
  if (!words.empty() && !words[0].starts_with('-') && !is_verb(words[0])) return unknown_verb(words[0]);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error);
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return std::fflush(stdout) == 0 ? 0 : cannot_print();
  }
  const CLI::App* chosen = app.get_subcommands().front();
  const Result<int> result = line.actions.at(chosen)();
  if (result && *result > kSignalled) return end_with(*result);
  if (result && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return *result;
  if (result) return cannot_print();
  say("hocket {}: {}\n", chosen->get_name(), printable(result.error().text, '\n'));
  return exit_code(result.error().code);
}

}  // namespace
}  // namespace hocket

int main(int argc, char** argv) {
  try {
    if (!hocket::open_missing_streams()) return 2;
    hocket::take_signals();
    return hocket::run(argc, argv);
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return hocket::cannot_print();  // thrown by fmt::print
    hocket::say("hocket: internal error: {}\n", error.what());
    return 4;
  } catch (const std::bad_alloc&) {
    hocket::say("hocket: out of memory\n");
    return 2;
  } catch (const std::exception& error) {
    hocket::say("hocket: internal error: {}\n", error.what());
    return 4;
  }
}
