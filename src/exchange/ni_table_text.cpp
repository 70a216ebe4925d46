#include "exchange/ni_table_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "exchange/json_text.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kTextMax = std::size_t{64} << 20;
constexpr std::uint32_t kRanksMax = 1U << 20;
constexpr std::uint32_t kPiecesMax = 1U << 26;
constexpr std::uint32_t kStepsMax = 1U << 24;
constexpr std::uint32_t kLinkMax = 0xfffffffe;
constexpr std::int64_t kElementsMax = std::int64_t{1} << 60;

/// How addresses are written: pieces, or bytes of a vector.
struct Unit {
  std::int64_t elements = 0;
  std::int64_t size = 0;  // bytes of an element; 0: pieces

  [[nodiscard]] NiRange range(const NiTables& tables, std::uint32_t flow) const {
    const NiFlow& f = tables.flows[flow];
    if (size == 0) return {f.piece, f.pieces};
    const NiRange range = elements_of(tables, flow, elements);
    return {range.start * size, range.size * size};
  }
};

// ---- writing

std::string entry_line(const NiTables& tables, const NiEntry& e, const Unit& unit) {
  Json line;
  line["opcode"] = std::string(name_of(e.opcode));
  if (e.opcode != NiOpcode::kNop) {
    line["flow"] = e.flow;
    line["parent"] = e.parent == kNoParent ? Json() : Json(e.parent);
    line["children"] = e.children;
  }
  line["step"] = e.step;
  if (e.opcode == NiOpcode::kNop) return line.dump();
  const NiRange range = unit.range(tables, e.flow);
  line["start"] = range.start;
  line["size"] = range.size;
  if (!e.routes.empty()) line["via"] = e.routes;
  return line.dump();
}

std::string arrival_line(const NiArrival& a) {
  return Json({{"step", a.step}, {"flow", a.flow}, {"children", a.children}}).dump();
}

std::string head_lines(const NiTables& tables, const BoundCollective* amount) {
  Json head;
  head["hocket_ni_tables"] = kVersion;
  head["algorithm"] = tables.algorithm;
  head["collective"] = std::string(name_of(tables.collective.kind));
  head["ranks"] = tables.collective.ranks;
  if (is_rooted(tables.collective.kind)) head["root"] = tables.collective.root;
  const Division& d = tables.division;
  head["division"] = {{"blocks", d.blocks}, {"pieces_per_block", d.pieces_per_block}, {"uniform", d.uniform}};
  if (!d.weights.empty()) head["division"]["weights"] = d.weights;
  head["topology"] = tables.topology.text();
  head["steps"] = tables.steps;
  head["unit"] = amount == nullptr ? "piece" : "byte";
  if (amount != nullptr) {
    head["elements"] = amount->count;
    head["dtype"] = std::string(name_of(amount->type));
  }
  std::string out;
  for (const auto& [key, value] : head.items()) out += fmt::format("\"{}\": {},\n", key, value.dump());
  return out;
}

/// Items one a line between brackets.
template <class Items, class Line>
void add_list(std::string& out, std::string_view key, const Items& items, Line&& line) {
  out += fmt::format("\"{}\": [", key);
  bool first = true;
  for (const auto& item : items) {
    out += fmt::format("{}\n{}", first ? "" : ",", line(item));
    first = false;
  }
  out += first ? "]" : "\n]";
}

// ---- reading

Result<std::int64_t> number(const Json& object, const char* key, std::int64_t max) {
  const auto at = object.find(key);
  if (at == object.end()) return fail(Code::kMalformed, "'{}' is missing", key);
  if (!at->is_number_unsigned() || at->get<std::uint64_t>() > static_cast<std::uint64_t>(max))
    return fail(Code::kMalformed, "'{}' is {}, expected a whole number up to {}", key, at->dump(), max);
  return at->get<std::int64_t>();
}

Result<std::uint32_t> small_number(const Json& object, const char* key, std::uint32_t max) {
  HOCKET_TRY_ASSIGN(const std::int64_t value, number(object, key, max));
  return static_cast<std::uint32_t>(value);
}

Result<std::string> word(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return fail(Code::kMalformed, "'{}' is missing", key);
  if (!at->is_string()) return fail(Code::kMalformed, "'{}' is {}, expected a text", key, at->dump());
  return at->get<std::string>();
}

Result<std::vector<std::uint32_t>> numbers(const Json& list, std::string_view key, std::uint32_t max) {
  if (!list.is_array()) return fail(Code::kMalformed, "'{}' is not a list", key);
  std::vector<std::uint32_t> out;
  out.reserve(list.size());
  for (const Json& item : list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > max)
      return fail(Code::kMalformed, "'{}' holds {}, expected whole numbers up to {}", key, item.dump(), max);
    out.push_back(item.get<std::uint32_t>());
  }
  return out;
}

