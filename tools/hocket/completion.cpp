// Shell completion: a verb in first place, then that verb's flags, file names wherever no flag is begun.
#include <fmt/format.h>

#include "command_line.h"

namespace hocket {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string flags_of(const CLI::App& verb) {
  std::string out;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) out += (out.empty() ? "--" : " --") + name;
    for (const std::string& name : option->get_snames()) out += (out.empty() ? "-" : " -") + name;
  }
  return out;
}

std::string names_of(const CLI::App& app) {
  std::string out;
  for (const CLI::App* verb : verbs_of(app)) out += (out.empty() ? "" : " ") + verb->get_name();
  return out;
}

std::string bash(const CLI::App& app) {
  std::string out = fmt::format(
      "_hocket() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      names_of(app));
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format("    {}) words=\"{}\" ;;\n", verb->get_name(), flags_of(*verb));
  }
  out +=
      "  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _hocket hocket\n";
  return out;
}

std::string zsh(const CLI::App& app) {
  return "#compdef hocket\nautoload -U +X bashcompinit && bashcompinit\n" + bash(app);
}

/// A single-quoted fish word.
std::string fish_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish(const CLI::App& app) {
  std::string out = "complete -c hocket -n __fish_use_subcommand -f\n";
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format("complete -c hocket -n __fish_use_subcommand -f -a {} -d {}\n", verb->get_name(),
                       fish_word(verb->get_description()));
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        out += fmt::format("complete -c hocket -n '__fish_seen_subcommand_from {}' -l {} -d {}\n", verb->get_name(),
                           name, fish_word(option->get_description()));
      }
    }
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(const CLI::App& app, std::string_view shell) {
  if (shell == "bash") return bash(app);
  if (shell == "zsh") return zsh(app);
  if (shell == "fish") return fish(app);
  return fail(Code::kInvalidArgument, "unknown shell '{}'; known: bash, zsh, fish", shell);
}

}  // namespace hocket
