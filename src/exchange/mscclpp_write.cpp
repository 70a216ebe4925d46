// Writes MSCCL++ plans. Both ends of a connection become thread blocks with a channel of their own, cut after
// kMessagesOfBlock messages; local ops have theirs. A message is a put, a signal and a wait. A receiver whose target
// was in use before signals that it is free; what is to be reduced lands in scratch of its own, which always is. Waits
// for ops of other thread blocks are semaphores, one per pair of blocks.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "exchange/mscclpp.h"
#include "verify/fifo_order.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMessagesOfBlock = 7;

/// One end of a connection, or (peer == kNoOp) local work.
struct Block {
  std::uint32_t peer = kNoOp;
  std::uint32_t channel = 0;  // index among the GPU's memory channels
  std::vector<OpId> ops;
  std::vector<std::uint32_t> remote_buffers;  // ids of the GPU's list
};

struct Gpu {
  std::vector<Block> blocks;
  std::vector<std::uint32_t> connected_to;
  std::vector<std::pair<std::uint32_t, char>> remote_buffers;  // rank, buffer
};

struct Place {
  std::uint32_t block = 0;
  std::uint32_t index = 0;
};

/// What an op waits for before it starts and lets go when it is done, by semaphore.
struct Waits {
  std::vector<std::uint32_t> acquired, released;
};

class MscclppWriter {
 public:
  explicit MscclppWriter(const Schedule& schedule) : schedule_(schedule) {}

