// Writes MSCCL XML. Each connection end of a rank becomes a thread block, local ops share one; an op that waits for
// several ops of other blocks is preceded by nops, since a step can name one wait only. The attribute `hocket_op` keeps
// each rank's order of ops, which decides who goes first where ops compete; other readers pass over it.
// Lost: routes, steps, names of channels. Refused: division weights, more channels, thread blocks or steps than MSCCL
// has.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "exchange/msccl.h"
#include "verify/fifo_order.h"

namespace hocket {
namespace {

struct Line {
  OpId op = kNoOp;  // kNoOp: a nop
  std::uint32_t depends_tb = kNoOp;
  std::uint32_t depends_step = 0;
  bool depended_on = false;
};

struct Block {
  std::int64_t send = -1;
  std::int64_t recv = -1;
  std::uint32_t channel = 0;
  std::vector<Line> lines;
};

class MscclWriter {
 public:
  explicit MscclWriter(const Schedule& schedule) : schedule_(schedule) {}

  Result<std::string> write() {
    HOCKET_TRY(check());
    HOCKET_TRY(order_ops());
    const Division& d = schedule_.division();
    const Collective& c = schedule_.collective();
    std::string body;
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      HOCKET_TRY(place_ops(rank));
      add_waits(rank);
      HOCKET_TRY(check_blocks(rank));
      body += gpu_text(rank);
    }
    std::string name(name_of(c.kind));
    name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
    if (c.kind == CollectiveKind::kReduceScatter) name = "reduce_scatter";
    return fmt::format(
        "<algo name=\"{}\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
        "inplace=\"0\" "
        "outofplace=\"1\" minBytes=\"0\" maxBytes=\"0\">\n{}</algo>\n",
        plain_name(), channels_, d.pieces(), schedule_.rank_count(), name, body);
  }

 private:
  [[nodiscard]] std::string plain_name() const {
    std::string name = schedule_.algorithm();
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') c = '_';
    }
    return name;
  }

  Result<void> check() const {
    if (!schedule_.division().weights.empty())
      return fail(Code::kUnsupported, "MSCCL XML holds equal pieces only, this schedule has weights");
    for (OpId id = 0; id < schedule_.ops().size(); ++id) {
      const OpKind kind = schedule_.op(id).kind;
      if (kind == OpKind::kSignal || kind == OpKind::kWait || kind == OpKind::kCompute) {
        return fail(Code::kUnsupported, "MSCCL XML cannot hold {}", schedule_.describe(id));
      }
      if (schedule_.match(id) == kNoOp && (schedule_.op(id).sends() || schedule_.op(id).receives())) {
        return fail(Code::kDisproved, "{} has no other end", schedule_.describe(id));
      }
    }
    return {};
  }

  /// Thread blocks run their steps one after the other, so each rank's ops are placed in an order that FIFOs allow.
  Result<void> order_ops() {
    const std::vector<OpId> order = fifo_order(schedule_, Connections(schedule_), kUnboundedDepth);
    if (order.size() != schedule_.ops().size()) {
      return fail(Code::kUnsupported,
                  "MSCCL XML needs messages of a connection to be taken in the order they are sent");
    }
    rank_order_.resize(schedule_.rank_count());
    for (const OpId id : order) rank_order_[schedule_.rank_of(id)].push_back(id);
    return {};
  }

  /// Channels of one pair are numbered from 0 in the order of their first message; both ends see the same order of ids.
  Result<std::uint32_t> channel_of(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    auto& known = pair_channels_[std::uint64_t{from} << 32 | to];
    const auto [entry, fresh] = known.try_emplace(channel, static_cast<std::uint32_t>(known.size()));
    if (entry->second >= kMscclChannelsMax) {
      return fail(Code::kUnsupported, "MSCCL XML allows {} channels, rank {} to rank {} needs more", kMscclChannelsMax,
                  from, to);
    }
    channels_ = std::max(channels_, entry->second + 1);
    return entry->second;
  }

  Result<void> place_ops(std::uint32_t rank) {
    blocks_.clear();
    std::map<std::uint64_t, std::uint32_t> block_of;
    const OpId begin = schedule_.first_op(rank);
    place_.assign(schedule_.first_op(rank + 1) - begin, {});
    for (OpId id = begin; id < schedule_.first_op(rank + 1); ++id) {
      const Op& op = schedule_.op(id);
      const bool local = !op.sends() && !op.receives();
      std::uint32_t channel = 0;
      if (!local) {
        HOCKET_TRY_ASSIGN(channel,
                          op.sends() ? channel_of(rank, op.peer, op.channel) : channel_of(op.peer, rank, op.channel));
      }
      const std::uint64_t key =
          local ? 0 : std::uint64_t{op.peer} << 20 | std::uint64_t{channel} << 4 | (op.sends() ? 1U : 2U);
      const auto [entry, fresh] = block_of.try_emplace(key, static_cast<std::uint32_t>(blocks_.size()));
      if (fresh)
        blocks_.push_back(
            {op.sends() ? std::int64_t{op.peer} : -1, op.receives() ? std::int64_t{op.peer} : -1, channel, {}});
      place_[id - begin] = {entry->second, 0};
    }
    return {};
  }

  [[nodiscard]] Result<void> check_blocks(std::uint32_t rank) const {
    if (blocks_.size() > kMscclBlocksMax) {
      return fail(Code::kUnsupported, "MSCCL runs {} thread blocks on a GPU at once, rank {} needs {}", kMscclBlocksMax,
                  rank, blocks_.size());
    }
    for (const Block& block : blocks_) {
      if (block.lines.size() <= kMscclStepsMax) continue;
      return fail(Code::kUnsupported, "MSCCL has {} steps for a thread block, one of rank {} needs {}", kMscclStepsMax,
                  rank, block.lines.size());
    }
    return {};
  }

