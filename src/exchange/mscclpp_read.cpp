// Reads MSCCL++ plans: puts become sends, the wait that meets their signal becomes their receives, a signal without
// puts stays one. A put lands when its sender likes, so its receive waits for nothing but the signals that the sender
// had from that GPU before: a missing one shows as a race. Thread blocks are sequential: `nop` is not looked at.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "exchange/json_text.h"
#include "exchange/mscclpp.h"
#include "exchange/mscclpp_plan.h"
#include "schedule/builder.h"

namespace hocket {
namespace {

using Kind = MscclppPlan::Kind;
using Operation = MscclppPlan::Operation;
using Channel = MscclppPlan::Channel;
using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;  // from, to, number
using BlockId = std::pair<std::uint32_t, std::size_t>;                       // gpu, thread block

/// A signal of a connection, by its number there.
struct SignalId {
  Connection connection;
  std::size_t index = 0;
};

struct Put {
  MscclppPlan::Chunk target;
  std::vector<SignalId> ready;  // what its sender had been told by the receiver before
};

/// What every signal of every connection stands for: the puts before it.
class Signals {
 public:
  Result<void> collect(const MscclppPlan& plan) {
    for (std::uint32_t gpu = 0; gpu < plan.gpus.size(); ++gpu) {
      for (std::size_t b = 0; b < plan.gpus[gpu].blocks.size(); ++b)
        HOCKET_TRY(collect_block(plan.gpus[gpu].blocks[b], {gpu, b}));
    }
    return {};
  }

  [[nodiscard]] const std::vector<std::vector<Put>>& of(const Connection& connection) const {
    static const std::vector<std::vector<Put>> kNone;
    const auto found = batches_.find(connection);
    return found == batches_.end() ? kNone : found->second;
  }
  [[nodiscard]] std::uint16_t number_of(const Operation& op, std::size_t target) const {
    return numbers_.at({&op, target});
  }

 private:
  struct Open {
    const Operation* op;
    std::size_t target;
    Put put;
  };

  Result<void> collect_block(const std::vector<Operation>& ops, BlockId block) {
    std::map<std::uint32_t, std::vector<Open>> open;  // by receiver
    std::map<Connection, std::size_t> waited;
    for (const Operation& op : ops) {
      if (op.kind == Kind::kWait) {
        for (const Channel& c : op.channels) {
          const Connection from{c.peer, block.first, c.number};
          HOCKET_TRY(own(waiters_, from, block, op));
          ++waited[from];
        }
      }
      for (std::size_t t = 0; t < op.targets.size(); ++t) {
        const std::uint32_t peer = op.targets[t].gpu;
        if (peer == MscclppPlan::kHere) continue;
        Put put{op.targets[t], {}};
        for (const auto& [connection, count] : waited) {
          if (std::get<0>(connection) == peer) put.ready.push_back({connection, count - 1});
        }
        open[peer].push_back({&op, t, std::move(put)});
      }
      if (op.kind == Kind::kSignal || op.signals) HOCKET_TRY(close(op, block, open));
    }
    for (const auto& [peer, puts] : open) {
      if (!puts.empty()) return fail(Code::kDisproved, "{}: gpu {} is never signalled", puts.front().op->place, peer);
    }
    return {};
  }

  Result<void> close(const Operation& op, BlockId block, std::map<std::uint32_t, std::vector<Open>>& open) {
    for (const Channel& c : op.channels) {
      const Connection to{block.first, c.peer, c.number};
      HOCKET_TRY(own(signallers_, to, block, op));
      std::vector<Put> batch;
      for (Open& put : open[c.peer]) {
        numbers_[{put.op, put.target}] = c.number;
        batch.push_back(std::move(put.put));
      }
      open[c.peer].clear();
      batches_[to].push_back(std::move(batch));
    }
    return {};
  }

  static Result<void> own(std::map<Connection, BlockId>& owners, const Connection& connection, BlockId block,
                          const Operation& op) {
    const BlockId owner = owners.try_emplace(connection, block).first->second;
    if (owner == block) return {};
    return fail(Code::kUnsupported, "{}: thread blocks {} and {} share one end of a channel", op.place, owner.second,
                block.second);
  }

  std::map<Connection, std::vector<std::vector<Put>>> batches_;
  std::map<std::pair<const Operation*, std::size_t>, std::uint16_t> numbers_;
  std::map<Connection, BlockId> waiters_, signallers_;
};

class PlanBuilder {
 public:
  explicit PlanBuilder(const MscclppPlan& plan) : plan_(plan) {}