  Result<std::string> write() {
    HOCKET_TRY(check());
    HOCKET_TRY(order_ops());
    place_ops();
    place_staging();
    Json root;
    root["name"] = schedule_.algorithm();
    root["collective"] = std::string(word());
    root["protocol"] = "Simple";
    root["inplace"] = false;
    root["reuse_resources"] = false;
    root["gpus"] = Json::array();
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      HOCKET_TRY_ASSIGN(Json gpu, gpu_json(rank));
      root["gpus"].push_back(std::move(gpu));
    }
    root["num_threads_per_block"] = 1024;
    root["use_double_scratch_buffer"] = false;
    root["buffer_alignment"] = 16;
    root["min_message_size"] = 0;
    root["max_message_size"] = std::uint64_t{0} - 1;
    return root.dump(1) + "\n";
  }

 private:
  [[nodiscard]] std::string_view word() const {
    switch (schedule_.collective().kind) {
      case CollectiveKind::kAllReduce:
        return "allreduce";
      case CollectiveKind::kReduceScatter:
        return "reducescatter";
      case CollectiveKind::kAllGather:
        return "allgather";
      case CollectiveKind::kBroadcast:
        return "broadcast";
      case CollectiveKind::kAllToAll:
        return "alltoall";
      case CollectiveKind::kReduce:
        break;
    }
    return "";
  }

  [[nodiscard]] Result<void> check() const {
    if (word().empty())
      return fail(Code::kUnsupported, "MSCCL++ plans have no {}", name_of(schedule_.collective().kind));
    if (!schedule_.division().weights.empty())
      return fail(Code::kUnsupported, "MSCCL++ plans hold equal pieces only, this schedule has weights");
    for (OpId id = 0; id < schedule_.ops().size(); ++id) {
      const Op& op = schedule_.op(id);
      if (op.kind == OpKind::kCompute)
        return fail(Code::kUnsupported, "MSCCL++ plans cannot hold {}", schedule_.describe(id));
      if (schedule_.match(id) == kNoOp && (op.sends() || op.receives()))
        return fail(Code::kDisproved, "{} has no other end", schedule_.describe(id));
    }
    return {};
  }

  /// A put meets a receiver that is ready, so the order must be one of rendezvous.
  Result<void> order_ops() {
    order_ = fifo_order(schedule_, Connections(schedule_), 0);
    if (order_.size() == schedule_.ops().size()) return {};
    return fail(Code::kUnsupported,
                "MSCCL++ puts meet a receiver that is ready, this schedule needs messages to queue");
  }

  /// Blocks of both ends: the k-th message of a connection is in part k / kMessagesOfBlock on either side.
  void place_ops() {
    gpus_.resize(schedule_.rank_count());
    place_.resize(schedule_.ops().size());
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, channel, part
    std::map<Key, std::vector<OpId>> messages;
    std::map<Key, std::uint32_t> sent, local;
    for (const OpId id : order_) {
      const Op& op = schedule_.op(id);
      const std::uint32_t rank = schedule_.rank_of(id);
      if (op.sends()) {
        const std::uint32_t part = sent[{rank, op.peer, op.channel, 0}]++ / kMessagesOfBlock;
        messages[{rank, op.peer, op.channel, part}].push_back(id);
      } else if (!op.receives()) {
        const std::uint32_t part = local[{rank, 0, 0, 0}]++ / kMessagesOfBlock;
        add_local(rank, part, id);
      }
    }
    for (const auto& [key, sends] : messages) {
      const auto [from, to, channel, part] = key;
      std::vector<OpId> receives;
      receives.reserve(sends.size());
      for (const OpId id : sends) receives.push_back(schedule_.match(id));
      add_block(from, to, sends);
      add_block(to, from, receives);
    }
  }

  void add_local(std::uint32_t rank, std::uint32_t part, OpId id) {
    std::vector<Block>& blocks = gpus_[rank].blocks;
    if (part == blocks.size()) blocks.emplace_back();
    place_[id] = {part, static_cast<std::uint32_t>(blocks[part].ops.size())};
    blocks[part].ops.push_back(id);
  }

  void add_block(std::uint32_t rank, std::uint32_t peer, const std::vector<OpId>& ops) {
    Gpu& gpu = gpus_[rank];
    const auto block = static_cast<std::uint32_t>(gpu.blocks.size());
    for (std::uint32_t i = 0; i < ops.size(); ++i) place_[ops[i]] = {block, i};
    gpu.blocks.push_back({peer, static_cast<std::uint32_t>(gpu.connected_to.size()), ops, {}});
    gpu.connected_to.push_back(peer);
  }

  /// Scratch of its own for what every recv_reduce gets, inside one round of pieces.
  void place_staging() {
    const std::uint32_t pieces = schedule_.division().pieces();
    scratch_.assign(schedule_.rank_count(), schedule_.scratch_pieces());
    staging_.assign(schedule_.ops().size(), 0);
    for (OpId id = 0; id < schedule_.ops().size(); ++id) {
      const Op& op = schedule_.op(id);
      if (op.kind != OpKind::kRecvReduce) continue;
      std::uint32_t& next = scratch_[schedule_.rank_of(id)];
      if (next / pieces != (next + op.count - 1) / pieces) next = (next / pieces + 1) * pieces;
      staging_[id] = next;
      next += op.count;
    }
  }

  /// The receiver must say that its target is free.
  [[nodiscard]] bool handshakes(OpId receive) const {
    if (schedule_.op(receive).kind != OpKind::kRecv) return false;
    const auto waits = schedule_.dependencies(receive);
    return std::any_of(waits.begin(), waits.end(), [&](const Dependency& d) { return !implied(receive, d.on()); });
  }

  /// A receive need not wait for a send to the same peer when the peer had that message before it sent this one.
  [[nodiscard]] bool implied(OpId receive, OpId earlier) const {
    const Op& before = schedule_.op(earlier);
    const Op& op = schedule_.op(receive);
    if (op.kind != OpKind::kRecv || !before.sends() || before.peer != op.peer) return false;
    return comes_before(schedule_.match(earlier), schedule_.match(receive));
  }

  /// Along the dependencies of one rank; a longer search than kSearchMost counts as no.
  [[nodiscard]] bool comes_before(OpId first, OpId last) const {
    constexpr std::size_t kSearchMost = 1000;
    std::set<OpId> seen{last};
    std::vector<OpId> open{last};
    while (!open.empty() && seen.size() < kSearchMost) {
      const OpId id = open.back();
      open.pop_back();
      if (id == first) return true;
      for (const Dependency& d : schedule_.dependencies(id)) {
        if (seen.insert(d.on()).second) open.push_back(d.on());
      }
    }
    return false;
  }

  /// Semaphores of a rank: later ops of a block need no second wait for what an earlier one has waited for.
  Result<std::map<OpId, Waits>> waits_of(std::uint32_t rank) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> semaphores;  // blocks of earlier, later
    std::map<OpId, Waits> waits;
    for (std::uint32_t b = 0; b < gpus_[rank].blocks.size(); ++b) {
      std::map<std::uint32_t, std::uint32_t> waited;  // block -> ops known to be done
      for (const OpId id : gpus_[rank].blocks[b].ops) {
        std::map<std::uint32_t, OpId> latest;
        for (const Dependency& d : schedule_.dependencies(id)) {
          const Place& on = place_[d.on()];
          if (on.block == b || on.index < waited[on.block] || implied(id, d.on())) continue;
          waited[on.block] = on.index + 1;
          latest[on.block] = d.on();
        }
        for (const auto& [block, on] : latest) {
          const auto semaphore =
              semaphores.try_emplace({block, b}, static_cast<std::uint32_t>(semaphores.size())).first->second;
          waits[id].acquired.push_back(semaphore);
          waits[on].released.push_back(semaphore);
        }
      }
    }
    if (semaphores.size() > kMscclppSemaphoresMax) {
      return fail(Code::kUnsupported, "MSCCL++ has {} semaphores for a GPU, rank {} needs {} between its thread blocks",
                  kMscclppSemaphoresMax, rank, semaphores.size());
    }
    return waits;
  }

  [[nodiscard]] Json chunk(Buffer buffer, std::uint32_t piece, std::uint32_t count, std::uint32_t rank) const {
    return {{"type", std::string(1, name_of(buffer)[0])}, {"index", index_of(buffer, piece, rank)}, {"size", count}};
  }

  /// A rank's own block is the whole input of an all-gather and the whole output of a reduce-scatter.
  [[nodiscard]] std::uint32_t index_of(Buffer buffer, std::uint32_t piece, std::uint32_t rank) const {
    const CollectiveKind kind = schedule_.collective().kind;
    const bool own = (buffer == Buffer::kInput && kind == CollectiveKind::kAllGather) ||
                     (buffer == Buffer::kOutput && kind == CollectiveKind::kReduceScatter);
    return own ? piece - rank * schedule_.division().pieces_per_block : piece;
  }

  [[nodiscard]] Json chunk(const PieceRange& range, std::uint32_t rank) const {
    return chunk(range.buffer, range.piece, range.count, rank);
  }

  /// The place at the receiver, through the block's list of remote buffers.
  Json remote_chunk(Gpu& gpu, Block& block, OpId receive) {
    const Op& op = schedule_.op(receive);
    PieceRange range = op.target();
    if (op.kind == OpKind::kRecvReduce) range = {Buffer::kScratch, staging_[receive], op.count};
    const std::pair<std::uint32_t, char> buffer{block.peer, name_of(range.buffer)[0]};
    const auto known = std::find(gpu.remote_buffers.begin(), gpu.remote_buffers.end(), buffer);
    const auto id = static_cast<std::uint32_t>(known - gpu.remote_buffers.begin());
    if (known == gpu.remote_buffers.end()) gpu.remote_buffers.push_back(buffer);
    const auto listed = std::find(block.remote_buffers.begin(), block.remote_buffers.end(), id);
    const auto index = listed - block.remote_buffers.begin();
    if (listed == block.remote_buffers.end()) block.remote_buffers.push_back(id);
    return {{"buffer_id", index}, {"index", index_of(range.buffer, range.piece, block.peer)}, {"size", op.count}};
  }

  static Json plain(const char* name) {
    Json op;
    op["name"] = name;
    return op;
  }
  static Json on_channel(const char* name) {
    return {{"name", name}, {"channel_ids", Json::array({0})}, {"channel_type", "memory"}};
  }
  static void semaphores(Json& ops, const char* name, const std::vector<std::uint32_t>& ids) {
    if (!ops.empty() && ops.back()["name"] != "nop") ops.push_back(plain("nop"));
    ops.push_back({{"name", name}, {"semaphore_ids", ids}});
  }

  void add_send(Json& ops, Gpu& gpu, Block& block, OpId id) {
    const OpId receive = schedule_.match(id);
    if (handshakes(receive)) ops.push_back(on_channel("wait"));
    if (!ops.empty() && ops.back()["name"] != "nop") ops.push_back(plain("nop"));
    if (schedule_.op(id).kind == OpKind::kSend) {
      Json put = plain("put");
      put["src_buff"].push_back(chunk(schedule_.op(id).source(), schedule_.rank_of(id)));
      put["dst_buff"].push_back(remote_chunk(gpu, block, receive));
      put["channel_ids"].push_back(0);
      put["channel_type"] = "memory";
      ops.push_back(std::move(put));
      ops.push_back(plain("nop"));
    }
    ops.push_back(on_channel("signal"));
  }

  void add_receive(Json& ops, OpId id, const std::vector<std::uint32_t>& acquired) {
    const Op& op = schedule_.op(id);
    const bool reduces = op.kind == OpKind::kRecvReduce;
    if (!reduces && !acquired.empty()) semaphores(ops, "sem_acquire", acquired);
    if (!ops.empty() && ops.back()["name"] != "nop") ops.push_back(plain("nop"));
    if (handshakes(id)) ops.push_back(on_channel("signal"));
    ops.push_back(on_channel("wait"));
    if (!reduces) return;
    if (!acquired.empty()) ops.push_back({{"name", "sem_acquire"}, {"semaphore_ids", acquired}});
    ops.push_back(plain("nop"));
    const std::uint32_t rank = schedule_.rank_of(id);
    ops.push_back(reduction(chunk(op.source(), rank), chunk(Buffer::kScratch, staging_[id], op.count, rank),
                            chunk(op.target(), rank)));
  }

  static Json reduction(Json first, Json second, Json target) {
    Json re = plain("re");
    re["src_buff"].push_back(std::move(first));
    re["src_buff"].push_back(std::move(second));
    re["dst_buff"].push_back(std::move(target));
    re["reduce_op"] = "sum";
    return re;
  }

  void add_op(Json& ops, Gpu& gpu, Block& block, const std::pair<OpId, Waits>& what) {
    const auto& [id, waits] = what;
    const Op& op = schedule_.op(id);
    const std::uint32_t rank = schedule_.rank_of(id);
    if (op.receives()) {
      add_receive(ops, id, waits.acquired);
    } else {
      if (!waits.acquired.empty()) semaphores(ops, "sem_acquire", waits.acquired);
      if (op.sends()) add_send(ops, gpu, block, id);
      if (!op.sends() && !ops.empty() && ops.back()["name"] != "nop") ops.push_back(plain("nop"));
      if (op.kind == OpKind::kReduce)
        ops.push_back(reduction(chunk(op.target(), rank), chunk(op.source(), rank), chunk(op.target(), rank)));
      if (op.kind == OpKind::kCopy) {
        Json copy = plain("copy");
        copy["src_buff"].push_back(chunk(op.source(), rank));
        copy["dst_buff"].push_back(chunk(op.target(), rank));
        ops.push_back(std::move(copy));
      }
    }
    if (!waits.released.empty()) semaphores(ops, "sem_release", waits.released);
  }

  Result<Json> block_json(std::uint32_t rank, std::uint32_t index, const std::map<OpId, Waits>& waits) {
    Gpu& gpu = gpus_[rank];
    Block& block = gpu.blocks[index];
    Json ops = Json::array();
    for (const OpId id : block.ops) {
      const auto found = waits.find(id);
      add_op(ops, gpu, block, {id, found == waits.end() ? Waits{} : found->second});
    }
    if (ops.size() > kMscclppOpsMax) {
      return fail(Code::kUnsupported, "MSCCL++ has {} operations for a thread block, one of rank {} needs {}",
                  kMscclppOpsMax, rank, ops.size());
    }
    Json out = {{"id", index}, {"ops", std::move(ops)}, {"channels", Json::array()}};
    if (block.peer != kNoOp)
      out["channels"].push_back({{"channel_type", "memory"}, {"channel_ids", Json::array({block.channel})}});
    out["remote_buffer_refs"] = Json::array();
    if (!block.remote_buffers.empty()) {
      out["remote_buffer_refs"].push_back(
          {{"access_channel_type", "memory"}, {"remote_buffer_ids", block.remote_buffers}});
    }
    return out;
  }

  Result<Json> gpu_json(std::uint32_t rank) {
    Gpu& gpu = gpus_[rank];
    if (gpu.blocks.size() > kMscclppBlocksMax) {
      return fail(Code::kUnsupported, "MSCCL++ runs all thread blocks of a GPU at once: rank {} needs {}, {} are there",
                  rank, gpu.blocks.size(), kMscclppBlocksMax);
    }
    HOCKET_TRY_ASSIGN(const auto waits, waits_of(rank));
    const Division& d = schedule_.division();
    const CollectiveKind kind = schedule_.collective().kind;
    Json out = {{"id", rank},
                {"input_chunks", kind == CollectiveKind::kAllGather ? d.pieces_per_block : d.pieces()},
                {"output_chunks", kind == CollectiveKind::kReduceScatter ? d.pieces_per_block : d.pieces()},
                {"scratch_chunks", scratch_[rank]}};
    out["threadblocks"] = Json::array();
    std::set<std::uint32_t> used;
    for (std::uint32_t b = 0; b < gpu.blocks.size(); ++b) {
      HOCKET_TRY_ASSIGN(Json block, block_json(rank, b, waits));
      out["threadblocks"].push_back(std::move(block));
    }
    for (const auto& [id, w] : waits) used.insert(w.acquired.begin(), w.acquired.end());
    out["channels"] = Json::array();
    if (!gpu.connected_to.empty())
      out["channels"].push_back({{"channel_type", "memory"}, {"connected_to", gpu.connected_to}});
    out["remote_buffers"] = Json::array();
    for (const auto& [peer, buffer] : gpu.remote_buffers) {
      out["remote_buffers"].push_back(
          {{"rank", peer}, {"type", std::string(1, buffer)}, {"access_channel_types", Json::array({"memory"})}});
    }
    out["semaphores"] = Json::array();
    for (std::size_t i = 0; i < used.size(); ++i) out["semaphores"].push_back({{"init_value", 0}});
    return out;
  }

  const Schedule& schedule_;
  std::vector<OpId> order_;
  std::vector<Gpu> gpus_;
  std::vector<Place> place_;            // by op
  std::vector<std::uint32_t> staging_;  // by op: first scratch piece of a recv_reduce's message
  std::vector<std::uint32_t> scratch_;  // by rank: scratch pieces in all
};

}  // namespace

Result<std::string> write_mscclpp_json(const Schedule& schedule) { return MscclppWriter(schedule).write(); }

LossReport write_losses_of_mscclpp(const Schedule& schedule) {
  LossReport losses;
  if (schedule.route_count() > 0)
    losses.ignored("", fmt::format("{} routes", schedule.route_count()), "a channel names its two GPUs only");
  losses.ignored("", "steps and channel numbers",
                 "thread blocks order their ops, every connection has its own channel");
  if (const std::uint32_t pieces = schedule.division().pieces(); pieces > 1)
    losses.ignored("", fmt::format("sizes whose elements are no multiple of {}", pieces), "chunks are of one size");
  losses.assumed("", "memory channels", "GPUs of other machines need port channels");
  losses.assumed("", "sum as reduce_op, 1024 threads, every message size", "a schedule does not say");
  return losses;
}

}  // namespace hocket