Result<void> known_keys(const Json& object, std::span<const std::string_view> keys) {
  if (!object.is_object()) return fail(Code::kMalformed, "is {}, expected an object", object.dump().substr(0, 80));
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return fail(Code::kMalformed, "unknown member '{}'", key);
  }
  return {};
}

Result<const Json*> list_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return fail(Code::kMalformed, "'{}' is missing", key);
  if (!at->is_array()) return fail(Code::kMalformed, "'{}' is not a list", key);
  return &*at;
}

Result<NiEntry> read_entry(const Json& line, const NiTables& tables, const Unit& unit) {
  static constexpr std::array<std::string_view, 8> kKeys{"opcode", "flow",  "parent", "children",
                                                         "step",   "start", "size",   "via"};
  HOCKET_TRY(known_keys(line, kKeys));
  HOCKET_TRY_ASSIGN(const std::string opcode, word(line, "opcode"));
  NiEntry e;
  HOCKET_TRY_ASSIGN(e.step, small_number(line, "step", kStepsMax));
  if (opcode == name_of(NiOpcode::kNop)) {
    if (line.size() != 2) return fail(Code::kMalformed, "a nop has a step and nothing else");
    return e;
  }
  if (opcode != name_of(NiOpcode::kReduce) && opcode != name_of(NiOpcode::kGather))
    return fail(Code::kMalformed, "unknown opcode '{}'; known: reduce, gather, nop", opcode.substr(0, 40));
  e.opcode = opcode == name_of(NiOpcode::kReduce) ? NiOpcode::kReduce : NiOpcode::kGather;
  HOCKET_TRY_ASSIGN(e.flow, small_number(line, "flow", kPiecesMax));
  if (e.flow >= tables.flows.size())
    return fail(Code::kDisproved, "flow {}, but there are {}", e.flow, tables.flows.size());
  const auto parent = line.find("parent");
  if (parent == line.end()) return fail(Code::kMalformed, "'parent' is missing");
  if (!parent->is_null()) {
    HOCKET_TRY_ASSIGN(e.parent, small_number(line, "parent", kRanksMax));
  }
  HOCKET_TRY_ASSIGN(const Json* const children, list_of(line, "children"));
  HOCKET_TRY_ASSIGN(e.children, numbers(*children, "children", kRanksMax));
  NiRange stated;
  HOCKET_TRY_ASSIGN(stated.start, number(line, "start", std::numeric_limits<std::int64_t>::max()));
  HOCKET_TRY_ASSIGN(stated.size, number(line, "size", std::numeric_limits<std::int64_t>::max()));
  const NiRange range = unit.range(tables, e.flow);
  if (stated != range)
    return fail(Code::kDisproved, "start {} size {}, but flow {} has start {} size {}", stated.start, stated.size,
                e.flow, range.start, range.size);
  if (!line.contains("via")) return e;
  HOCKET_TRY_ASSIGN(const Json* const routes, list_of(line, "via"));
  for (const Json& route : *routes) {
    HOCKET_TRY_ASSIGN(std::vector<std::uint32_t> links, numbers(route, "via", kLinkMax));
    e.routes.push_back(std::move(links));
  }
  return e;
}

Result<NiArrival> read_arrival(const Json& line) {
  static constexpr std::array<std::string_view, 3> kKeys{"step", "flow", "children"};
  HOCKET_TRY(known_keys(line, kKeys));
  NiArrival a;
  HOCKET_TRY_ASSIGN(a.step, small_number(line, "step", kStepsMax));
  HOCKET_TRY_ASSIGN(a.flow, small_number(line, "flow", kPiecesMax));
  HOCKET_TRY_ASSIGN(const Json* const children, list_of(line, "children"));
  HOCKET_TRY_ASSIGN(a.children, numbers(*children, "children", kRanksMax));
  return a;
}

