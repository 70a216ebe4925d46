#include "schedule/builder.h"

#include <algorithm>

#include "base/assert.h"
#include "schedule/dependencies.h"
#include "schedule/matching.h"

namespace hocket {
namespace {

std::uint8_t pack(Buffer source, Buffer target) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(source) | static_cast<unsigned>(target) << 4);
}

Op make_op(OpKind kind, std::uint32_t peer, PieceRange source, PieceRange target, OpOptions options) {
  Op op;
  op.kind = kind;
  op.buffers = pack(source.buffer, target.buffer);
  op.channel = options.channel;
  op.peer = peer;
  op.source_piece = source.piece;
  op.target_piece = target.piece;
  op.count = source.count;
  op.route = options.route;
  op.step = options.step;
  return op;
}

/// Fields that the kind does not read get one fixed value, so that equal programs have equal fingerprints.
Op canonical(Op op, std::uint32_t rank) {
  const std::uint32_t source = op.buffers & 15;
  const std::uint32_t target = op.buffers >> 4;
  if (!op.sends() && !op.receives()) op.peer = rank;
  if (op.reads_source() && !op.writes_target()) {
    op.target_piece = op.source_piece;
    op.buffers = static_cast<std::uint8_t>(source | source << 4);
  } else if (op.writes_target() && !op.reads_source()) {
    op.source_piece = op.target_piece;
    op.buffers = static_cast<std::uint8_t>(target | target << 4);
  } else if (!op.reads_source()) {
    op.source_piece = op.target_piece = op.count = 0;
    op.buffers = 0;
  }
  return op;
}

constexpr std::size_t kOpsMax = 0x7ffffffe;

}  // namespace

ScheduleBuilder::ScheduleBuilder(Collective collective, Division division, std::string algorithm)
    : collective_(collective),
      division_(std::move(division)),
      algorithm_(std::move(algorithm)),
      programs_(collective.ranks) {}

BuilderOp ScheduleBuilder::add(std::uint32_t rank, const Op& op) {
  HOCKET_ASSERT(rank < programs_.size(), "rank out of range");
  programs_[rank].ops.push_back(canonical(op, rank));
  return {rank, static_cast<std::uint32_t>(programs_[rank].ops.size() - 1)};
}

BuilderOp ScheduleBuilder::send(std::uint32_t rank, std::uint32_t peer, PieceRange source, OpOptions options) {
  return add(rank, make_op(OpKind::kSend, peer, source, source, options));
}

BuilderOp ScheduleBuilder::recv(std::uint32_t rank, std::uint32_t peer, PieceRange target, OpOptions options) {
  return add(rank, make_op(OpKind::kRecv, peer, target, target, options));
}

BuilderOp ScheduleBuilder::recv_reduce(std::uint32_t rank, std::uint32_t peer, PieceRange local, PieceRange target,
                                       OpOptions options) {
  HOCKET_ASSERT(local.count == target.count, "recv_reduce ranges differ");
  return add(rank, make_op(OpKind::kRecvReduce, peer, local, target, options));
}

BuilderOp ScheduleBuilder::copy(std::uint32_t rank, PieceRange source, PieceRange target, OpOptions options) {
  HOCKET_ASSERT(source.count == target.count, "copy ranges differ");
  return add(rank, make_op(OpKind::kCopy, rank, source, target, options));
}

BuilderOp ScheduleBuilder::reduce(std::uint32_t rank, PieceRange source, PieceRange target, OpOptions options) {
  HOCKET_ASSERT(source.count == target.count, "reduce ranges differ");
  return add(rank, make_op(OpKind::kReduce, rank, source, target, options));
}

BuilderOp ScheduleBuilder::signal(std::uint32_t rank, std::uint32_t peer, OpOptions options) {
  const PieceRange none{Buffer::kInput, 0, 0};
  return add(rank, make_op(OpKind::kSignal, peer, none, none, options));
}

