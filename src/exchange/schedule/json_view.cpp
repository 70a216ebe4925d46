// Schedule as JSON, version 1: the view of .hkt for people and scripts, complete and read back. One op a line:
//   {"op":"recv_reduce","peer":3,"source":"input 4","target":"scratch 0","count":2,"step":1,"after":[0,5]}
// A buffer is named with its first piece; `count` is 1, `channel` 0, `step` 0, `after` empty and `route` the shortest
// path when left out. `after` lists the ops of the same rank that must be whole first: all orderings are stated.
// Reading goes through ScheduleBuilder like .hkt; errors name line and column (syntax) or the place by rank and op.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "exchange/schedule_format.h"
#include "schedule/builder.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMark = "\"hocket_schedule\"";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kTextMax = std::size_t{64} << 20;
constexpr std::uint32_t kRanksMax = 1U << 22;
constexpr std::size_t kOpKinds = static_cast<std::size_t>(OpKind::kWait) + 1;
constexpr std::array<Buffer, 3> kBuffers{Buffer::kInput, Buffer::kOutput, Buffer::kScratch};

bool recognise(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{' && bytes.substr(first, 256).find(kMark) != bytes.npos;
}

// ---- writing

std::string place(const PieceRange& range) { return fmt::format("{} {}", name_of(range.buffer), range.piece); }

std::string op_line(const Schedule& s, OpId id, OpId base) {
  const Op& op = s.op(id);
  Json line;
  line["op"] = std::string(name_of(op.kind));
  if (op.sends() || op.receives()) line["peer"] = op.peer;
  if (op.reads_source()) line["source"] = place(op.source());
  if (op.writes_target()) line["target"] = place(op.target());
  const std::uint32_t usual = op.reads_source() || op.writes_target() ? 1 : 0;
  if (op.count != usual) line["count"] = op.count;
  if (op.channel != 0) line["channel"] = op.channel;
  if (op.route != kNoRoute) line["route"] = op.route;
  if (op.step != 0) line["step"] = op.step;
  for (const Dependency& d : s.dependencies(id)) line["after"].push_back(d.on() - base);
  return line.dump();
}

Json head_of(const Schedule& s) {
  Json head;
  head["hocket_schedule"] = kVersion;
  head["algorithm"] = s.algorithm();
  head["collective"] = std::string(name_of(s.collective().kind));
  head["ranks"] = s.rank_count();
  if (is_rooted(s.collective().kind)) head["root"] = s.collective().root;
  const Division& d = s.division();
  head["division"] = {{"blocks", d.blocks}, {"pieces_per_block", d.pieces_per_block}, {"uniform", d.uniform}};
  if (!d.weights.empty()) head["division"]["weights"] = d.weights;
  head["scratch_pieces"] = s.scratch_pieces();
  head["topology"] = s.topology().text();
  head["routes"] = Json::array();
  for (std::uint32_t r = 0; r < s.route_count(); ++r) {
    head["routes"].push_back(std::vector<std::uint32_t>(s.route(r).begin(), s.route(r).end()));
  }
  return head;
}

Result<std::string> write(const Schedule& s) {
  std::string out = "{\n";
  const Json head = head_of(s);
  for (const auto& [key, value] : head.items()) out += fmt::format("\"{}\": {},\n", key, value.dump());
  out += "\"programs\": [";
  for (std::uint32_t rank = 0; rank < s.rank_count(); ++rank) {
    const OpId base = s.first_op(rank);
    const OpId end = s.first_op(rank + 1);
    out += rank == 0 ? "\n[" : ",\n[";
    for (OpId id = base; id < end; ++id) out += fmt::format("{}{}", id == base ? "\n" : ",\n", op_line(s, id, base));
    out += base == end ? "]" : "\n]";
    if (out.size() > kTextMax) {
      return fail(Code::kUnsupported, "the JSON view of {} ops is over its limit of {} bytes; keep it as .hkt",
                  s.ops().size(), kTextMax);
    }
  }
  return out + "\n]}\n";
}

// ---- reading

/// A member that must be a whole number of 0..max; `fallback` when it may be left out.
Result<std::uint32_t> number(const Json& object, const char* key, std::uint64_t max,
                             std::optional<std::uint32_t> fallback = {}) {
  const auto at = object.find(key);
  if (at == object.end()) {
    if (fallback) return *fallback;
    return fail(Code::kMalformed, "'{}' is missing", key);
  }
  if (!at->is_number_unsigned() || at->get<std::uint64_t>() > max)
    return fail(Code::kMalformed, "'{}' is {}, expected a whole number up to {}", key, at->dump(), max);
  return static_cast<std::uint32_t>(at->get<std::uint64_t>());
}

Result<std::string> word(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return fail(Code::kMalformed, "'{}' is missing", key);
  if (!at->is_string()) return fail(Code::kMalformed, "'{}' is {}, expected a text", key, at->dump());
  return at->get<std::string>();
}

Result<std::vector<std::uint32_t>> numbers(const Json& list, std::string_view key) {
  std::vector<std::uint32_t> out;
  if (!list.is_array()) return fail(Code::kMalformed, "'{}' is not a list", key);
  for (const Json& item : list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      return fail(Code::kMalformed, "'{}' holds {}, expected whole numbers", key, item.dump());
    out.push_back(static_cast<std::uint32_t>(item.get<std::uint64_t>()));
  }
  return out;
}

/// Members that the format does not have are refused: a misspelt "channel" must not become channel 0.
Result<void> known_keys(const Json& object, std::span<const std::string_view> keys) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return fail(Code::kMalformed, "unknown member '{}'", key);
  }
  return {};
}

