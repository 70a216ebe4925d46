// Reads MSCCL XML. Every thread block becomes a chain of ops with stated dependencies; rrs (reduce and pass on) keeps
// its value in scratch; in-place files start with a copy of the input to the output and then work there.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <tuple>

#include "exchange/msccl.h"
#include "schedule/builder.h"

namespace hocket {
namespace {

constexpr std::uint32_t kGpusMax = 4096;
constexpr std::uint32_t kChunksMax = 1U << 20;

struct Step {
  std::string_view type;
  PieceRange source;
  PieceRange target;
  std::uint32_t depends_tb = kNoOp;
  std::uint32_t depends_step = 0;
  std::int64_t order = -1;  // kMscclOrder; -1: the file does not say
  pugi::xml_node node;
};

struct ThreadBlock {
  std::uint32_t id = 0;
  std::uint32_t send = kNoOp;
  std::uint32_t recv = kNoOp;
  std::uint16_t channel = 0;
  std::vector<Step> steps;
};

struct Gpu {
  std::uint32_t inputs = 0, outputs = 0, scratch = 0;
  std::vector<ThreadBlock> blocks;
};

class MscclReader {
 public:
  MscclReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Schedule> read() {
    const pugi::xml_parse_result parsed =
        document_.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) return error_at(Code::kMalformed, parsed.offset, "XML is malformed: {}", parsed.description());
    const pugi::xml_node algo = document_.child("algo");
    if (!algo) return error_at(Code::kMalformed, 0, "no <algo> element");
    HOCKET_TRY(read_head(algo));
    for (const pugi::xml_node node : algo.children("gpu")) HOCKET_TRY(read_gpu(node));
    if (gpus_.size() != collective_.ranks) {
      return error_at(Code::kMalformed, algo.offset_debug(), "ngpus is {}, but there are {} <gpu> elements",
                      collective_.ranks, gpus_.size());
    }
    HOCKET_TRY(decide_root(algo));
    HOCKET_TRY(check_connections());
    return build(algo);
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error_at(Code code, std::ptrdiff_t offset, fmt::format_string<Args...> format,
                                 Args&&... args) const {
    const std::string_view before = text_.substr(0, offset < 0 ? 0 : static_cast<std::size_t>(offset));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return tl::unexpected<Error>(Error{
        code, fmt::format("{}:{}:{}: {}", file_, line, column, fmt::format(format, std::forward<Args>(args)...))});
  }