  Result<Schedule> build() {
    HOCKET_TRY(divide());
    HOCKET_TRY(signals_.collect(plan_));
    HOCKET_TRY(decide_root());
    builder_.emplace(collective_, division_, plan_.name.empty() ? "mscclpp" : plan_.name.substr(0, 256));
    builder_->state_dependencies_by_hand();
    std::uint32_t scratch = 0;
    for (rank_ = 0; rank_ < plan_.gpus.size(); ++rank_) {
      scratch = std::max(scratch, plan_.gpus[rank_].scratch);
      HOCKET_TRY(build_gpu());
    }
    builder_->set_scratch_pieces(scratch);
    for (const auto& [receive, ready] : ready_) builder_->depend(receive, signalled_[ready.connection][ready.index]);
    return std::move(*builder_).finish();
  }

 private:
  Result<void> divide() {
    const MscclppPlan::Gpu& first = plan_.gpus.front();
    collective_ = {plan_.kind, static_cast<std::uint32_t>(plan_.gpus.size()), 0};
    division_.uniform = true;
    division_.blocks = is_blocked(plan_.kind) ? collective_.ranks : 1;
    const std::uint32_t pieces = plan_.kind == CollectiveKind::kAllGather ? first.outputs : first.inputs;
    if (pieces == 0 || pieces % division_.blocks != 0)
      return fail(Code::kMalformed, "{} chunks cannot be shared by {} gpus", pieces, collective_.ranks);
    division_.pieces_per_block = pieces / division_.blocks;
    const std::uint32_t inputs = plan_.kind == CollectiveKind::kAllGather ? division_.pieces_per_block : pieces;
    const std::uint32_t outputs = plan_.kind == CollectiveKind::kReduceScatter ? division_.pieces_per_block : pieces;
    for (std::size_t id = 0; id < plan_.gpus.size(); ++id) {
      const MscclppPlan::Gpu& gpu = plan_.gpus[id];
      // A plan in place may count the whole vector as the buffer of its own part.
      const bool whole = plan_.in_place && gpu.inputs == pieces && gpu.outputs == pieces;
      if (whole || (gpu.inputs == inputs && gpu.outputs == outputs)) continue;
      return fail(Code::kMalformed, "gpu {}: {} input and {} output chunks, expected {} and {}", id, gpu.inputs,
                  gpu.outputs, inputs, outputs);
    }
    return {};
  }

  /// A broadcast does not name its root: it is the one gpu that nothing is put to.
  Result<void> decide_root() {
    if (!is_rooted(plan_.kind)) return {};
    if (plan_.kind == CollectiveKind::kReduce) return fail(Code::kUnsupported, "MSCCL++ has no reduce");
    std::vector<bool> receives(plan_.gpus.size(), false);
    for (const MscclppPlan::Gpu& gpu : plan_.gpus) {
      for (const auto& ops : gpu.blocks) {
        for (const Operation& op : ops) {
          for (const MscclppPlan::Chunk& target : op.targets) {
            if (target.gpu != MscclppPlan::kHere) receives[target.gpu] = true;
          }
        }
      }
    }
    const auto roots = std::count(receives.begin(), receives.end(), false);
    if (roots != 1) return fail(Code::kUnsupported, "the root cannot be told: {} gpus could be it", roots);
    const auto root = std::find(receives.begin(), receives.end(), false) - receives.begin();
    collective_.root = static_cast<std::uint32_t>(root);
    return {};
  }

  Result<void> build_gpu() {
    copied_ = copy_input();
    released_.clear();
    acquired_.clear();
    arrived_.clear();
    passed_.clear();
    for (std::size_t b = 0; b < plan_.gpus[rank_].blocks.size(); ++b) {
      block_ = b;
      before_.clear();
      if (copied_) before_.push_back(*copied_);
      pending_.clear();
      barriers_.clear();
      for (std::size_t i = 0; i < plan_.gpus[rank_].blocks[b].size(); ++i) {
        step_ = static_cast<std::uint32_t>(i);
        HOCKET_TRY(build_op(plan_.gpus[rank_].blocks[b][i]));
      }
    }
    HOCKET_TRY(join_semaphores());
    return join_barriers();
  }

  /// In place, input and output are one buffer: the output, which starts as a copy of the input.
  std::optional<BuilderOp> copy_input() {
    const bool takes_part = plan_.kind != CollectiveKind::kBroadcast || rank_ == collective_.root;
    if (!works_in_output() || !takes_part) return std::nullopt;
    PieceRange range{Buffer::kInput, 0, division_.pieces()};
    const std::uint32_t own = division_.pieces_per_block;
    if (plan_.kind == CollectiveKind::kAllGather) range = {Buffer::kInput, rank_ * own, own};
    return builder_->copy(rank_, range, {Buffer::kOutput, range.piece, range.count});
  }

  [[nodiscard]] bool works_in_output() const {
    return plan_.in_place && plan_.kind != CollectiveKind::kReduceScatter && plan_.kind != CollectiveKind::kAllToAll;
  }