Result<PieceRange> range(const Json& object, const char* key, std::uint32_t count) {
  HOCKET_TRY_ASSIGN(const std::string text, word(object, key));
  for (const Buffer buffer : kBuffers) {
    const std::string_view name = name_of(buffer);
    if (text.size() < name.size() + 2 || !text.starts_with(name) || text[name.size()] != ' ') continue;
    PieceRange out{buffer, 0, count};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + name.size() + 1, end, out.piece);
    if (error == std::errc{} && stop == end) return out;
  }
  return fail(Code::kMalformed, "'{}' is '{}', expected input, output or scratch and a piece, as in \"input 4\"", key,
              text);
}

Result<OpKind> kind_of(const Json& object) {
  HOCKET_TRY_ASSIGN(const std::string name, word(object, "op"));
  for (std::size_t k = 0; k < kOpKinds; ++k) {
    if (name_of(static_cast<OpKind>(k)) == name) return static_cast<OpKind>(k);
  }
  return fail(Code::kMalformed, "unknown op '{}'", name);
}

/// Members that the kind has no use for are refused: they show that something else was meant.
Result<void> check_unused(const Json& line, const Op& op) {
  const bool used[3] = {op.sends() || op.receives(), op.reads_source(), op.writes_target()};
  constexpr std::array<const char*, 3> kKeys{"peer", "source", "target"};
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (!used[i] && line.contains(kKeys[i]))
      return fail(Code::kMalformed, "{} has no '{}'", name_of(op.kind), kKeys[i]);
  }
  return {};
}

