#include "command_line.h"

#include <fmt/format.h>

#include "base/version.h"

namespace hocket {

CommandLine make_command_line() {
  CommandLine line;
  line.app = std::make_unique<CLI::App>("plan, prove, simulate and run collectives on your topology", "hocket");
  line.app->set_version_flag("--version", std::string(build_stamp().version));
  line.app->require_subcommand(0, 1);
  for (const Verb* verb : verbs()) {
    CLI::App* sub = line.app->add_subcommand(std::string(verb->name), std::string(verb->summary));
    sub->footer(fmt::format("Example:\n  {}", verb->example));
    line.actions.emplace(sub, verb->declare(*sub));
  }
  return line;
}

}  // namespace hocket
