// hocket verify: reads a schedule file (our own or a foreign one), proves it, or says what is wrong and where.
#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "exchange/schedule_format.h"
#include "flags.h"
#include "lint_windows.h"
#include "losses.h"
#include "progress_line.h"
#include "verb.h"
#include "verify/verify.h"

namespace hocket {
namespace {

struct Flags {
  std::string file;
  std::string output;
  bool windows = false;
  bool json = false;
};

nlohmann::ordered_json to_json(const Schedule& s, const Verification& v) {
  nlohmann::ordered_json out = document("verify");
  out["proved"] = v.proved();
  out["algorithm"] = s.algorithm();
  out["collective"] = std::string(name_of(s.collective().kind));
  out["ranks"] = s.rank_count();
  if (is_rooted(s.collective().kind)) out["root"] = s.collective().root;
  out["ops"] = s.ops().size();
  out["pieces"] = s.division().pieces();
  if (v.proved()) {
    out["safe_depth"] = v.verified->safe_depth();
    out["in_place"] = v.verified->in_place();
  }
  out["findings"] = nlohmann::ordered_json::array();
  for (const Finding& f : v.findings)
    out["findings"].push_back({{"kind", std::string(name_of(f.kind))}, {"text", f.text}});
  return out;
}

Verification verify_watched(const std::shared_ptr<const Schedule>& schedule) {
  ProgressLine line;
  line.progress().begin(fmt::format("proving {} ops", schedule->ops().size()));
  return verify(schedule);
}

Result<int> check(const Flags& flags) {
  if (flags.windows && !flags.output.empty())
    return fail(Code::kInvalidArgument, "--windows looks at sizes only: not with --output");
  if (flags.windows) return lint_windows(flags.file, flags.json);
  if (!flags.output.empty()) HOCKET_TRY(check_writable(flags.output));
  LossReport losses;
  HOCKET_TRY_ASSIGN(Schedule schedule, load_schedule(flags.file, &losses));
  const auto shared = std::make_shared<const Schedule>(std::move(schedule));
  const Verification result = verify_watched(shared);
  if (!flags.output.empty()) HOCKET_TRY(save_schedule(*shared, flags.output));
  const LossReport lost = flags.output.empty() ? LossReport{} : losses_of_saving(*shared, flags.output);
  if (flags.json) {
    nlohmann::ordered_json out = to_json(*shared, result);
    out["assumed"] = losses_json(losses);
    out["lost"] = losses_json(lost);
    print_json(out);
    return result.proved() ? 0 : 1;
  }
  print_losses("note", losses);
  const std::string what =
      fmt::format("{}: {} of {} ranks{}, '{}', {} ops, {} pieces", flags.file, name_of(shared->collective().kind),
                  shared->rank_count(),
                  is_rooted(shared->collective().kind) ? fmt::format(", root {}", shared->collective().root) : "",
                  shared->algorithm(), shared->ops().size(), shared->division().pieces());
  if (result.proved()) {
    fmt::print("proved  {}\n", what);
    fmt::print("        every output is right, no race, no deadlock; {}; {}\n",
               result.verified->safe_depth() == 0
                   ? "needs no queue (rendezvous is enough)"
                   : fmt::format("needs a FIFO of {} per connection", result.verified->safe_depth()),
               result.verified->in_place() ? "works in place" : "not in place");
    print_losses("lost", lost);
    return 0;
  }
  fmt::print("wrong   {}\n", what);
  for (const Finding& f : result.findings) fmt::print("{:<10} {}\n", name_of(f.kind), f.text);
  return 1;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("file", flags->file, "a schedule: hocket info formats lists the kinds")->required();
  app.add_option("-o,--output", flags->output,
                 "write it by extension: .json .hkt .xml .mscclpp.json .graph.xml .dot .svg");
  app.add_flag("--windows", flags->windows, "a table of size windows, or a folder of files that have some, instead");
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return check(*flags); };
}

}  // namespace

extern const Verb verb_verify{
    .name = "verify",
    .summary = "prove a schedule file, or say what is wrong with it; -o converts it",
    .example = "hocket verify plan.hkt",
    .declare = declare,
};

}  // namespace hocket
