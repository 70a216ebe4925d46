#include "exchange/platform_yaml.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/spelling.h"
#include "exchange/csv.h"
#include "exchange/file_text.h"
#include "exchange/text_place.h"
#include "exchange/yaml_text.h"
#include "platform/fields.h"
#include "platform/preset.h"
#include "topology/spec.h"

namespace hocket {
namespace {

constexpr std::size_t kPlatformTextMax = std::size_t{1} << 20;
constexpr std::size_t kEnginesMax = 64;
constexpr std::size_t kExceptionsMax = 4096;
constexpr std::uint64_t kRanksMax = std::uint64_t{1} << 24;
constexpr std::size_t kLinksOfNetworkMax = 16;

std::string short_text(const YAML::Node& node) { return node.IsScalar() ? node.Scalar().substr(0, 80) : ""; }

class PlatformReader {
 public:
  PlatformReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<Platform> read() {
    if (text_.size() > kPlatformTextMax) {
      return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name_, kPlatformTextMax);
    }
    HOCKET_TRY_ASSIGN(const YAML::Node root, parse_yaml_map(text_, file_name_));
    HOCKET_TRY(
        check_keys(root, {"hocket", "name", "description", "network", "endpoint", "exceptions", "engines", "power"}));
    if (short_text(root["hocket"]) != "platform") {
      return fail(Code::kMalformed, "{}: 'hocket: {}' where 'hocket: platform' is wanted", file_name_,
                  root["hocket"] ? short_text(root["hocket"]) : "");
    }
    Platform platform;
    HOCKET_TRY_ASSIGN(platform.name, word(root, "name", file_name_));
    HOCKET_TRY_ASSIGN(platform.description, word(root, "description", ""));
    HOCKET_TRY_ASSIGN(const YAML::Node network, section(root, "network"));
    HOCKET_TRY_ASSIGN(platform.network, read_network(network));
    HOCKET_TRY_ASSIGN(const YAML::Node endpoint, section(root, "endpoint"));
    HOCKET_TRY_ASSIGN(platform.endpoint, read_endpoint(endpoint));
    HOCKET_TRY_ASSIGN(platform.exceptions, read_exceptions(root, platform.endpoint));
    HOCKET_TRY_ASSIGN(platform.engines, read_engines(root));
    if (root["power"]) {
      HOCKET_TRY_ASSIGN(const YAML::Node power, section(root, "power"));
      HOCKET_TRY(check_keys(power, keys_of(power_fields())));
      HOCKET_TRY(read_fields(power, platform.power, power_fields()));
    }
    HOCKET_TRY(named(validate(platform)));
    HOCKET_TRY(named(platform.build_topology()));
    return platform;
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error_at(const YAML::Node& node, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Code::kMalformed, "{}: {}", yaml_place(node, file_name_),
                fmt::format(format, std::forward<Args>(args)...));
  }

  /// An error of the library, with the file in front.
  template <class T>
  Result<T> named(Result<T> result) const {
    if (!result && !result.error().text.starts_with(file_name_))
      result.error().text = fmt::format("{}: {}", file_name_, result.error().text);
    return result;
  }

  template <class Owner>
  static std::vector<std::string_view> keys_of(std::span<const FigureField<Owner>> fields) {
    std::vector<std::string_view> keys;
    for (const auto& field : fields) keys.push_back(field.key);
    return keys;
  }

