// hocket doctor: what each file is, what is wrong with it, what would be ignored, assumed or repaired, and whether it
// comes back the same when written and read again. Exit 0 good; 1 it lacks what a plan needs, the round trip differs,
// or with
// --strict something is ignored or repaired; 2 it cannot be read or is malformed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/say.h"
#include "exchange/doctor.h"
#include "flags.h"
#include "verb.h"

namespace hocket {
namespace {

struct Flags {
  std::vector<std::string> files;
  bool strict = false;
  bool json = false;
};

std::string_view word_of(RoundTrip trip) {
  switch (trip) {
    case RoundTrip::kSame:
      return "same";
    case RoundTrip::kDiffers:
      return "differs";
    case RoundTrip::kNotWritten:
      return "not written";
  }
  return "not written";
}

int verdict_of(const Diagnosis& d, bool strict) {
  const LossReport& losses = d.examination.losses;
  const bool lost = losses.count(LossKind::kIgnored) + losses.count(LossKind::kRepaired) > 0;
  return !d.lacking.empty() || d.examination.round_trip == RoundTrip::kDiffers || (strict && lost) ? 1 : 0;
}

void print_text(const std::string& file, const Diagnosis& d) {
  fmt::print("file         {}\n", file);
  fmt::print("is           {} ({})\n", d.description, d.format);
  for (const std::string& line : d.examination.contents) fmt::print("holds        {}\n", line);
  for (const std::string& line : d.examination.losses.lines()) fmt::print("note         {}\n", line);
  if (!d.lacking.empty()) fmt::print("lacks        {}\n", d.lacking);
  fmt::print("round trip   {}: {}\n", word_of(d.examination.round_trip), d.examination.round_trip_text);
}

nlohmann::ordered_json to_json(const std::string& file, const Diagnosis& d, int verdict) {
  nlohmann::ordered_json out = {{"file", file}, {"format", d.format}, {"description", d.description}};
  out["contents"] = d.examination.contents;
  out["losses"] = nlohmann::ordered_json::array();
  for (const Loss& loss : d.examination.losses.entries()) {
    out["losses"].push_back(
        {{"kind", name_of(loss.kind)}, {"where", loss.where}, {"what", loss.what}, {"why", loss.why}});
  }
  for (const LossKind kind : {LossKind::kIgnored, LossKind::kAssumed, LossKind::kRepaired}) {
    out[std::string(name_of(kind))] = d.examination.losses.count(kind);
  }
  out["lacking"] = d.lacking;
  out["round_trip"] = word_of(d.examination.round_trip);
  out["round_trip_text"] = d.examination.round_trip_text;
  out["exit_code"] = verdict;
  return out;
}

Result<int> examine(const Flags& flags) {
  int worst = 0;
  std::vector<Diagnosis> diagnoses;
  std::vector<std::string> names;
  nlohmann::ordered_json out = document("doctor");
  out["files"] = nlohmann::ordered_json::array();
  for (const std::string& file : flags.files) {
    auto diagnosis = diagnose_file(file);
    if (!diagnosis) {
      worst = std::max(worst, exit_code(diagnosis.error().code));
      say("hocket doctor: {}\n", diagnosis.error().text);
      out["files"].push_back({{"file", file}, {"error", diagnosis.error().text}, {"exit_code", 2}});
      continue;
    }
    const int verdict = verdict_of(*diagnosis, flags.strict);
    if (const auto refused = diagnosis->examination.losses.refuse_repairs(file); flags.strict && !refused) {
      say("hocket doctor: {}\n", refused.error().text);
    }
    worst = std::max(worst, verdict);
    if (flags.json) out["files"].push_back(to_json(file, *diagnosis, verdict));
    if (!flags.json) print_text(file, *diagnosis);
    diagnoses.push_back(std::move(*diagnosis));
    names.push_back(file);
  }
  if (flags.json) print_json(out);
  HOCKET_TRY(compare_astra_files(diagnoses, names));
  return worst;
}

VerbAction declare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("files", flags->files, "files to look at; ASTRA-sim's network and system are compared")->required();
  app.add_flag("--strict", flags->strict, "exit 1 also when something is ignored or repaired");
  app.add_flag("--json", flags->json, "a JSON document on stdout");
  return [flags] { return examine(*flags); };
}

}  // namespace

extern const Verb verb_doctor{
    .name = "doctor",
    .summary = "say what files are, what is wrong with them and what would be lost",
    .example = "hocket doctor examples/irregular16.csv",
    .declare = declare,
};

}  // namespace hocket