  /// Appends each op to its block in program order, after the nops that carry its further waits.
  void add_waits(std::uint32_t rank) {
    const OpId begin = schedule_.first_op(rank);
    for (const OpId id : rank_order_[rank]) {
      Place& place = place_[id - begin];
      Block& block = blocks_[place.block];
      std::map<std::uint32_t, std::uint32_t> waits;  // block -> latest step
      for (const Dependency& d : schedule_.dependencies(id)) {
        const Place& on = place_[d.on() - begin];
        if (on.block == place.block) continue;
        std::uint32_t& step = waits.try_emplace(on.block, on.step).first->second;
        step = std::max(step, on.step);
      }
      std::size_t left = waits.size();
      for (const auto& [tb, step] : waits) {
        blocks_[tb].lines[step].depended_on = true;
        block.lines.push_back({--left == 0 ? id : kNoOp, tb, step});
      }
      if (waits.empty()) block.lines.push_back({id});
      place.step = static_cast<std::uint32_t>(block.lines.size() - 1);
    }
  }

  [[nodiscard]] std::string place_text(const char* which, PieceRange range, std::uint32_t rank) const {
    const CollectiveKind kind = schedule_.collective().kind;
    const std::uint32_t own = rank * schedule_.division().pieces_per_block;
    if (range.buffer == Buffer::kInput && kind == CollectiveKind::kAllGather) range.piece -= own;
    if (range.buffer == Buffer::kOutput && kind == CollectiveKind::kReduceScatter) range.piece -= own;
    return fmt::format("{0}buf=\"{1}\" {0}off=\"{2}\"", which, name_of(range.buffer)[0], range.piece);
  }

  [[nodiscard]] std::string step_text(const Line& line, std::uint32_t index, std::uint32_t rank) const {
    std::string what = "type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\"";
    if (line.op != kNoOp) {
      const Op& op = schedule_.op(line.op);
      constexpr std::array words{"s", "r", "rrc", "cpy", "re", "nop", "nop", "nop"};
      PieceRange source = op.source();
      PieceRange target = op.target();
      std::uint32_t target_rank = rank;
      std::uint32_t source_rank = rank;
      if (op.kind == OpKind::kSend) {
        target = schedule_.op(schedule_.match(line.op)).target();
        target_rank = op.peer;
      }
      if (op.kind == OpKind::kRecv) {
        source = schedule_.op(schedule_.match(line.op)).source();
        source_rank = op.peer;
      }
      what = fmt::format("type=\"{}\" {} {} cnt=\"{}\"", words[static_cast<std::size_t>(op.kind)],
                         place_text("src", source, source_rank), place_text("dst", target, target_rank), op.count);
    }
    const bool waits = line.depends_tb != kNoOp;
    const std::string order =
        line.op == kNoOp ? "" : fmt::format(" {}=\"{}\"", kMscclOrder, line.op - schedule_.first_op(rank));
    return fmt::format("      <step s=\"{}\" {} depid=\"{}\" deps=\"{}\" hasdep=\"{}\"{}/>\n", index, what,
                       waits ? std::int64_t{line.depends_tb} : -1, waits ? std::int64_t{line.depends_step} : -1,
                       line.depended_on ? 1 : 0, order);
  }

  [[nodiscard]] std::string gpu_text(std::uint32_t rank) const {
    const Division& d = schedule_.division();
    const CollectiveKind kind = schedule_.collective().kind;
    const std::uint32_t inputs = kind == CollectiveKind::kAllGather ? d.pieces_per_block : d.pieces();
    const std::uint32_t outputs = kind == CollectiveKind::kReduceScatter ? d.pieces_per_block : d.pieces();
    std::string text = fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", rank, inputs,
                                   outputs, schedule_.scratch_pieces());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      text += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", b, block.send, block.recv,
                          block.channel);
      for (std::uint32_t s = 0; s < block.lines.size(); ++s) text += step_text(block.lines[s], s, rank);
      text += "    </tb>\n";
    }
    return text + "  </gpu>\n";
  }

  struct Place {
    std::uint32_t block = 0;
    std::uint32_t step = 0;
  };
  const Schedule& schedule_;
  std::uint32_t channels_ = 1;
  std::map<std::uint64_t, std::map<std::uint32_t, std::uint32_t>> pair_channels_;
  std::vector<Block> blocks_;
  std::vector<Place> place_;
  std::vector<std::vector<OpId>> rank_order_;
};

}  // namespace

Result<std::string> write_msccl_xml(const Schedule& schedule) { return MscclWriter(schedule).write(); }

LossReport write_losses_of_msccl(const Schedule& schedule) {
  LossReport losses;
  if (schedule.route_count() > 0)
    losses.ignored("", fmt::format("{} routes", schedule.route_count()), "a thread block names its two GPUs only");
  losses.ignored("", "steps and channel numbers", "thread blocks order their steps; channels of a pair count from 0");
  if (const std::uint32_t pieces = schedule.division().pieces(); pieces > 1)
    losses.ignored("", fmt::format("sizes whose elements are no multiple of {}", pieces), "chunks are of one size");
  losses.assumed("", "Simple as proto, every size as window", "a schedule does not say");
  return losses;
}

}  // namespace hocket
