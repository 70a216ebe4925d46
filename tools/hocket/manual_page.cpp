// The manual page, from what --help knows: one subsection a verb, one tagged paragraph a flag.
#include <fmt/format.h>

#include "base/version.h"
#include "command_line.h"

namespace hocket {
namespace {

/// Text as roff takes it: backslashes and dashes escaped, no line that starts like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

std::string flag_paragraph(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames())
    names += fmt::format("{}\\-{}", names.empty() ? "" : ", ", roff(name));
  for (const std::string& name : option.get_lnames()) {
    names += fmt::format("{}\\-\\-{}", names.empty() ? "" : ", ", roff(name));
  }
  if (names.empty()) names = fmt::format("\\fI{}\\fR", roff(option.get_single_name()));
  const std::string preset = option.get_default_str();
  return fmt::format(".TP\n\\fB{}\\fR\n{}{}\n", names, roff(option.get_description()),
                     preset.empty() ? "" : fmt::format(" [{}]", roff(preset)));
}

std::string verb_section(const CLI::App& verb) {
  std::string out = fmt::format(".SS hocket {}\n{}\n", roff(verb.get_name()), roff(verb.get_description()));
  for (const CLI::Option* option : verb.get_options()) out += flag_paragraph(*option);
  const std::string footer = verb.get_footer();
  if (!footer.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  return out;
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string out = fmt::format(".TH HOCKET 1 \"\" \"hocket {}\" \"User Commands\"\n", build_stamp().version);
  out += fmt::format(".SH NAME\nhocket \\- {}\n", roff(app.get_description()));
  out += ".SH SYNOPSIS\n.B hocket\n.I VERB\n[\\fIFLAGS\\fR]\n.SH VERBS\n";
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) out += verb_section(*verb);
  out +=
      ".SH EXIT STATUS\n.TP\n0\nGood.\n.TP\n1\nA check failed.\n.TP\n2\nBad usage or input.\n.TP\n3\nA peer failed or "
      "a "
      "deadline passed.\n.TP\n4\nA defect of hocket itself.\n";
  return out;
}

}  // namespace hocket