  Result<std::int64_t> number(const pugi::xml_node& node, const char* name, std::int64_t least,
                              std::int64_t most) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute)
      return error_at(Code::kMalformed, node.offset_debug(), "<{}> lacks the attribute '{}'", node.name(), name);
    const std::string_view word = attribute.value();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most) {
      return error_at(Code::kMalformed, node.offset_debug(), "{}=\"{}\" is not a number of {} to {}", name,
                      word.substr(0, 40), least, most);
    }
    return value;
  }

  Result<void> read_head(const pugi::xml_node& algo) {
    HOCKET_TRY_ASSIGN(const std::int64_t gpus, number(algo, "ngpus", 1, kGpusMax));
    HOCKET_TRY_ASSIGN(const std::int64_t chunks, number(algo, "nchunksperloop", 1, kChunksMax));
    const std::string_view word = algo.attribute("coll").value();
    const Result<CollectiveKind> kind = parse_collective(word);
    if (!kind)
      return error_at(Code::kUnsupported, algo.offset_debug(), "coll=\"{}\" is not a collective that can be checked",
                      word.substr(0, 40));
    collective_ = {*kind, static_cast<std::uint32_t>(gpus), 0};
    const std::uint32_t blocks = is_blocked(*kind) ? collective_.ranks : 1;
    if (chunks % blocks != 0) {
      return error_at(Code::kMalformed, algo.offset_debug(), "nchunksperloop {} is not a multiple of ngpus {}", chunks,
                      gpus);
    }
    division_.blocks = blocks;
    division_.pieces_per_block = static_cast<std::uint32_t>(chunks) / blocks;
    division_.uniform = true;
    in_place_ = std::strcmp(algo.attribute("inplace").value(), "1") == 0 && *kind != CollectiveKind::kAllToAll;
    gpus_.reserve(collective_.ranks);
    return {};
  }

  Result<void> read_gpu(const pugi::xml_node& node) {
    if (gpus_.size() == collective_.ranks)
      return error_at(Code::kMalformed, node.offset_debug(), "more <gpu> elements than ngpus {}", collective_.ranks);
    HOCKET_TRY_ASSIGN(const std::int64_t id, number(node, "id", 0, collective_.ranks - 1));
    if (id != static_cast<std::int64_t>(gpus_.size())) {
      return error_at(Code::kMalformed, node.offset_debug(), "gpu id {} where {} is expected", id, gpus_.size());
    }
    Gpu gpu;
    HOCKET_TRY_ASSIGN(gpu.inputs, number(node, "i_chunks", 0, kChunksMax));
    HOCKET_TRY_ASSIGN(gpu.outputs, number(node, "o_chunks", 0, kChunksMax));
    HOCKET_TRY_ASSIGN(gpu.scratch, number(node, "s_chunks", 0, kChunksMax));
    const auto rank = static_cast<std::uint32_t>(gpus_.size());
    for (const pugi::xml_node tb : node.children("tb")) {
      HOCKET_TRY_ASSIGN(ThreadBlock block, read_block(tb, rank));
      for (const ThreadBlock& other : gpu.blocks) {
        if (other.id == block.id)
          return error_at(Code::kMalformed, tb.offset_debug(), "gpu {} has two thread blocks {}", rank, block.id);
      }
      gpu.blocks.push_back(std::move(block));
    }
    HOCKET_TRY(check_ranges(gpu, rank));
    scratch_ = std::max(scratch_, gpu.scratch);
    gpus_.push_back(std::move(gpu));
    return {};
  }

  /// A buffer without chunks is one that the file does not state: in place, one of the two.
  Result<void> check_ranges(const Gpu& gpu, std::uint32_t rank) const {
    for (const ThreadBlock& block : gpu.blocks) {
      for (const Step& step : block.steps) {
        const bool reads = step.type != "nop" && step.type != "r" && step.type != "rcs";
        const bool writes = step.type != "nop" && step.type != "s" && step.type != "rrs";
        if (reads) HOCKET_TRY(check_range(gpu, rank, step, step.source));
        if (writes) HOCKET_TRY(check_range(gpu, rank, step, step.target));
      }
    }
    return {};
  }

  Result<void> check_range(const Gpu& gpu, std::uint32_t rank, const Step& step, const PieceRange& range) const {
    const bool input = range.buffer == Buffer::kInput;
    const std::uint32_t stated = input ? gpu.inputs : gpu.outputs;
    if (range.buffer == Buffer::kScratch || stated == 0 || range.piece + range.count <= stated) return {};
    return error_at(Code::kMalformed, step.node.offset_debug(), "chunks {} to {} of the {}, of which gpu {} has {}",
                    range.piece, range.piece + range.count - 1, input ? "input" : "output", rank, stated);
  }

  Result<ThreadBlock> read_block(const pugi::xml_node& node, std::uint32_t rank) {
    ThreadBlock block;
    HOCKET_TRY_ASSIGN(block.id, number(node, "id", 0, 65535));
    HOCKET_TRY_ASSIGN(const std::int64_t send, number(node, "send", -1, collective_.ranks - 1));
    HOCKET_TRY_ASSIGN(const std::int64_t recv, number(node, "recv", -1, collective_.ranks - 1));
    HOCKET_TRY_ASSIGN(const std::int64_t channel, number(node, "chan", 0, 65535));
    if (send == rank || recv == rank)
      return error_at(Code::kMalformed, node.offset_debug(), "gpu {} tb {} has itself as peer", rank, block.id);
    block.send = send < 0 ? kNoOp : static_cast<std::uint32_t>(send);
    block.recv = recv < 0 ? kNoOp : static_cast<std::uint32_t>(recv);
    block.channel = static_cast<std::uint16_t>(channel);
    for (const pugi::xml_node child : node.children("step")) {
      HOCKET_TRY_ASSIGN(const std::int64_t index, number(child, "s", 0, kChunksMax));
      if (index != static_cast<std::int64_t>(block.steps.size())) {
        return error_at(Code::kMalformed, child.offset_debug(), "gpu {} tb {}: step {} where {} is expected", rank,
                        block.id, index, block.steps.size());
      }
      HOCKET_TRY_ASSIGN(Step step, read_step(child, rank));
      const bool needs_send = step.type == "s" || step.type == "rcs" || step.type == "rrs" || step.type == "rrcs";
      const bool needs_recv = step.type[0] == 'r' && step.type != "re";
      if ((needs_send && send < 0) || (needs_recv && recv < 0)) {
        return error_at(Code::kMalformed, child.offset_debug(), "gpu {} tb {} step {}: '{}' without a {} peer", rank,
                        block.id, index, step.type, needs_send && send < 0 ? "send" : "recv");
      }
      block.steps.push_back(step);
    }
    return block;
  }

  Result<Step> read_step(const pugi::xml_node& node, std::uint32_t rank) {
    constexpr std::array types{"s", "r", "rcs", "rrc", "rrs", "rrcs", "cpy", "re", "nop"};
    Step step;
    step.node = node;
    const std::string_view word = node.attribute("type").value();
    const auto* const known = std::find(types.begin(), types.end(), word);
    if (known == types.end())
      return error_at(Code::kMalformed, node.offset_debug(), "unknown step type '{}'", word.substr(0, 40));
    step.type = *known;
    if (step.type != "nop") {
      HOCKET_TRY_ASSIGN(const std::int64_t count, number(node, "cnt", 1, kChunksMax));
      HOCKET_TRY_ASSIGN(step.source, read_range(node, "srcbuf", "srcoff", rank));
      HOCKET_TRY_ASSIGN(step.target, read_range(node, "dstbuf", "dstoff", rank));
      step.source.count = step.target.count = static_cast<std::uint32_t>(count);
    }
    if (node.attribute(kMscclOrder)) {
      HOCKET_TRY_ASSIGN(step.order, number(node, kMscclOrder, 0, std::int64_t{1} << 32));
    }
    HOCKET_TRY_ASSIGN(const std::int64_t depends, number(node, "depid", -1, 65535));
    if (depends >= 0) {
      step.depends_tb = static_cast<std::uint32_t>(depends);
      HOCKET_TRY_ASSIGN(step.depends_step, number(node, "deps", 0, kChunksMax));
    }
    return step;
  }

  /// The range in the file's own offsets; to_pieces() turns it into ours once the owning rank is known.
  Result<PieceRange> read_range(const pugi::xml_node& node, const char* buffer, const char* offset, std::uint32_t) {
    const std::string_view word = node.attribute(buffer).value();
    PieceRange range;
    if (word == "i") {
      range.buffer = Buffer::kInput;
    } else if (word == "o") {
      range.buffer = Buffer::kOutput;
    } else if (word == "s") {
      range.buffer = Buffer::kScratch;
    } else {
      return error_at(Code::kMalformed, node.offset_debug(), "{}=\"{}\" is not i, o or s", buffer, word.substr(0, 40));
    }
    HOCKET_TRY_ASSIGN(const std::int64_t piece, number(node, offset, -1, kChunksMax));
    range.piece = piece < 0 ? 0 : static_cast<std::uint32_t>(piece);
    return range;
  }

  /// Chunk offsets of a rank's own block become indices of the whole vector. In place, both buffers are the output.
  PieceRange to_pieces(PieceRange range, std::uint32_t rank) const {
    const std::uint32_t own = rank * division_.pieces_per_block;
    if (range.buffer == Buffer::kInput && collective_.kind == CollectiveKind::kAllGather && !in_place_)
      range.piece += own;
    if (range.buffer == Buffer::kOutput && collective_.kind == CollectiveKind::kReduceScatter) range.piece += own;
    if (in_place_ && range.buffer == Buffer::kInput && collective_.kind != CollectiveKind::kReduceScatter)
      range.buffer = Buffer::kOutput;
    return range;
  }

  /// Rooted kinds do not name their root: it is the one gpu that never receives (broadcast) or never sends (reduce).
  Result<void> decide_root(const pugi::xml_node& algo) {
    if (!is_rooted(collective_.kind)) return {};
    std::vector<std::uint32_t> roots;
    for (std::uint32_t rank = 0; rank < gpus_.size(); ++rank) {
      const bool other = std::any_of(gpus_[rank].blocks.begin(), gpus_[rank].blocks.end(), [&](const ThreadBlock& b) {
        return !b.steps.empty() && (collective_.kind == CollectiveKind::kBroadcast ? b.recv : b.send) != kNoOp;
      });
      if (!other) roots.push_back(rank);
    }
    if (roots.size() != 1)
      return error_at(Code::kUnsupported, algo.offset_debug(), "the root cannot be told: {} gpus could be it",
                      roots.size());
    collective_.root = roots.front();
    return {};
  }

  Result<void> check_connections() const {
    for (std::uint32_t rank = 0; rank < gpus_.size(); ++rank) {
      std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, std::uint32_t> taken;
      for (const ThreadBlock& block : gpus_[rank].blocks) {
        for (const bool sends : {true, false}) {
          const std::uint32_t peer = sends ? block.send : block.recv;
          if (peer == kNoOp) continue;
          const auto [entry, fresh] = taken.try_emplace({sends, peer, block.channel}, block.id);
          if (fresh) continue;
          return fail(Code::kDisproved,
                      "{}: gpu {} tb {} and tb {} share a connection: both {} gpu {} on channel {} (step 0 of each)",
                      file_, rank, entry->second, block.id, sends ? "send to" : "receive from", peer, block.channel);
        }
      }
    }
    return {};
  }

  struct Emitted {
    BuilderOp last;
    bool any = false;
  };
  struct End {
    std::uint32_t rank, tb, step;
    PieceRange source, target;  // as the file states them, in pieces of sender and receiver
  };

  Result<Schedule> build(const pugi::xml_node& algo) {
    const std::string_view name = algo.attribute("name").value();
    ScheduleBuilder builder(collective_, division_, name.empty() ? "msccl" : std::string(name.substr(0, 256)));
    builder.state_dependencies_by_hand();
    const std::uint32_t pieces = division_.pieces();
    hidden_ = (scratch_ + pieces - 1) / pieces * pieces;
    std::uint32_t hidden_rounds = 0;
    for (std::uint32_t rank = 0; rank < gpus_.size(); ++rank) {
      std::uint32_t rounds = 0;
      HOCKET_TRY(build_rank(builder, rank, rounds));
      hidden_rounds = std::max(hidden_rounds, rounds);
    }
    builder.set_scratch_pieces(hidden_rounds == 0 ? scratch_ : hidden_ + hidden_rounds * pieces);
    HOCKET_TRY(check_ends());
    Result<Schedule> schedule = std::move(builder).finish();
    if (schedule) return schedule;
    return error_at(schedule.error().code, algo.offset_debug(), "{}", schedule.error().text);
  }

  Result<void> build_rank(ScheduleBuilder& builder, std::uint32_t rank, std::uint32_t& hidden_rounds) {
    const Gpu& gpu = gpus_[rank];
    std::optional<BuilderOp> copied;
    if (in_place_ && collective_.kind != CollectiveKind::kReduceScatter) copied = copy_input(builder, rank);
    std::vector<std::vector<Emitted>> done(gpu.blocks.size());
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) done[b].resize(gpu.blocks[b].steps.size());
    std::vector<std::optional<BuilderOp>> before(gpu.blocks.size(), copied);
    for (const StepPlace& at : order_of(gpu)) {
      Emitted& emitted = done[at.block][at.step];
      emitted = emit(builder, {rank, gpu.blocks[at.block], at.step, before[at.block], hidden_rounds});
      if (emitted.any) before[at.block] = emitted.last;
    }
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) HOCKET_TRY(add_waits(builder, rank, b, done));
    return {};
  }

  struct StepPlace {
    std::size_t block = 0;
    std::uint32_t step = 0;
    std::int64_t order = 0;
  };

  /// Block after block, or by kMscclOrder where every step has it and it counts up inside each block.
  static std::vector<StepPlace> order_of(const Gpu& gpu) {
    std::vector<StepPlace> places;
    bool stated = true;
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
      std::int64_t last = -1;
      for (std::uint32_t s = 0; s < gpu.blocks[b].steps.size(); ++s) {
        const Step& step = gpu.blocks[b].steps[s];
        const bool nop = step.type == "nop";
        stated = stated && (nop || step.order > last);
        if (!nop) last = step.order;
        places.push_back({b, s, last});
      }
    }
    if (stated) {
      std::stable_sort(places.begin(), places.end(),
                       [](const StepPlace& x, const StepPlace& y) { return x.order < y.order; });
    }
    return places;
  }

  std::optional<BuilderOp> copy_input(ScheduleBuilder& builder, std::uint32_t rank) const {
    const std::uint32_t per_block = division_.pieces_per_block;
    if (collective_.kind == CollectiveKind::kBroadcast && rank != collective_.root) return std::nullopt;
    if (collective_.kind == CollectiveKind::kReduce && rank != collective_.root) return std::nullopt;
    PieceRange range{Buffer::kInput, 0, division_.pieces()};
    if (collective_.kind == CollectiveKind::kAllGather) range = {Buffer::kInput, rank * per_block, per_block};
    PieceRange target = range;
    target.buffer = Buffer::kOutput;
    return builder.copy(rank, range, target);
  }

  struct Context {
    std::uint32_t rank;
    const ThreadBlock& block;
    std::uint32_t step;
    const std::optional<BuilderOp>& before;
    std::uint32_t& hidden_rounds;
  };

  Emitted emit(ScheduleBuilder& builder, const Context& context) {
    const std::uint32_t rank = context.rank;
    const ThreadBlock& block = context.block;
    const std::uint32_t s = context.step;
    const Step& step = block.steps[s];
    const OpOptions options{.channel = block.channel, .step = s};
    const PieceRange source = to_pieces(step.source, rank);
    PieceRange target = to_pieces(step.target, rank);
    Emitted out;
    const auto add = [&](BuilderOp op) {
      builder.set_origin(op, {block.id, s});
      if (out.any) {
        builder.depend(op, out.last);
      } else if (context.before) {
        builder.depend(op, *context.before);
      }
      out = {op, true};
    };
    if (step.type == "nop") return out;
    if (step.type == "cpy") add(builder.copy(rank, source, target));
    if (step.type == "re") add(builder.reduce(rank, source, target));
    if (step.type == "s") {
      sends_[{rank, block.send, block.channel}].push_back(
          {rank, block.id, s, source, to_pieces(step.target, block.send)});
      add(builder.send(rank, block.send, source, options));
    }
    if (step.type[0] != 'r' || step.type == "re") return out;
    const bool plain = step.type == "r" || step.type == "rcs";
    if (step.type == "rrs") {
      target = {Buffer::kScratch, hidden_ + context.hidden_rounds++ * division_.pieces(), step.source.count};
    } else if (plain) {
      receives_[{block.recv, rank, block.channel}].push_back({rank, block.id, s, target, target});
    }
    add(plain ? builder.recv(rank, block.recv, target, options)
              : builder.recv_reduce(rank, block.recv, source, target, options));
    if (step.type == "rcs" || step.type == "rrs" || step.type == "rrcs")
      add(builder.send(rank, block.send, target, options));
    return out;
  }

  Result<void> add_waits(ScheduleBuilder& builder, std::uint32_t rank, std::size_t b,
                         const std::vector<std::vector<Emitted>>& done) const {
    const Gpu& gpu = gpus_[rank];
    std::vector<BuilderOp> pending;  // waits of nops pass to the next op of the block
    for (std::uint32_t s = 0; s < gpu.blocks[b].steps.size(); ++s) {
      const Step& step = gpu.blocks[b].steps[s];
      if (step.depends_tb != kNoOp) {
        const auto on = std::find_if(gpu.blocks.begin(), gpu.blocks.end(),
                                     [&](const ThreadBlock& t) { return t.id == step.depends_tb; });
        if (on == gpu.blocks.end() || step.depends_step >= on->steps.size()) {
          return error_at(Code::kDisproved, step.node.offset_debug(),
                          "gpu {} tb {} step {} waits for tb {} step {}, which does not exist", rank, gpu.blocks[b].id,
                          s, step.depends_tb, step.depends_step);
        }
        const auto& emitted = done[static_cast<std::size_t>(on - gpu.blocks.begin())];
        for (std::uint32_t back = step.depends_step + 1; back-- > 0;) {
          if (!emitted[back].any) continue;
          pending.push_back(emitted[back].last);
          break;
        }
      }
      if (!done[b][s].any) continue;
      // A step of two ops starts with the first one; waiting on its last is not enough, so the wait goes to the first.
      const BuilderOp first = first_of(done[b][s], step);
      for (const BuilderOp& on : pending) {
        if (on.index != first.index) builder.depend(first, on);
      }
      pending.clear();
    }
    return {};
  }

  static BuilderOp first_of(const Emitted& emitted, const Step& step) {
    const bool two = step.type == "rcs" || step.type == "rrs" || step.type == "rrcs";
    return two ? BuilderOp{emitted.last.rank, emitted.last.index - 1} : emitted.last;
  }

  /// A plain send states where its data should land; the receive that meets it must agree.
  Result<void> check_ends() const {
    for (const auto& [connection, sends] : sends_) {
      const auto receives = receives_.find(connection);
      if (receives == receives_.end() || receives->second.size() != sends.size())
        continue;  // the verifier names what is missing
      for (std::size_t k = 0; k < sends.size(); ++k) {
        const End& from = sends[k];
        const End& to = receives->second[k];
        if (from.target == to.target) continue;
        return fail(Code::kDisproved,
                    "{}: gpu {} tb {} step {} sends to {}[{}] of gpu {}, but gpu {} tb {} step {} writes {}[{}]", file_,
                    from.rank, from.tb, from.step, name_of(from.target.buffer), from.target.piece, to.rank, to.rank,
                    to.tb, to.step, name_of(to.target.buffer), to.target.piece);
      }
    }
    return {};
  }

  std::string_view text_;
  std::string_view file_;
  pugi::xml_document document_;
  Collective collective_;
  Division division_;
  bool in_place_ = false;
  std::uint32_t scratch_ = 0;
  std::uint32_t hidden_ = 0;
  std::vector<Gpu> gpus_;
  using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Connection, std::vector<End>> sends_;
  std::map<Connection, std::vector<End>> receives_;
};

}  // namespace

bool is_msccl_xml(std::string_view text) {
  const std::size_t at = text.substr(0, 65536).find("<algo");
  return at != std::string_view::npos;
}

Result<Schedule> read_msccl_xml(std::string_view text, std::string_view file_name) {
  return MscclReader(text, file_name).read();
}

}  // namespace hocket