  [[nodiscard]] PieceRange pieces_of(PieceRange range, std::uint32_t rank) const {
    const std::uint32_t own = rank * division_.pieces_per_block;
    if (range.buffer == Buffer::kInput && plan_.kind == CollectiveKind::kAllGather && !plan_.in_place)
      range.piece += own;
    if (range.buffer == Buffer::kOutput && plan_.kind == CollectiveKind::kReduceScatter) range.piece += own;
    if (range.buffer == Buffer::kInput && works_in_output()) range.buffer = Buffer::kOutput;
    return range;
  }
  [[nodiscard]] PieceRange here(const MscclppPlan::Chunk& chunk) const { return pieces_of(chunk.range, rank_); }

  /// `op` follows all that the thread block has done and waited for.
  BuilderOp follow(BuilderOp op) {
    builder_->set_origin(op, {static_cast<std::uint32_t>(block_), step_});
    for (const BuilderOp& earlier : before_) builder_->depend(op, earlier);
    for (const std::uint32_t semaphore : pending_) acquired_[semaphore].push_back(op);
    for (const auto& barrier : barriers_) passed_.emplace_back(op, barrier);
    pending_.clear();
    barriers_.clear();
    before_ = {op};
    return op;
  }
  BuilderOp follow_nothing() { return follow(builder_->add(rank_, Op{})); }

  Result<void> build_op(const Operation& op) {
    switch (op.kind) {
      case Kind::kNop:
        return {};
      case Kind::kCopy:
        follow(builder_->copy(rank_, here(op.sources[0]), here(op.targets[0])));
        return {};
      case Kind::kReduce:
      case Kind::kPut:
        if (op.kind == Kind::kReduce) reduce(op);
        put(op);
        return {};
      case Kind::kSignal:
        signal(op);
        return {};
      case Kind::kWait:
        return wait(op);
      case Kind::kAcquire:
      case Kind::kRelease:
        return count(op);
      case Kind::kBarrier:
        arrive(op);
        return {};
    }
    return {};
  }

  void reduce(const Operation& op) {
    const PieceRange target = here(op.targets[0]);
    std::vector<PieceRange> sources;
    sources.reserve(op.sources.size());
    for (const MscclppPlan::Chunk& source : op.sources) sources.push_back(here(source));
    const auto same = std::find(sources.begin(), sources.end(), target);
    if (same != sources.end()) {
      sources.erase(same);
    } else {
      follow(builder_->copy(rank_, sources.front(), target));
      sources.erase(sources.begin());
    }
    for (const PieceRange& source : sources) follow(builder_->reduce(rank_, source, target));
  }

  void put(const Operation& op) {
    for (std::size_t t = 0; t < op.targets.size(); ++t) {
      if (op.targets[t].gpu == MscclppPlan::kHere) continue;
      MscclppPlan::Chunk source = op.kind == Kind::kReduce ? op.targets[0] : op.sources[op.sources.size() == 1 ? 0 : t];
      follow(builder_->send(rank_, op.targets[t].gpu, here(source), {.channel = signals_.number_of(op, t)}));
    }
    if (op.signals) signal(op);
  }

  void signal(const Operation& op) {
    for (const Channel& c : op.channels) {
      const Connection to{rank_, c.peer, c.number};
      std::vector<BuilderOp>& sent = signalled_[to];
      const bool bare = signals_.of(to)[sent.size()].empty();
      if (bare) follow(builder_->signal(rank_, c.peer, {.channel = c.number}));
      if (before_.size() != 1 || !pending_.empty() || !barriers_.empty()) follow_nothing();
      sent.push_back(before_.front());
    }
  }

  Result<void> wait(const Operation& op) {
    for (const Channel& c : op.channels) {
      const Connection from{c.peer, rank_, c.number};
      const auto& batches = signals_.of(from);
      const std::size_t k = waits_[from]++;
      if (k >= batches.size())
        return fail(Code::kDisproved, "{}: waits for signal {} of gpu {}, which sends {}", op.place, k + 1, c.peer,
                    batches.size());
      if (batches[k].empty()) before_.push_back(builder_->wait(rank_, c.peer, {.channel = c.number}));
      for (const Put& put : batches[k]) {
        const BuilderOp receive =
            builder_->recv(rank_, c.peer, pieces_of(put.target.range, rank_), {.channel = c.number});
        builder_->set_origin(receive, {static_cast<std::uint32_t>(block_), step_});
        if (copied_) builder_->depend(receive, *copied_);
        for (const SignalId& ready : put.ready) ready_.emplace_back(receive, ready);
        before_.push_back(receive);
      }
    }
    return {};
  }