  Result<void> check_keys(const YAML::Node& map, const std::vector<std::string_view>& known) const {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) return error_at(entry.first, "a key is not a word");
      const std::string key = entry.first.Scalar();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return error_at(entry.first, "unknown key '{}'{} (known here: {})", key.substr(0, 80),
                        spelling_hint(key, known), fmt::join(known, ", "));
      }
      if (!seen.insert(key).second) return error_at(entry.first, "key '{}' stands twice", key);
    }
    return {};
  }

  Result<YAML::Node> section(const YAML::Node& root, const std::string& key) const {
    const YAML::Node value = root[key];
    if (!value) return error_at(root, "key '{}' is missing", key);
    if (!value.IsMap()) return error_at(value, "'{}' is not a map of keys and values", key);
    return value;
  }

  Result<std::string> word(const YAML::Node& map, const std::string& key, std::string_view otherwise) const {
    const YAML::Node value = map[key];
    if (!value) return std::string(otherwise);
    if (!value.IsScalar()) return error_at(value, "'{}' is not a word", key);
    return value.Scalar();
  }

  Result<MaybeFigure> figure(const YAML::Node& map, std::string_view key, FigureUnit unit) const {
    const YAML::Node node = map[std::string(key)];
    if (!node) return MaybeFigure{};
    YAML::Node value = node;
    Figure found;
    if (node.IsMap()) {
      HOCKET_TRY(check_keys(node, {"value", "source"}));
      if (!node["value"]) return error_at(node, "'{}' has no value", key);
      value.reset(node["value"]);
      HOCKET_TRY_ASSIGN(found.source, word(node, "source", ""));
    }
    if (!value.IsScalar()) return error_at(value, "'{}' is not {}", key, describe(unit));
    const Result<double> number = parse_figure(unit, value.Scalar());
    if (!number) return error_at(value, "{}: {}", key, number.error().text.substr(0, 200));
    found.value = *number;
    return MaybeFigure(std::move(found));
  }

  template <class Owner>
  Result<void> read_fields(const YAML::Node& map, Owner& owner, std::span<const FigureField<Owner>> fields) const {
    for (const FigureField<Owner>& field : fields) {
      HOCKET_TRY_ASSIGN(owner.*field.member, figure(map, field.key, field.unit));
      if (field.required && !(owner.*field.member)) return error_at(map, "key '{}' is missing", field.key);
    }
    return {};
  }

  Result<PlatformLink> read_link(const YAML::Node& node) const {
    if (!node.IsMap()) return error_at(node, "a link is not {{bandwidth: ..., latency: ...}}");
    HOCKET_TRY(check_keys(node, {"bandwidth", "latency"}));
    HOCKET_TRY_ASSIGN(const MaybeFigure bandwidth, figure(node, "bandwidth", FigureUnit::kBandwidth));
    HOCKET_TRY_ASSIGN(const MaybeFigure latency, figure(node, "latency", FigureUnit::kTime));
    if (!bandwidth) return error_at(node, "key 'bandwidth' is missing");
    if (!latency) return error_at(node, "key 'latency' is missing");
    return PlatformLink{*bandwidth, *latency};
  }

  Result<PlatformNetwork> read_network(const YAML::Node& map) const {
    HOCKET_TRY(check_keys(map, {"topology", "links", "uplink", "break", "scale", "forwards"}));
    PlatformNetwork network;
    HOCKET_TRY_ASSIGN(network.topology, word(map, "topology", ""));
    if (network.topology.empty()) return error_at(map, "key 'topology' is missing");
    const YAML::Node links = map["links"];
    if (!links || !links.IsSequence()) return error_at(map, "no list 'links' of {{bandwidth: ..., latency: ...}}");
    if (links.size() == 0 || links.size() > kLinksOfNetworkMax) {
      return error_at(links, "'links' has {} entries, 1 to {} are read", links.size(), kLinksOfNetworkMax);
    }
    for (const YAML::Node& node : links) {
      HOCKET_TRY_ASSIGN(PlatformLink link, read_link(node));
      network.links.push_back(std::move(link));
    }
    if (const YAML::Node uplink = map["uplink"]) {
      HOCKET_TRY_ASSIGN(network.uplink, read_link(uplink));
    }
    HOCKET_TRY_ASSIGN(network.breaks, read_words(map, "break"));
    HOCKET_TRY_ASSIGN(network.scales, read_words(map, "scale"));
    HOCKET_TRY(choice(map, "forwards", std::array{Forwarding::kNetwork, Forwarding::kNpus}, network.forwards));
    return network;
  }

  Result<std::vector<std::string>> read_words(const YAML::Node& map, const std::string& key) const {
    std::vector<std::string> words;
    const YAML::Node list = map[key];
    if (!list) return words;
    if (!list.IsSequence()) return error_at(list, "'{}' is not a list of words", key);
    if (list.size() > kExceptionsMax) return error_at(list, "'{}' has more than {} entries", key, kExceptionsMax);
    for (const YAML::Node& node : list) {
      if (!node.IsScalar()) return error_at(node, "an entry of '{}' is not a word", key);
      words.push_back(node.Scalar());
    }
    return words;
  }

  Result<EndpointModel> read_endpoint(const YAML::Node& map) const {
    std::vector<std::string_view> keys = keys_of(endpoint_fields());
    keys.push_back("rates");
    HOCKET_TRY(check_keys(map, keys));
    EndpointModel endpoint;
    HOCKET_TRY(read_fields(map, endpoint, endpoint_fields()));
    HOCKET_TRY_ASSIGN(const YAML::Node rates, section(map, "rates"));
    HOCKET_TRY(read_rates(rates, endpoint));
    if (rates.size() == 0) return error_at(rates, "'rates' is empty: no data type has a rate");
    return endpoint;
  }

  Result<void> read_rates(const YAML::Node& rates, EndpointModel& endpoint) const {
    std::vector<std::string_view> types;
    for (std::size_t type = 0; type < endpoint.rates.size(); ++type) {
      types.push_back(name_of(static_cast<DataType>(type)));
      HOCKET_TRY_ASSIGN(const MaybeFigure rate, figure(rates, types.back(), FigureUnit::kRate));
      if (rate) endpoint.rates[type] = rate;
    }
    return check_keys(rates, types);
  }

  Result<std::vector<EndpointException>> read_exceptions(const YAML::Node& root, const EndpointModel& usual) const {
    std::vector<EndpointException> exceptions;
    const YAML::Node list = root["exceptions"];
    if (!list) return exceptions;
    if (!list.IsSequence()) return error_at(list, "'exceptions' is not a list of {{ranks: [...], rates: ...}}");
    if (list.size() > kExceptionsMax) return error_at(list, "more than {} exceptions", kExceptionsMax);
    for (const YAML::Node& map : list) {
      if (!map.IsMap()) return error_at(map, "an exception is not {{ranks: [...], rates: ...}}");
      std::vector<std::string_view> keys = keys_of(endpoint_fields());
      keys.insert(keys.end(), {"ranks", "rates"});
      HOCKET_TRY(check_keys(map, keys));
      EndpointException& other = exceptions.emplace_back(EndpointException{{}, usual});
      HOCKET_TRY_ASSIGN(other.ranks, read_ranks(map));
      for (const FigureField<EndpointModel>& field : endpoint_fields()) {
        HOCKET_TRY_ASSIGN(const MaybeFigure found, figure(map, field.key, field.unit));
        if (found) other.model.*field.member = found;
      }
      if (!map["rates"]) continue;
      HOCKET_TRY_ASSIGN(const YAML::Node rates, section(map, "rates"));
      HOCKET_TRY(read_rates(rates, other.model));
    }
    return exceptions;
  }

  Result<std::vector<std::uint32_t>> read_ranks(const YAML::Node& map) const {
    const YAML::Node list = map["ranks"];
    if (!list || !list.IsSequence() || list.size() == 0) return error_at(map, "no list 'ranks' of rank numbers");
    std::vector<std::uint32_t> ranks;
    for (const YAML::Node& node : list) {
      const auto rank = node.IsScalar() ? whole_number(node.Scalar()) : std::nullopt;
      if (!rank || *rank >= kRanksMax) return error_at(node, "'{}' is no rank", short_text(node));
      ranks.push_back(static_cast<std::uint32_t>(*rank));
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  /// One of several words.
  template <class Word, std::size_t N>
  Result<void> choice(const YAML::Node& map, const std::string& key, const std::array<Word, N>& known,
                      Word& chosen) const {
    const YAML::Node node = map[key];
    if (!node) return {};
    std::vector<std::string_view> names;
    for (const Word candidate : known) {
      names.push_back(name_of(candidate));
      if (node.IsScalar() && node.Scalar() == names.back()) {
        chosen = candidate;
        return {};
      }
    }
    return error_at(node, "{} '{}' is none of {}{}", key, short_text(node), fmt::join(names, ", "),
                    spelling_hint(short_text(node), names));
  }

  Result<CommunicationEngine> read_engine(const YAML::Node& map) const {
    if (!map.IsMap()) return error_at(map, "an engine is not {{name: ..., kind: ...}}");
    std::vector<std::string_view> keys{"name", "kind", "overlaps", "split", "charge", "first", "order"};
    for (const std::string_view key : keys_of(engine_fields())) keys.push_back(key);
    HOCKET_TRY(check_keys(map, keys));
    CommunicationEngine engine;
    if (!map["kind"]) return error_at(map, "key 'kind' is missing");
    HOCKET_TRY(choice(map, "kind", kEngineKinds, engine.kind));
    HOCKET_TRY_ASSIGN(engine.name, word(map, "name", name_of(engine.kind)));
    HOCKET_TRY(choice(map, "split", std::array{BudgetSplit::kShared, BudgetSplit::kStatic}, engine.split));
    HOCKET_TRY(choice(map, "charge", std::array{MemoryCharge::kTraffic, MemoryCharge::kReads}, engine.charge));
    HOCKET_TRY(choice(map, "first", std::array{UnitPriority::kCommunication, UnitPriority::kCompute}, engine.first));
    HOCKET_TRY(choice(map, "order", std::array{CollectiveOrder::kFifo, CollectiveOrder::kLifo}, engine.order));
    if (const YAML::Node overlaps = map["overlaps"]) {
      const std::string text = short_text(overlaps);
      if (text != "true" && text != "false") return error_at(overlaps, "overlaps '{}' is neither true nor false", text);
      engine.overlaps = text == "true";
    }
    HOCKET_TRY(read_fields(map, engine, engine_fields()));
    return engine;
  }

  Result<std::vector<CommunicationEngine>> read_engines(const YAML::Node& root) const {
    const YAML::Node list = root["engines"];
    if (!list || !list.IsSequence()) return error_at(root, "no list 'engines' of {{name: ..., kind: ...}}");
    if (list.size() > kEnginesMax) return error_at(list, "more than {} engines", kEnginesMax);
    std::vector<CommunicationEngine> engines;
    for (const YAML::Node& node : list) {
      HOCKET_TRY_ASSIGN(CommunicationEngine engine, read_engine(node));
      engines.push_back(std::move(engine));
    }
    return engines;
  }

  std::string_view text_, file_name_;
};

class PlatformWriter {
 public:
  Result<std::string> write(const Platform& p) {
    line(0, "hocket: platform");
    HOCKET_TRY(text(0, "name", p.name));
    HOCKET_TRY(text(0, "description", p.description));
    line(0, "network:");
    HOCKET_TRY(text(1, "topology", p.network.topology));
    line(1, "links:");
    for (const PlatformLink& l : p.network.links) HOCKET_TRY(link("  - ", l));
    if (p.network.uplink) {
      line(1, "uplink:");
      HOCKET_TRY(link("    ", *p.network.uplink));
    }
    HOCKET_TRY(words("break", p.network.breaks));
    HOCKET_TRY(words("scale", p.network.scales));
    if (p.network.forwards == Forwarding::kNpus) line(1, "forwards: npus");
    line(0, "endpoint:");
    HOCKET_TRY(endpoint(1, p.endpoint));
    if (!p.exceptions.empty()) line(0, "exceptions:");
    for (const EndpointException& other : p.exceptions) {
      line(1, fmt::format("- ranks: [{}]", fmt::join(other.ranks, ", ")));
      HOCKET_TRY(endpoint(2, other.model));
    }
    line(0, "engines:");
    for (const CommunicationEngine& engine : p.engines) HOCKET_TRY(write_engine(engine));
    line(0, "power:");
    const std::size_t before = out_.size();
    HOCKET_TRY(fields(1, p.power, power_fields()));
    if (out_.size() == before) out_.insert(before - 1, " {}");
    return std::move(out_);
  }

 private:
  void line(int depth, std::string_view words) { out_ += fmt::format("{:{}}{}\n", "", 2 * depth, words); }

  Result<void> text(int depth, std::string_view key, const std::string& value) {
    HOCKET_TRY_ASSIGN(const std::string quoted, yaml_quoted(value));
    line(depth, fmt::format("{}: {}", key, quoted));
    return {};
  }

  Result<void> endpoint(int depth, const EndpointModel& model) {
    HOCKET_TRY(fields(depth, model, endpoint_fields()));
    line(depth, "rates:");
    for (std::size_t type = 0; type < model.rates.size(); ++type) {
      if (!model.rates[type]) continue;
      HOCKET_TRY(figure(depth + 1, name_of(static_cast<DataType>(type)), FigureUnit::kRate, *model.rates[type]));
    }
    return {};
  }

  /// A list in one line, where there is one.
  Result<void> words(std::string_view key, const std::vector<std::string>& list) {
    if (list.empty()) return {};
    std::vector<std::string> quoted;
    for (const std::string& word : list) {
      HOCKET_TRY_ASSIGN(std::string one, yaml_quoted(word));
      quoted.push_back(std::move(one));
    }
    line(1, fmt::format("{}: [{}]", key, fmt::join(quoted, ", ")));
    return {};
  }

  static Result<std::string> figure_text(FigureUnit unit, const Figure& figure) {
    const std::string value = format_figure(unit, figure.value);
    if (!figure.sourced()) return value;
    HOCKET_TRY_ASSIGN(const std::string source, yaml_quoted(figure.source));
    return fmt::format("{{value: {}, source: {}}}", value, source);
  }

  Result<void> figure(int depth, std::string_view key, FigureUnit unit, const Figure& figure) {
    HOCKET_TRY_ASSIGN(const std::string value, figure_text(unit, figure));
    line(depth, fmt::format("{}: {}", key, value));
    return {};
  }

  Result<void> link(std::string_view begin, const PlatformLink& link) {
    HOCKET_TRY_ASSIGN(const std::string bandwidth, figure_text(FigureUnit::kBandwidth, link.bandwidth));
    HOCKET_TRY_ASSIGN(const std::string latency, figure_text(FigureUnit::kTime, link.latency));
    out_ += fmt::format("{}bandwidth: {}\n    latency: {}\n", begin, bandwidth, latency);
    return {};
  }

  template <class Owner>
  Result<void> fields(int depth, const Owner& owner, std::span<const FigureField<Owner>> fields) {
    for (const FigureField<Owner>& field : fields) {
      if (owner.*field.member) HOCKET_TRY(figure(depth, field.key, field.unit, *(owner.*field.member)));
    }
    return {};
  }

  Result<void> write_engine(const CommunicationEngine& engine) {
    HOCKET_TRY_ASSIGN(const std::string name, yaml_quoted(engine.name));
    out_ += fmt::format("  - name: {}\n    kind: {}\n    overlaps: {}\n    split: {}\n    charge: {}\n", name,
                        name_of(engine.kind), engine.overlaps, name_of(engine.split), name_of(engine.charge));
    out_ += fmt::format("    first: {}\n    order: {}\n", name_of(engine.first), name_of(engine.order));
    return fields(2, engine, engine_fields());
  }

  std::string out_;
};

}  // namespace

bool looks_like_platform(std::string_view text) {
  text = text.substr(0, 4096);
  if (!has_yaml_key(text, "hocket")) return false;
  text.remove_prefix(std::min(text.find(':', text.find("hocket")), text.size() - 1) + 1);
  text.remove_prefix(std::min(text.find_first_not_of(" \"'"), text.size()));
  return text.starts_with("platform");
}

Result<Platform> read_platform(std::string_view text, std::string_view file_name) {
  return with_printable_error(guard_yaml(file_name, [&] { return PlatformReader(text, file_name).read(); }));
}

Result<std::string> write_platform(const Platform& platform) { return PlatformWriter().write(platform); }

Result<Platform> load_platform(std::string_view words_or_path) {
  const std::string path(words_or_path);
  std::error_code error;
  const bool is_file =
      path.size() <= kSpecLengthMax && path.find('\0') == std::string::npos && std::filesystem::exists(path, error);
  if (!is_file) return with_printable_error(platform_from_words(words_or_path));
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kPlatformTextMax));
  HOCKET_TRY(text.losses.refuse_repairs(path));
  return read_platform(text.bytes, path);
}

}  // namespace hocket
