// .hkt, version 1: our own schedule file. Little-endian; sections in order: magic, version, collective, division,
// algorithm name, scratch pieces, topology fingerprint, routes, then per rank its ops (28 bytes) with their
// dependencies, and at the end a hash of everything before it. Reading goes through ScheduleBuilder, so a file cannot
// hold more than an algorithm could build; nothing is trusted, counts are checked against the bytes left before memory
// is taken.
#include <cstring>

#include "exchange/schedule_format.h"
#include "schedule/builder.h"

namespace hocket {
namespace {

constexpr std::string_view kMagic = "HOCKET\x1a\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kRanksMax = 1U << 22;
constexpr std::size_t kOpBytes = 32;

class Writer {
 public:
  void u32(std::uint64_t value) { put(value, 4); }
  void u64(std::uint64_t value) { put(value, 8); }
  void text(std::string_view value) {
    u32(value.size());
    bytes_ += value;
  }
  void raw(std::string_view value) { bytes_ += value; }
  std::string finish() && {
    Hasher hasher;
    hasher.add(std::string_view(bytes_));
    const Fingerprint hash = hasher.finish();
    u64(hash.high);
    return std::move(bytes_);
  }

 private:
  void put(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
  std::string bytes_;
};

/// Reads past the end give zero and set a flag, checked once per section.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t u32() { return static_cast<std::uint32_t>(get(4)); }
  std::uint64_t u64() { return get(8); }
  std::string text() {
    const std::uint32_t size = u32();
    if (size > left()) return overrun_ = true, std::string();
    at_ += size;
    return std::string(bytes_.substr(at_ - size, size));
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool overrun() const { return overrun_; }

 private:
  std::uint64_t get(std::size_t size) {
    if (left() < size) {
      at_ = bytes_.size();
      overrun_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
    }
    at_ += size;
    return value;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool overrun_ = false;
};

bool recognise(std::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

void write_op(Writer& out, const Schedule& s, OpId id, OpId base) {
  const Op& op = s.op(id);
  const std::span<const Dependency> dependencies = s.dependencies(id);
  out.u32(static_cast<std::uint64_t>(op.kind) | std::uint64_t{op.buffers} << 8 | std::uint64_t{op.channel} << 16);
  for (const std::uint32_t word : {op.peer, op.source_piece, op.target_piece, op.count, op.route, op.step})
    out.u32(word);
  out.u32(dependencies.size());
  for (const Dependency& d : dependencies) out.u32(d.on() - base);
}

Result<std::string> write(const Schedule& s) {
  Writer out;
  out.raw(kMagic);
  out.u32(kVersion);
  out.u32(static_cast<std::uint64_t>(s.collective().kind));
  out.u32(s.collective().ranks);
  out.u32(s.collective().root);
  const Division& d = s.division();
  out.u32(d.blocks);
  out.u32(d.pieces_per_block);
  out.u32(d.uniform ? 1 : 0);
  out.u32(d.weights.size());
  for (const std::uint32_t w : d.weights) out.u32(w);
  out.text(s.algorithm());
  out.u32(s.scratch_pieces());
  out.u64(s.topology().high);
  out.u64(s.topology().low);
  out.u32(s.route_count());
  for (std::uint32_t r = 0; r < s.route_count(); ++r) {
    out.u32(s.route(r).size());
    for (const std::uint32_t link : s.route(r)) out.u32(link);
  }
  for (std::uint32_t rank = 0; rank < s.rank_count(); ++rank) {
    const OpId base = s.first_op(rank);
    out.u32(s.first_op(rank + 1) - base);
    for (OpId id = base; id < s.first_op(rank + 1); ++id) write_op(out, s, id, base);
  }
  return std::move(out).finish();
}

Result<void> read_rank(Reader& in, ScheduleBuilder& builder, std::uint32_t rank) {
  const std::uint32_t count = in.u32();
  if (in.left() / kOpBytes < count)
    return fail(Code::kMalformed, "rank {}: {} ops do not fit the {} bytes left", rank, count, in.left());
  builder.reserve(rank, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t head = in.u32();
    Op op;
    if ((head & 0xff) > static_cast<std::uint32_t>(OpKind::kWait))
      return fail(Code::kMalformed, "rank {} op {}: unknown kind {}", rank, i, head & 0xff);
    op.kind = static_cast<OpKind>(head & 0xff);
    op.buffers = static_cast<std::uint8_t>(head >> 8);
    if ((op.buffers & 15) > 2 || (op.buffers >> 4) > 2)
      return fail(Code::kMalformed, "rank {} op {}: unknown buffer", rank, i);
    op.channel = static_cast<std::uint16_t>(head >> 16);
    for (std::uint32_t* word : {&op.peer, &op.source_piece, &op.target_piece, &op.count, &op.route, &op.step})
      *word = in.u32();
    const std::uint32_t waits = in.u32();
    if (in.left() / 4 < waits)
      return fail(Code::kMalformed, "rank {} op {}: {} dependencies do not fit", rank, i, waits);
    const BuilderOp added = builder.add(rank, op);
    for (std::uint32_t w = 0; w < waits; ++w) builder.depend(added, {rank, in.u32()});
  }
  return {};
}

Result<void> read_routes(Reader& in, ScheduleBuilder& builder) {
  const std::uint32_t routes = in.u32();
  for (std::uint32_t r = 0; r < routes && !in.overrun(); ++r) {
    const std::uint32_t hops = in.u32();
    if (in.left() / 4 < hops)
      return fail(Code::kMalformed, "route {}: {} links do not fit the {} bytes left", r, hops, in.left());
    std::vector<std::uint32_t> links(hops);
    for (std::uint32_t& link : links) link = in.u32();
    if (builder.add_route(links) != r) return fail(Code::kMalformed, "route {} repeats an earlier one", r);
  }
  return {};
}

Result<ScheduleBuilder> read_head(Reader& in) {
  Collective collective;
  const std::uint32_t kind = in.u32();
  if (kind >= kCollectiveKinds) return fail(Code::kMalformed, "unknown collective {}", kind);
  collective.kind = static_cast<CollectiveKind>(kind);
  collective.ranks = in.u32();
  collective.root = in.u32();
  if (collective.ranks == 0 || collective.ranks > kRanksMax)
    return fail(Code::kMalformed, "{} ranks, limit is {}", collective.ranks, kRanksMax);
  if (in.left() / 4 < collective.ranks)
    return fail(Code::kMalformed, "{} ranks do not fit the {} bytes left", collective.ranks, in.left());
  Division division;
  division.blocks = in.u32();
  division.pieces_per_block = in.u32();
  division.uniform = in.u32() != 0;
  const std::uint32_t weights = in.u32();
  if (in.left() / 4 < weights)
    return fail(Code::kMalformed, "{} weights do not fit the {} bytes left", weights, in.left());
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < weights; ++i) {
    division.weights.push_back(in.u32());
    sum += division.weights.back();
  }
  if (weights > 0 && sum == 0) return fail(Code::kMalformed, "all weights are zero");
  if (std::uint64_t{division.blocks} * division.pieces_per_block > kSchedulePiecesMax) {
    return fail(Code::kMalformed, "{} x {} pieces, limit is {}", division.blocks, division.pieces_per_block,
                kSchedulePiecesMax);
  }
  std::string algorithm = in.text();
  ScheduleBuilder builder(collective, std::move(division), std::move(algorithm));
  builder.state_dependencies_by_hand();
  const std::uint32_t scratch = in.u32();
  if (scratch > kScratchPiecesMax)
    return fail(Code::kMalformed, "{} scratch pieces, limit is {}", scratch, kScratchPiecesMax);
  builder.set_scratch_pieces(scratch);
  Fingerprint topology;
  topology.high = in.u64();
  topology.low = in.u64();
  builder.set_topology(topology);
  return builder;
}

Result<Schedule> read_body(Reader& in) {
  if (const std::uint32_t version = in.u32(); version != kVersion) {
    return fail(Code::kUnsupported, "version {}, this program reads {}", version, kVersion);
  }
  HOCKET_TRY_ASSIGN(ScheduleBuilder builder, read_head(in));
  HOCKET_TRY(read_routes(in, builder));
  const std::uint32_t ranks = builder.rank_count();
  for (std::uint32_t rank = 0; rank < ranks && !in.overrun(); ++rank) HOCKET_TRY(read_rank(in, builder, rank));
  if (in.overrun()) return fail(Code::kMalformed, "ends in the middle");
  if (in.left() != 0) return fail(Code::kMalformed, "{} bytes too many", in.left());
  return std::move(builder).finish();
}

Result<Schedule> read(std::string_view bytes, std::string_view file_name) {
  if (bytes.size() < kMagic.size() + 12)
    return fail(Code::kMalformed, "{}: byte {}: ends in the middle", file_name, bytes.size());
  const std::string_view body = bytes.substr(0, bytes.size() - 8);
  Hasher hasher;
  hasher.add(body);
  Reader tail(bytes.substr(bytes.size() - 8));
  if (tail.u64() != hasher.finish().high)
    return fail(Code::kMalformed, "{}: damaged or cut short: the hash at its end does not match", file_name);
  Reader in(body.substr(kMagic.size()));
  Result<Schedule> schedule = read_body(in);
  if (schedule) return schedule;
  return fail(schedule.error().code, "{}: near byte {}: {}", file_name, kMagic.size() + in.at(), schedule.error().text);
}

}  // namespace

extern const ScheduleFormat schedule_format_hkt{
    .name = "hkt",
    .extension = ".hkt",
    .description = "hocket's own schedule file, binary, complete, with a hash",
    .recognise = recognise,
    .read = read,
    .write = write,
};

}  // namespace hocket