BuilderOp ScheduleBuilder::wait(std::uint32_t rank, std::uint32_t peer, OpOptions options) {
  const PieceRange none{Buffer::kInput, 0, 0};
  return add(rank, make_op(OpKind::kWait, peer, none, none, options));
}

void ScheduleBuilder::depend(BuilderOp later, BuilderOp earlier) {
  HOCKET_ASSERT(later.rank == earlier.rank, "a dependency stays inside one rank");
  programs_[later.rank].extra.emplace_back(later.index, earlier.index);
}

void ScheduleBuilder::set_origin(BuilderOp op, OpOrigin origin) {
  Program& program = programs_[op.rank];
  program.origins.resize(program.ops.size());
  program.origins[op.index] = origin;
}

std::uint32_t ScheduleBuilder::add_route(std::span<const std::uint32_t> links) {
  Hasher hasher;
  for (const std::uint32_t link : links) hasher.add(link);
  const std::pair<std::uint64_t, std::uint32_t> key{hasher.finish().high, 0};
  auto at = std::lower_bound(route_index_.begin(), route_index_.end(), key);
  for (; at != route_index_.end() && at->first == key.first; ++at) {
    const std::uint32_t begin = route_begin_[at->second];
    const std::uint32_t length = route_begin_[at->second + 1] - begin;
    if (std::equal(links.begin(), links.end(), route_links_.begin() + begin, route_links_.begin() + begin + length)) {
      return at->second;
    }
  }
  const auto index = static_cast<std::uint32_t>(route_begin_.size() - 1);
  route_links_.insert(route_links_.end(), links.begin(), links.end());
  route_begin_.push_back(static_cast<std::uint32_t>(route_links_.size()));
  route_index_.insert(at, {key.first, index});
  return index;
}

Result<void> ScheduleBuilder::check_range(const PieceRange& range) const {
  const std::uint64_t end = std::uint64_t{range.piece} + range.count;
  const std::uint64_t limit = range.buffer == Buffer::kScratch ? scratch_pieces_ : division_.pieces();
  if (range.buffer > Buffer::kScratch)
    return fail(Code::kMalformed, "buffer {} is none of the three there are", static_cast<int>(range.buffer));
  if (range.count == 0) return fail(Code::kMalformed, "an op covers no piece");
  if (end > limit) {
    return fail(Code::kMalformed, "{} pieces {}..{} exceed the {} there are", name_of(range.buffer), range.piece,
                end - 1, limit);
  }
  if (range.piece / division_.pieces() != (end - 1) / division_.pieces()) {
    return fail(Code::kMalformed, "scratch pieces {}..{} cross a multiple of {}", range.piece, end - 1,
                division_.pieces());
  }
  return {};
}

Result<void> ScheduleBuilder::check(std::uint32_t rank, const Op& op) const {
  if (op.sends() || op.receives()) {
    if (op.peer >= collective_.ranks)
      return fail(Code::kMalformed, "rank {}: peer {} is not below the {} ranks", rank, op.peer, collective_.ranks);
    if (op.peer == rank) return fail(Code::kMalformed, "rank {}: a message to itself", rank);
  }
  if (op.route != kNoRoute && op.route + 1 >= route_begin_.size())
    return fail(Code::kMalformed, "rank {}: route {} does not exist", rank, op.route);
  for (const Access& access : Accesses(op)) {
    if (auto ok = check_range(access.range); !ok) {
      return fail(ok.error().code, "rank {} {}: {}", rank, name_of(op.kind), ok.error().text);
    }
  }
  return {};
}

