#include "platform/set_field.h"

#include <optional>

#include "base/spelling.h"
#include "platform/fields.h"

namespace hocket {
namespace {

/// A visitor sees every field once, with its full name.
template <class Visit>
void walk_link(const std::string& name, PlatformLink& link, const Visit& visit) {
  visit.figure(name + ".bandwidth", FigureUnit::kBandwidth, link.bandwidth);
  visit.figure(name + ".latency", FigureUnit::kTime, link.latency);
}

template <class Owner, class Visit>
void walk_figures(const std::string& name, Owner& owner, std::span<const FigureField<Owner>> fields,
                  const Visit& visit) {
  for (const FigureField<Owner>& field : fields) {
    visit.maybe(fmt::format("{}.{}", name, field.key), field.unit, owner.*field.member);
  }
}

template <class Visit>
void walk_endpoint(const std::string& name, EndpointModel& model, const Visit& visit) {
  walk_figures(name, model, endpoint_fields(), visit);
  for (std::size_t type = 0; type < model.rates.size(); ++type) {
    visit.maybe(fmt::format("{}.rates.{}", name, name_of(static_cast<DataType>(type))), FigureUnit::kRate,
                model.rates[type]);
  }
}

template <class Visit>
void walk_engine(CommunicationEngine& engine, const Visit& visit) {
  const std::string name = "engines." + engine.name;
  visit.choice(name + ".kind", kEngineKinds, engine.kind);
  visit.choice(name + ".split", std::array{BudgetSplit::kShared, BudgetSplit::kStatic}, engine.split);
  visit.choice(name + ".charge", std::array{MemoryCharge::kTraffic, MemoryCharge::kReads}, engine.charge);
  visit.choice(name + ".first", std::array{UnitPriority::kCommunication, UnitPriority::kCompute}, engine.first);
  visit.choice(name + ".order", std::array{CollectiveOrder::kFifo, CollectiveOrder::kLifo}, engine.order);
  visit.truth(name + ".overlaps", engine.overlaps);
  walk_figures(name, engine, engine_fields(), visit);
}

template <class Visit>
void walk_fields(Platform& p, const Visit& visit) {
  visit.word("network.topology", p.network.topology);
  for (std::size_t i = 0; i < p.network.links.size(); ++i)
    walk_link(fmt::format("network.links.{}", i), p.network.links[i], visit);
  if (p.network.uplink) walk_link("network.uplink", *p.network.uplink, visit);
  visit.choice("network.forwards", std::array{Forwarding::kNetwork, Forwarding::kNpus}, p.network.forwards);
  walk_endpoint("endpoint", p.endpoint, visit);
  for (std::size_t i = 0; i < p.exceptions.size(); ++i)
    walk_endpoint(fmt::format("exceptions.{}", i), p.exceptions[i].model, visit);
  for (CommunicationEngine& engine : p.engines) walk_engine(engine, visit);
  walk_figures("power", p.power, power_fields(), visit);
}

struct NameCollector {
  std::vector<std::string>& names;
  void figure(const std::string& name, FigureUnit /*unit*/, Figure& /*figure*/) const { names.push_back(name); }
  void maybe(const std::string& name, FigureUnit /*unit*/, MaybeFigure& /*figure*/) const { names.push_back(name); }
  void word(const std::string& name, std::string& /*word*/) const { names.push_back(name); }
  void truth(const std::string& name, bool& /*truth*/) const { names.push_back(name); }
  template <class Word, std::size_t N>
  void choice(const std::string& name, const std::array<Word, N>& /*known*/, Word& /*chosen*/) const {
    names.push_back(name);
  }
};

struct FieldSetter {
  std::string_view wanted;
  std::string_view text;
  std::optional<Result<void>>& outcome;

  void figure(const std::string& name, FigureUnit unit, Figure& figure) const {
    if (name != wanted) return;
    const Result<double> value = parse_figure(unit, text);
    if (value) figure = Figure{*value, {}};
    outcome = value ? Result<void>() : Result<void>(tl::unexpected<Error>(value.error()));
  }
  void maybe(const std::string& name, FigureUnit unit, MaybeFigure& held) const {
    if (name != wanted) return;
    Figure read;
    figure(name, unit, read);
    if (outcome->has_value()) held = read;
  }
  void word(const std::string& name, std::string& word) const {
    if (name != wanted) return;
    word = text;
    outcome = Result<void>();
  }
  void truth(const std::string& name, bool& truth) const {
    if (name != wanted) return;
    truth = text == "true";
    outcome = truth || text == "false" ? Result<void>()
                                       : fail(Code::kInvalidArgument, "'{}' is neither true nor false", text);
  }
  template <class Word, std::size_t N>
  void choice(const std::string& name, const std::array<Word, N>& known, Word& chosen) const {
    if (name != wanted) return;
    std::vector<std::string_view> names;
    names.reserve(N);
    outcome = Result<void>();
    for (const Word candidate : known) {
      names.push_back(name_of(candidate));
      if (text != names.back()) continue;
      chosen = candidate;
      return;
    }
    outcome =
        fail(Code::kInvalidArgument, "'{}' is none of {}{}", text, fmt::join(names, ", "), spelling_hint(text, names));
  }
};

}  // namespace

std::vector<std::string> field_names(const Platform& platform) {
  Platform copy = platform;
  std::vector<std::string> names;
  walk_fields(copy, NameCollector{names});
  return names;
}

Result<void> set_field(Platform& platform, std::string_view name, std::string_view text) {
  std::optional<Result<void>> outcome;
  walk_fields(platform, FieldSetter{name, text.substr(0, 200), outcome});
  if (outcome) return *outcome;
  return fail(Code::kUnsupported, "platform '{}' has no field '{}'{}", platform.name, name.substr(0, 80),
              spelling_hint(name, field_names(platform)));
}

}  // namespace hocket