Result<NiTable> read_table(const Json& object, std::uint32_t rank, const NiTables& tables, const Unit& unit) {
  static constexpr std::array<std::string_view, 3> kKeys{"rank", "entries", "aggregation"};
  const auto named = [&](const Error& error, std::string_view list, std::size_t index) {
    return fail(error.code, "rank {} {} {}: {}", rank, list, index, error.text);
  };
  if (const Result<void> known = known_keys(object, kKeys); !known)
    return fail(known.error().code, "table {}: {}", rank, known.error().text);
  const Result<std::uint32_t> stated = small_number(object, "rank", kRanksMax);
  if (!stated || *stated != rank)
    return fail(Code::kMalformed, "table {}: {}", rank,
                stated ? fmt::format("'rank' is {}", *stated) : stated.error().text);
  NiTable table;
  HOCKET_TRY_ASSIGN(const Json* const entries, list_of(object, "entries"));
  for (const Json& line : *entries) {
    Result<NiEntry> entry = read_entry(line, tables, unit);
    if (!entry) return named(entry.error(), "entry", table.entries.size());
    table.entries.push_back(std::move(*entry));
  }
  HOCKET_TRY_ASSIGN(const Json* const arrivals, list_of(object, "aggregation"));
  for (const Json& line : *arrivals) {
    Result<NiArrival> arrival = read_arrival(line);
    if (!arrival) return named(arrival.error(), "aggregation", table.aggregation.size());
    table.aggregation.push_back(std::move(*arrival));
  }
  return table;
}

Result<Division> read_division(const Json& root) {
  static constexpr std::array<std::string_view, 4> kKeys{"blocks", "pieces_per_block", "uniform", "weights"};
  const auto at = root.find("division");
  if (at == root.end()) return fail(Code::kMalformed, "'division' is missing");
  HOCKET_TRY(known_keys(*at, kKeys));
  Division out;
  HOCKET_TRY_ASSIGN(out.blocks, small_number(*at, "blocks", kRanksMax));
  HOCKET_TRY_ASSIGN(out.pieces_per_block, small_number(*at, "pieces_per_block", kPiecesMax));
  const std::uint64_t pieces = std::uint64_t{out.blocks} * out.pieces_per_block;
  if (pieces == 0 || pieces > kPiecesMax)
    return fail(Code::kMalformed, "{} pieces: must be 1 to {}", pieces, kPiecesMax);
  if (const auto uniform = at->find("uniform"); uniform != at->end()) {
    if (!uniform->is_boolean()) return fail(Code::kMalformed, "'uniform' is {}", uniform->dump());
    out.uniform = uniform->get<bool>();
  }
  if (const auto weights = at->find("weights"); weights != at->end()) {
    HOCKET_TRY_ASSIGN(out.weights, numbers(*weights, "weights", 0xffff));
    const bool some = std::any_of(out.weights.begin(), out.weights.end(), [](std::uint32_t w) { return w > 0; });
    if (out.weights.size() != out.pieces_per_block || !some)
      return fail(Code::kMalformed, "{} weights for {} pieces, or all zero", out.weights.size(), out.pieces_per_block);
  }
  return out;
}

Result<Fingerprint> read_fingerprint(const Json& root) {
  HOCKET_TRY_ASSIGN(const std::string text, word(root, "topology"));
  Fingerprint out;
  const char* begin = text.data();
  const auto high = text.size() == 32 ? std::from_chars(begin, begin + 16, out.high, 16) : std::from_chars_result{};
  const auto low = text.size() == 32 ? std::from_chars(begin + 16, begin + 32, out.low, 16) : std::from_chars_result{};
  if (text.size() != 32 || high.ptr != begin + 16 || low.ptr != begin + 32)
    return fail(Code::kMalformed, "'topology' is '{}', expected a fingerprint of 32 hexadecimal digits",
                text.substr(0, 40));
  return out;
}

Result<Unit> read_unit(const Json& root) {
  HOCKET_TRY_ASSIGN(const std::string unit, word(root, "unit"));
  if (unit == "piece") return Unit{};
  if (unit != "byte") return fail(Code::kMalformed, "unit '{}'; known: piece, byte", unit.substr(0, 40));
  Unit out;
  HOCKET_TRY_ASSIGN(out.elements, number(root, "elements", kElementsMax));
  HOCKET_TRY_ASSIGN(const std::string type, word(root, "dtype"));
  HOCKET_TRY_ASSIGN(const DataType known, parse_data_type(type));
  out.size = size_of(known);
  if (out.elements > std::numeric_limits<std::int64_t>::max() / 2 / out.size)
    return fail(Code::kMalformed, "'elements' is {}, too many", out.elements);
  return out;
}

Result<void> read_flows(const Json& root, NiTables& tables) {
  static constexpr std::array<std::string_view, 3> kKeys{"root", "piece", "pieces"};
  HOCKET_TRY_ASSIGN(const Json* const flows, list_of(root, "flows"));
  for (const Json& line : *flows) {
    const std::size_t index = tables.flows.size();
    const auto read = [&]() -> Result<NiFlow> {
      HOCKET_TRY(known_keys(line, kKeys));
      NiFlow f;
      HOCKET_TRY_ASSIGN(f.root, small_number(line, "root", kRanksMax));
      HOCKET_TRY_ASSIGN(f.piece, small_number(line, "piece", kPiecesMax));
      HOCKET_TRY_ASSIGN(f.pieces, small_number(line, "pieces", kPiecesMax));
      if (f.piece + f.pieces > tables.division.pieces())
        return fail(Code::kMalformed, "pieces {} and {} on, but there are {}", f.piece, f.pieces,
                    tables.division.pieces());
      return f;
    };
    const Result<NiFlow> flow = read();
    if (!flow) return fail(flow.error().code, "flow {}: {}", index, flow.error().text);
    tables.flows.push_back(*flow);
  }
  return {};
}