  Result<void> count(const Operation& op) {
    const bool acquires = op.kind == Kind::kAcquire;
    for (const std::uint32_t semaphore : op.semaphores) {
      auto& owners = acquires ? acquirers_ : releasers_;
      if (owners.try_emplace({rank_, semaphore}, block_).first->second != block_)
        return fail(Code::kUnsupported, "{}: two thread blocks {} semaphore {}", op.place,
                    acquires ? "acquire" : "release", semaphore);
      if (acquires) pending_.push_back(semaphore);
      if (acquires) continue;
      if (!pending_.empty() || !barriers_.empty() || before_.empty()) follow_nothing();
      released_[semaphore].push_back(before_);
    }
    return {};
  }

  void arrive(const Operation& op) {
    const std::uint32_t id = op.semaphores[0];
    const std::size_t turn = turns_[{rank_, block_, id}]++;
    const BuilderOp at = follow_nothing();
    Meeting& meeting = arrived_[{id, turn}];
    meeting.expected = op.blocks;
    meeting.arrivals.push_back(at);
    barriers_.emplace_back(id, turn);
  }

  Result<void> join_semaphores() {
    for (const auto& [semaphore, followers] : acquired_) {
      const auto& releases = released_[semaphore];
      if (followers.size() > releases.size())
        return fail(Code::kDisproved, "gpu {}: semaphore {} is acquired {} times and released {} times", rank_,
                    semaphore, followers.size(), releases.size());
      for (std::size_t k = 0; k < followers.size(); ++k) {
        for (const BuilderOp& earlier : releases[k]) depend(followers[k], earlier);
      }
    }
    return {};
  }

  Result<void> join_barriers() {
    std::map<std::pair<std::uint32_t, std::size_t>, BuilderOp> joins;
    for (const auto& [key, meeting] : arrived_) {
      if (meeting.arrivals.size() != meeting.expected)
        return fail(Code::kDisproved, "gpu {}: barrier {} waits for {} thread blocks, {} come", rank_, key.first,
                    meeting.expected, meeting.arrivals.size());
      const BuilderOp join = builder_->add(rank_, Op{});
      for (const BuilderOp& at : meeting.arrivals) builder_->depend(join, at);
      joins[key] = join;
    }
    for (const auto& [op, key] : passed_) builder_->depend(op, joins.at(key));
    return {};
  }

  void depend(BuilderOp later, BuilderOp earlier) {
    if (later.index != earlier.index) builder_->depend(later, earlier);
  }

  struct Meeting {
    std::uint32_t expected = 0;
    std::vector<BuilderOp> arrivals;
  };

  const MscclppPlan& plan_;
  Signals signals_;
  Collective collective_;
  Division division_;
  std::optional<ScheduleBuilder> builder_;
  std::map<Connection, std::vector<BuilderOp>> signalled_;  // the op that each signal follows or is
  std::map<Connection, std::size_t> waits_;
  std::vector<std::pair<BuilderOp, SignalId>> ready_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> acquirers_, releasers_;  // gpu, semaphore -> block
  std::map<std::tuple<std::uint32_t, std::size_t, std::uint32_t>, std::size_t> turns_;
  // of the GPU at hand
  std::uint32_t rank_ = 0;
  std::optional<BuilderOp> copied_;
  std::map<std::uint32_t, std::vector<std::vector<BuilderOp>>> released_;
  std::map<std::uint32_t, std::vector<BuilderOp>> acquired_;
  std::map<std::pair<std::uint32_t, std::size_t>, Meeting> arrived_;  // barrier, turn
  std::vector<std::pair<BuilderOp, std::pair<std::uint32_t, std::size_t>>> passed_;
  // of the thread block at hand
  std::size_t block_ = 0;
  std::uint32_t step_ = 0;
  std::vector<BuilderOp> before_;
  std::vector<std::uint32_t> pending_;  // semaphores acquired since the last op
  std::vector<std::pair<std::uint32_t, std::size_t>> barriers_;
};

}  // namespace

bool is_mscclpp_json(std::string_view text) {
  return has_json_key(text, "gpus") && text.find("\"threadblocks\"") != std::string_view::npos;
}

Result<Schedule> read_mscclpp_json(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const MscclppPlan plan, parse_mscclpp_plan(text, file_name));
  Result<Schedule> schedule = PlanBuilder(plan).build();
  if (!schedule) return fail(schedule.error().code, "{}: {}", file_name, schedule.error().text);
  return schedule;
}

LossReport read_losses_of_mscclpp(std::string_view) {
  LossReport losses;
  losses.assumed("", "order inside a thread block", "every operation is taken to end before the next; `nop` says so");
  losses.ignored("", "message sizes, threads, alignment, reduce_op", "a schedule holds any size and operator");
  return losses;
}

}  // namespace hocket