Result<Op> read_op(const Json& line) {
  static constexpr std::array<std::string_view, 9> kKeys{"op",      "peer",  "source", "target", "count",
                                                         "channel", "route", "step",   "after"};
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (!line.is_object()) return fail(Code::kMalformed, "is {}, expected an object", line.dump());
  HOCKET_TRY(known_keys(line, kKeys));
  Op op;
  HOCKET_TRY_ASSIGN(op.kind, kind_of(line));
  HOCKET_TRY(check_unused(line, op));
  if (op.sends() || op.receives()) {
    HOCKET_TRY_ASSIGN(op.peer, number(line, "peer", kRanksMax));
  }
  const bool moves = op.reads_source() || op.writes_target();
  HOCKET_TRY_ASSIGN(op.count, number(line, "count", kSchedulePiecesMax, moves ? 1 : 0));
  HOCKET_TRY_ASSIGN(const std::uint32_t channel, number(line, "channel", 0xffff, 0));
  op.channel = static_cast<std::uint16_t>(channel);
  HOCKET_TRY_ASSIGN(op.route, number(line, "route", kMax - 1, kNoRoute));
  HOCKET_TRY_ASSIGN(op.step, number(line, "step", kMax - 1, 0));
  if (op.reads_source()) {
    HOCKET_TRY_ASSIGN(const PieceRange source, range(line, "source", op.count));
    op.source_piece = source.piece;
    op.buffers = static_cast<std::uint8_t>(source.buffer);
  }
  if (op.writes_target()) {
    HOCKET_TRY_ASSIGN(const PieceRange target, range(line, "target", op.count));
    op.target_piece = target.piece;
    op.buffers = static_cast<std::uint8_t>(op.buffers | static_cast<unsigned>(target.buffer) << 4);
  }
  return op;
}

Result<void> read_program(const Json& program, std::uint32_t rank, ScheduleBuilder& builder) {
  if (!program.is_array()) return fail(Code::kMalformed, "rank {}: its program is not a list", rank);
  builder.reserve(rank, program.size());
  std::uint32_t index = 0;
  for (const Json& line : program) {
    const Result<Op> op = read_op(line);
    if (!op) return fail(op.error().code, "rank {} op {}: {}", rank, index, op.error().text);
    const BuilderOp added = builder.add(rank, *op);
    if (const auto after = line.find("after"); after != line.end()) {
      const Result<std::vector<std::uint32_t>> earlier = numbers(*after, "after");
      if (!earlier) return fail(earlier.error().code, "rank {} op {}: {}", rank, index, earlier.error().text);
      for (const std::uint32_t on : *earlier) builder.depend(added, {rank, on});
    }
    ++index;
  }
  return {};
}

Result<Division> read_division(const Json& root) {
  static constexpr std::array<std::string_view, 4> kKeys{"blocks", "pieces_per_block", "uniform", "weights"};
  const auto at = root.find("division");
  if (at == root.end() || !at->is_object()) return fail(Code::kMalformed, "'division' is missing");
  HOCKET_TRY(known_keys(*at, kKeys));
  Division out;
  HOCKET_TRY_ASSIGN(out.blocks, number(*at, "blocks", kSchedulePiecesMax));
  HOCKET_TRY_ASSIGN(out.pieces_per_block, number(*at, "pieces_per_block", kSchedulePiecesMax));
  if (std::uint64_t{out.blocks} * out.pieces_per_block > kSchedulePiecesMax) {
    return fail(Code::kMalformed, "{} x {} pieces, limit is {}", out.blocks, out.pieces_per_block, kSchedulePiecesMax);
  }
  if (const auto uniform = at->find("uniform"); uniform != at->end()) {
    if (!uniform->is_boolean())
      return fail(Code::kMalformed, "'uniform' is {}, expected a truth value", uniform->dump());
    out.uniform = uniform->get<bool>();
  }
  if (const auto weights = at->find("weights"); weights != at->end()) {
    HOCKET_TRY_ASSIGN(out.weights, numbers(*weights, "weights"));
    std::uint64_t sum = 0;
    for (const std::uint32_t w : out.weights) sum += w;
    if (!out.weights.empty() && sum == 0) return fail(Code::kMalformed, "all weights are zero");
  }
  return out;
}

Result<Fingerprint> read_fingerprint(const Json& root) {
  if (!root.contains("topology")) return Fingerprint{};
  HOCKET_TRY_ASSIGN(const std::string text, word(root, "topology"));
  Fingerprint out;
  const char* begin = text.data();
  const auto high = text.size() == 32 ? std::from_chars(begin, begin + 16, out.high, 16) : std::from_chars_result{};
  const auto low = text.size() == 32 ? std::from_chars(begin + 16, begin + 32, out.low, 16) : std::from_chars_result{};
  if (text.size() != 32 || high.ptr != begin + 16 || low.ptr != begin + 32)
    return fail(Code::kMalformed, "'topology' is '{}', expected a fingerprint of 32 hexadecimal digits", text);
  return out;
}