Result<NiTables> read_root(const Json& root) {
  static constexpr std::array<std::string_view, 13> kKeys{
      "hocket_ni_tables", "algorithm", "collective", "ranks", "root", "division", "topology", "steps", "unit",
      "elements",         "dtype",     "flows",      "tables"};
  HOCKET_TRY(known_keys(root, kKeys));
  HOCKET_TRY_ASSIGN(const std::uint32_t version, small_number(root, "hocket_ni_tables", 0xffff));
  if (version != kVersion) return fail(Code::kUnsupported, "version {}, this program reads {}", version, kVersion);
  NiTables tables;
  HOCKET_TRY_ASSIGN(tables.algorithm, word(root, "algorithm"));
  HOCKET_TRY_ASSIGN(const std::string kind, word(root, "collective"));
  HOCKET_TRY_ASSIGN(tables.collective.kind, parse_collective(kind));
  if (tables.collective.kind == CollectiveKind::kAllToAll)
    return fail(Code::kMalformed, "all_to_all has no network-interface tables");
  HOCKET_TRY_ASSIGN(tables.collective.ranks, small_number(root, "ranks", kRanksMax));
  if (is_rooted(tables.collective.kind)) {
    HOCKET_TRY_ASSIGN(tables.collective.root, small_number(root, "root", kRanksMax));
  }
  HOCKET_TRY_ASSIGN(tables.division, read_division(root));
  const std::uint32_t blocks = is_blocked(tables.collective.kind) ? tables.collective.ranks : 1;
  if (tables.division.blocks != blocks)
    return fail(Code::kMismatch, "{} blocks; {} of {} ranks has {}", tables.division.blocks, kind,
                tables.collective.ranks, blocks);
  HOCKET_TRY_ASSIGN(tables.topology, read_fingerprint(root));
  HOCKET_TRY_ASSIGN(tables.steps, small_number(root, "steps", kStepsMax));
  HOCKET_TRY_ASSIGN(const Unit unit, read_unit(root));
  HOCKET_TRY(read_flows(root, tables));
  HOCKET_TRY_ASSIGN(const Json* const list, list_of(root, "tables"));
  if (tables.collective.ranks == 0 || list->size() != tables.collective.ranks)
    return fail(Code::kMismatch, "'ranks' is {} but there are {} tables", tables.collective.ranks, list->size());
  for (const Json& object : *list) {
    const auto rank = static_cast<std::uint32_t>(tables.ranks.size());
    HOCKET_TRY_ASSIGN(NiTable table, read_table(object, rank, tables, unit));
    tables.ranks.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

bool is_ni_tables(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.substr(first, 256).find("\"hocket_ni_tables\"") != std::string_view::npos;
}

Result<std::string> write_ni_tables(const NiTables& tables, const BoundCollective* amount) {
  Unit unit;
  if (amount != nullptr) unit = {amount->count, size_of(amount->type)};
  std::string out = "{\n" + head_lines(tables, amount);
  add_list(out, "flows", tables.flows, [](const NiFlow& f) {
    return Json({{"root", f.root}, {"piece", f.piece}, {"pieces", f.pieces}}).dump();
  });
  out += ",\n\"tables\": [";
  for (std::uint32_t rank = 0; rank < tables.ranks.size(); ++rank) {
    out += fmt::format("{}\n{{\"rank\": {},\n", rank == 0 ? "" : ",", rank);
    add_list(out, "entries", tables.ranks[rank].entries, [&](const NiEntry& e) { return entry_line(tables, e, unit); });
    out += ",\n";
    add_list(out, "aggregation", tables.ranks[rank].aggregation, arrival_line);
    out += "}";
    if (out.size() > kTextMax)
      return fail(Code::kUnsupported, "the tables of {} ranks and {} flows are over the limit of {} bytes of text",
                  tables.ranks.size(), tables.flows.size(), kTextMax);
  }
  return out + "\n]}\n";
}

Result<NiTables> read_ni_tables(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const Json root, parse_json(text, file_name, kTextMax));
  Result<NiTables> tables = with_printable_error(read_root(root));
  if (tables) return tables;
  return fail(tables.error().code, "{}: {}", file_name, tables.error().text);
}

}  // namespace hocket