Result<void> ScheduleBuilder::append(Schedule& schedule, std::uint32_t rank, DependencyDeriver& deriver) {
  Program& program = programs_[rank];
  const auto base = static_cast<OpId>(schedule.ops_.size());
  if (base + program.ops.size() > kOpsMax)
    return fail(Code::kResourceExhausted, "schedule has more than {} ops", kOpsMax);
  std::sort(program.extra.begin(), program.extra.end());
  auto extra = program.extra.begin();
  std::vector<std::uint32_t> waits;
  deriver.start_rank();
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    Op& op = program.ops[i];
    HOCKET_TRY(check(rank, op));
    waits.clear();
    if (derive_) deriver.visit(i, op, waits);
    for (; extra != program.extra.end() && extra->first == i; ++extra) {
      if (extra->second >= program.ops.size() || extra->second == i) {
        return fail(Code::kMalformed, "rank {} op {} depends on op {}, which does not exist before it", rank, i,
                    extra->second);
      }
      waits.push_back(extra->second);
    }
    std::sort(waits.begin(), waits.end());
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    op.first_dependency = static_cast<std::uint32_t>(schedule.dependencies_.size());
    for (const std::uint32_t earlier : waits) {
      schedule.dependencies_.emplace_back(base + earlier,
                                          is_streaming(program.ops[earlier], op, may_alias(collective_.kind)));
    }
    schedule.steps_ = std::max(schedule.steps_, op.step + 1);
  }
  schedule.ops_.insert(schedule.ops_.end(), program.ops.begin(), program.ops.end());
  if (!program.origins.empty()) {
    program.origins.resize(program.ops.size());
    schedule.origins_.resize(base);
    schedule.origins_.insert(schedule.origins_.end(), program.origins.begin(), program.origins.end());
  }
  program = Program{};  // frees the memory while the arena grows
  return {};
}

Result<Schedule> ScheduleBuilder::finish() && {
  if (collective_.ranks == 0) return fail(Code::kInvalidArgument, "a schedule needs at least 1 rank");
  if (is_rooted(collective_.kind) && collective_.root >= collective_.ranks) {
    return fail(Code::kInvalidArgument, "root {} is not below the {} ranks", collective_.root, collective_.ranks);
  }
  if (division_.pieces() == 0) return fail(Code::kMalformed, "the division has no piece");
  if (!division_.weights.empty() && division_.weights.size() != division_.pieces_per_block) {
    return fail(Code::kMalformed, "{} weights for {} pieces", division_.weights.size(), division_.pieces_per_block);
  }
  const std::uint32_t blocks = is_blocked(collective_.kind) ? collective_.ranks : 1;
  if (division_.blocks != blocks)
    return fail(Code::kMalformed, "{} needs {} blocks, the division has {}", name_of(collective_.kind), blocks,
                division_.blocks);
  Schedule schedule;
  std::size_t total = 0;
  for (const Program& program : programs_) total += program.ops.size();
  schedule.ops_.reserve(total);
  schedule.dependencies_.reserve(total);
  DependencyDeriver deriver(division_.pieces(), scratch_pieces_, may_alias(collective_.kind));
  for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) {
    schedule.rank_begin_.push_back(static_cast<OpId>(schedule.ops_.size()));
    HOCKET_TRY(append(schedule, rank, deriver));
  }
  schedule.rank_begin_.push_back(static_cast<OpId>(schedule.ops_.size()));
  if (!schedule.origins_.empty()) schedule.origins_.resize(schedule.ops_.size());
  schedule.collective_ = collective_;
  schedule.division_ = std::move(division_);
  schedule.algorithm_ = std::move(algorithm_);
  schedule.scratch_pieces_ = scratch_pieces_;
  schedule.route_begin_ = std::move(route_begin_);
  schedule.route_links_ = std::move(route_links_);
  schedule.topology_ = topology_;
  schedule.matches_ = match_messages(schedule.ops_, schedule.rank_begin_);
  return schedule;
}

Schedule ScheduleBuilder::with_routes(Schedule schedule, std::span<const std::vector<std::uint32_t>> routes,
                                      Fingerprint topology) {
  ScheduleBuilder book(schedule.collective_, schedule.division_, {});
  for (OpId id = 0; id < schedule.ops_.size(); ++id) {
    Op& op = schedule.ops_[id];
    op.route = op.sends() ? book.add_route(routes[id]) : kNoRoute;
  }
  schedule.route_begin_ = std::move(book.route_begin_);
  schedule.route_links_ = std::move(book.route_links_);
  schedule.topology_ = topology;
  return schedule;
}

}  // namespace hocket
