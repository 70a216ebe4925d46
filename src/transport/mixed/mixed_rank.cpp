#include "transport/mixed/mixed_rank.h"

#include <algorithm>

namespace hocket {
namespace {

/// Also from the circle of sends that are alike.
void leave_out(MessageProgram& program, std::size_t index) {
  const auto op = [&program](OpId id) -> MessageOp& { return program.ops[id - program.first_op]; };
  const OpId next = program.ops[index].alike;
  const auto id = program.first_op + static_cast<OpId>(index);
  if (next != kNoOp) {
    OpId before = next;
    while (op(before).alike != id) before = op(before).alike;
    op(before).alike = next == before ? kNoOp : next;
  }
  program.ops[index] = {};
}

}  // namespace

struct MixedRank::Halves final : LoadedProgram {
  std::unique_ptr<LoadedProgram> near;
  std::unique_ptr<LoadedProgram> far;
};

MixedRank::MixedRank(HostGroup host, std::unique_ptr<TcpRank> far)
    : host_(std::move(host)), place_(far->rank_count(), -1), far_(std::move(far)) {
  for (std::size_t i = 0; i < host_.ranks.size(); ++i) place_[host_.ranks[i]] = static_cast<std::int32_t>(i);
}

std::unique_ptr<MixedRank> MixedRank::make(std::uint32_t rank, const std::vector<std::string>& names, HostGroup host,
                                           std::unique_ptr<TcpRank> far, bool lends) {
  std::unique_ptr<MixedRank> made(new MixedRank(std::move(host), std::move(far)));
  MixedRank& mixed = *made;
  std::vector<std::string> host_names;
  host_names.reserve(mixed.host_.ranks.size());
  for (const std::uint32_t r : mixed.host_.ranks) host_names.push_back(names[r]);
  const auto place = static_cast<std::uint32_t>(mixed.place_[rank]);
  std::vector<Descriptor> unwatched(host_names.size());
  mixed.near_ = ShmRank::make(
      place, std::move(host_names), mixed.host_.segment, std::move(unwatched),
      {.lends = lends, .wake = [&mixed](std::uint32_t peer) { mixed.far_->nudge(mixed.host_.ranks[peer]); }});
  mixed.far_->count_in(*mixed.near_, mixed.place_);
  return made;
}

Result<std::unique_ptr<LoadedProgram>> MixedRank::load(MessageProgram program) {
  MessageProgram near{program.plan, program.what, program.first_op, program.ops};
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    if (program.ops[i].role == MessageOp::Role::kNone) continue;
    const bool stays = is_near(program.ops[i].end.peer);
    if (stays) near.ops[i].end = to_host(near.ops[i].end);
    leave_out(stays ? program : near, i);
  }
  auto halves = std::make_unique<Halves>();
  HOCKET_TRY_ASSIGN(halves->near, near_->load(std::move(near)));
  HOCKET_TRY_ASSIGN(halves->far, far_->load(std::move(program)));
  return std::unique_ptr<LoadedProgram>(std::move(halves));
}

void MixedRank::begin(LoadedProgram& program) {
  auto& halves = static_cast<Halves&>(program);
  near_->begin(*halves.near);
  far_->begin(*halves.far);
}

void MixedRank::end() {
  near_->end();
  far_->end();
}

/// Memory first: its sleepers are woken over the sockets.
bool MixedRank::poll(TransportEvents& events) {
  const bool moved = near_->poll(events);
  return far_->poll(events) || moved;
}

void MixedRank::rest(SteadyTime until) {
  if (near_->doze()) far_->rest(std::min(until, near_->verdict_at()));
  near_->rise();
}

void MixedRank::fail(const Error& error) {
  near_->fail(error);
  far_->fail(error);
}

void MixedRank::listen() {
  near_->listen();
  far_->listen();
}

}  // namespace hocket