Result<ScheduleBuilder> read_head(const Json& root) {
  HOCKET_TRY_ASSIGN(const std::uint32_t version, number(root, "hocket_schedule", 0xffff));
  if (version != kVersion) return fail(Code::kUnsupported, "version {}, this program reads {}", version, kVersion);
  HOCKET_TRY_ASSIGN(const std::string kind, word(root, "collective"));
  Collective collective;
  HOCKET_TRY_ASSIGN(collective.kind, parse_collective(kind));
  HOCKET_TRY_ASSIGN(collective.ranks, number(root, "ranks", kRanksMax));
  HOCKET_TRY_ASSIGN(collective.root, number(root, "root", kRanksMax, 0));
  const std::size_t programs = root.contains("programs") && root["programs"].is_array() ? root["programs"].size() : 0;
  if (collective.ranks == 0 || programs != collective.ranks)
    return fail(Code::kMismatch, "'ranks' is {} but there are {} programs", collective.ranks, programs);
  HOCKET_TRY_ASSIGN(Division division, read_division(root));
  HOCKET_TRY_ASSIGN(std::string algorithm, word(root, "algorithm"));
  ScheduleBuilder builder(collective, std::move(division), std::move(algorithm));
  builder.state_dependencies_by_hand();
  HOCKET_TRY_ASSIGN(const std::uint32_t scratch, number(root, "scratch_pieces", kScratchPiecesMax, 0));
  builder.set_scratch_pieces(scratch);
  HOCKET_TRY_ASSIGN(const Fingerprint topology, read_fingerprint(root));
  builder.set_topology(topology);
  return builder;
}

Result<Schedule> read_root(const Json& root) {
  static constexpr std::array<std::string_view, 10> kKeys{
      "hocket_schedule", "algorithm", "collective", "ranks",    "root",
      "division",        "topology",  "routes",     "programs", "scratch_pieces"};
  if (!root.is_object()) return fail(Code::kMalformed, "not an object");
  HOCKET_TRY(known_keys(root, kKeys));
  HOCKET_TRY_ASSIGN(ScheduleBuilder builder, read_head(root));
  if (const auto routes = root.find("routes"); routes != root.end()) {
    if (!routes->is_array()) return fail(Code::kMalformed, "'routes' is not a list");
    std::uint32_t index = 0;
    for (const Json& route : *routes) {
      HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> links, numbers(route, fmt::format("routes[{}]", index)));
      if (builder.add_route(links) != index++)
        return fail(Code::kMalformed, "route {} repeats an earlier one", index - 1);
    }
  }
  std::uint32_t rank = 0;
  for (const Json& program : root["programs"]) HOCKET_TRY(read_program(program, rank++, builder));
  return std::move(builder).finish();
}

Result<Schedule> read(std::string_view bytes, std::string_view file_name) {
  if (bytes.size() > kTextMax)
    return fail(Code::kUnsupported, "{}: {} bytes of JSON, limit is {}; keep it as .hkt", file_name, bytes.size(),
                kTextMax);
  Json root;
  try {
    root = Json::parse(bytes);
  } catch (const nlohmann::json::exception& error) {
    std::string_view text = error.what();
    text.remove_prefix(std::min(text.find("] ") + 2, text.size()));
    return fail(Code::kMalformed, "{}: {}", file_name, text);
  }
  Result<Schedule> schedule = read_root(root);
  if (schedule) return schedule;
  return fail(schedule.error().code, "{}: {}", file_name, schedule.error().text);
}

}  // namespace

extern const ScheduleFormat schedule_format_json_view{
    .name = "json",
    .extension = ".json",
    .description = "the JSON view of .hkt: complete, one op a line, read back",
    .recognise = recognise,
    .read = read,
    .write = write,
};

}  // namespace hocket
