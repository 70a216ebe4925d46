#include "platform_view.h"

#include <fmt/format.h>

#include "exchange/platform_yaml.h"
#include "flags.h"
#include "losses.h"
#include "platform/fields.h"
#include "report/table.h"

namespace hocket {
namespace {

std::string engine_words(const CommunicationEngine& engine) {
  std::string words = fmt::format("{}, {} charged", name_of(engine.kind), name_of(engine.charge));
  if (engine.split == BudgetSplit::kStatic) words += ", static split";
  if (engine.order == CollectiveOrder::kLifo) words += ", lifo";
  if (engine.first == UnitPriority::kCompute) words += ", compute first";
  if (!engine.overlaps) words += ", does not overlap";
  return words;
}

std::size_t unsourced(const std::vector<NamedFigure>& figures) {
  std::size_t count = 0;
  for (const NamedFigure& f : figures) count += f.figure.sourced() ? 0U : 1U;
  return count;
}

void print_text(const ImportedPlatform& imported, const std::vector<NamedFigure>& figures) {
  const Platform& platform = imported.platform;
  fmt::print("{}: {}\n", platform.name, platform.description);
  fmt::print("network {}{}\n", platform.network.topology,
             platform.network.forwards == Forwarding::kNpus ? ", npus forward for one another" : "");
  for (const CommunicationEngine& e : platform.engines) fmt::print("endpoint {}: {}\n", e.name, engine_words(e));
  Table table({"figure", "value", "source"});
  for (const NamedFigure& f : figures) {
    table.add({f.name, format_figure(f.unit, f.figure.value), f.figure.sourced() ? f.figure.source : "none: assumed"});
  }
  fmt::print("{}", table.text());
  fmt::print("{} of {} figures without a source", unsourced(figures), figures.size());
  std::string names;
  for (const NamedFigure& f : figures) {
    if (!f.figure.sourced()) names += fmt::format("{}{}", names.empty() ? ": " : ", ", f.name);
  }
  fmt::print("{}\n", names);
  for (const std::string& line : imported.taken) fmt::print("taken: {}\n", line);
  print_losses("note", imported.losses);
}

void print_document(const ImportedPlatform& imported, const std::vector<NamedFigure>& figures) {
  const Platform& platform = imported.platform;
  nlohmann::ordered_json out = document("info");
  auto& p = out["platform"];
  p["name"] = platform.name;
  p["description"] = platform.description;
  p["topology"] = platform.network.topology;
  p["forwards"] = std::string(name_of(platform.network.forwards));
  for (const CommunicationEngine& e : platform.engines) {
    p["endpoints"].push_back({{"name", e.name},
                              {"kind", std::string(name_of(e.kind))},
                              {"overlaps", e.overlaps},
                              {"split", std::string(name_of(e.split))},
                              {"charge", std::string(name_of(e.charge))},
                              {"first", std::string(name_of(e.first))},
                              {"order", std::string(name_of(e.order))}});
  }
  for (const NamedFigure& f : figures) {
    nlohmann::ordered_json entry{{"name", f.name}};
    entry[fmt::format("value{}", json_suffix(f.unit))] = f.figure.value;
    entry["source"] = f.figure.sourced() ? nlohmann::ordered_json(f.figure.source) : nlohmann::ordered_json();
    p["figures"].push_back(std::move(entry));
  }
  p["unsourced"] = unsourced(figures);
  p["taken"] = imported.taken;
  p["losses"] = losses_json(imported.losses);
  print_json(out);
}

}  // namespace

Result<int> show_platform(const PlatformFiles& files, bool json, bool yaml) {
  if (files.platform.empty()) {
    return fail(Code::kInvalidArgument, "after 'platform': which? A file, or words such as ace:4x4x4");
  }
  HOCKET_TRY_ASSIGN(const ImportedPlatform imported, load_platform(files));
  HOCKET_TRY(imported.platform.build_topology());  // words such as ace:0x4x4 say no network
  if (yaml) {
    HOCKET_TRY_ASSIGN(const std::string text, write_platform(imported.platform));
    fmt::print("{}", text);
    return 0;
  }
  const std::vector<NamedFigure> figures = figures_of(imported.platform);
  if (json) {
    print_document(imported, figures);
  } else {
    print_text(imported, figures);
  }
  return 0;
}

}  // namespace hocket
