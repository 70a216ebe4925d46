#include "exchange/mscclpp_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "exchange/json_text.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;
using Plan = MscclppPlan;

constexpr std::uint32_t kGpusMax = 1024, kChunksMax = 1U << 20, kIdMax = 65'535;
constexpr std::uint32_t kPortNumber = 0x8000;  // numbers of port channels start here

Result<const Json*> member(const Json& object, const char* key) {
  if (!object.is_object()) return fail(Code::kMalformed, "is no object");
  const auto at = object.find(key);
  if (at == object.end()) return fail(Code::kMalformed, "'{}' is missing", key);
  return &*at;
}

Result<const Json*> list(const Json& object, const char* key) {
  HOCKET_TRY_ASSIGN(const Json* const value, member(object, key));
  if (!value->is_array()) return fail(Code::kMalformed, "'{}' is no list", key);
  return value;
}

Result<std::uint32_t> whole(const Json& value, std::string_view what, std::uint32_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    return fail(Code::kMalformed, "'{}' is {}, expected a whole number up to {}", what, value.dump().substr(0, 40),
                most);
  return static_cast<std::uint32_t>(value.get<std::uint64_t>());
}

Result<std::uint32_t> number(const Json& object, const char* key, std::uint32_t most) {
  HOCKET_TRY_ASSIGN(const Json* const value, member(object, key));
  return whole(*value, key, most);
}

Result<std::string> word(const Json& object, const char* key) {
  HOCKET_TRY_ASSIGN(const Json* const value, member(object, key));
  if (!value->is_string()) return fail(Code::kMalformed, "'{}' is no text", key);
  return value->get<std::string>();
}

Result<std::vector<std::uint32_t>> numbers(const Json& object, const char* key, std::uint32_t most) {
  HOCKET_TRY_ASSIGN(const Json* const values, list(object, key));
  std::vector<std::uint32_t> out;
  out.reserve(values->size());
  for (const Json& value : *values) {
    HOCKET_TRY_ASSIGN(const std::uint32_t one, whole(value, key, most));
    out.push_back(one);
  }
  return out;
}

Result<Buffer> buffer_of(const Json& object) {
  HOCKET_TRY_ASSIGN(const std::string type, word(object, "type"));
  if (type == "i") return Buffer::kInput;
  if (type == "o") return Buffer::kOutput;
  if (type == "s") return Buffer::kScratch;
  return fail(Code::kMalformed, "'type' is '{}', expected i, o or s", type.substr(0, 40));
}

/// 0 memory, 1 port.
Result<std::size_t> channel_type(const Json& object, const char* key) {
  HOCKET_TRY_ASSIGN(const std::string type, word(object, key));
  if (type == "memory") return std::size_t{0};
  if (type == "port") return std::size_t{1};
  if (type == "switch")
    return fail(Code::kUnsupported, "switch channels reduce inside the network, which no op here does");
  return fail(Code::kMalformed, "'{}' is '{}', expected memory or port", key, type.substr(0, 40));
}

struct Word {
  std::string_view name;
  Plan::Kind kind;
  bool signals = false;
};
constexpr Word kWords[] = {
    {"nop", Plan::Kind::kNop},
    {"flush", Plan::Kind::kNop},
    {"copy", Plan::Kind::kCopy},
    {"re", Plan::Kind::kReduce},
    {"res", Plan::Kind::kReduce},
    {"put", Plan::Kind::kPut},
    {"pws", Plan::Kind::kPut, true},
    {"pwsf", Plan::Kind::kPut, true},
    {"signal", Plan::Kind::kSignal},
    {"rlxsignal", Plan::Kind::kSignal},
    {"wait", Plan::Kind::kWait},
    {"rlxwait", Plan::Kind::kWait},
    {"sem_acquire", Plan::Kind::kAcquire},
    {"sem_release", Plan::Kind::kRelease},
    {"barrier", Plan::Kind::kBarrier},
};

/// One GPU's tables while its thread blocks are read.
struct Tables {
  std::array<std::vector<Plan::Channel>, 2> channels;            // by type
  std::vector<std::pair<std::uint32_t, Buffer>> remote_buffers;  // rank and buffer
};
struct BlockTables {
  std::array<std::vector<std::uint32_t>, 2> channels, buffers;  // ids in Tables, by type
};

class PlanReader {
 public:
  Result<Plan> read(const Json& root) {
    HOCKET_TRY_ASSIGN(plan_.name, word(root, "name"));
    HOCKET_TRY_ASSIGN(const std::string collective, word(root, "collective"));
    const Result<CollectiveKind> kind = parse_collective(collective);
    if (!kind)
      return fail(Code::kUnsupported, "collective '{}' is not one that can be checked", collective.substr(0, 40));
    plan_.kind = *kind;
    HOCKET_TRY_ASSIGN(const std::string protocol, word(root, "protocol"));
    if (protocol != "Simple")
      return fail(Code::kUnsupported, "protocol '{}': only Simple is read, packets carry flags of their own",
                  protocol.substr(0, 40));
    HOCKET_TRY_ASSIGN(const Json* const in_place, member(root, "inplace"));
    if (!in_place->is_boolean()) return fail(Code::kMalformed, "'inplace' is neither true nor false");
    plan_.in_place = in_place->get<bool>();
    HOCKET_TRY_ASSIGN(const Json* const gpus, list(root, "gpus"));
    if (gpus->empty() || gpus->size() > kGpusMax)
      return fail(Code::kMalformed, "{} gpus, expected 1 to {}", gpus->size(), kGpusMax);
    gpu_count_ = static_cast<std::uint32_t>(gpus->size());
    for (std::uint32_t id = 0; id < gpu_count_; ++id) {
      if (Result<void> ok = read_gpu((*gpus)[id], id); !ok)
        return fail(ok.error().code, "gpu {}{}{}", id, ok.error().text.starts_with(" ") ? "" : ": ", ok.error().text);
    }
    return std::move(plan_);
  }

 private:
  Result<void> read_gpu(const Json& json, std::uint32_t id) {
    Plan::Gpu gpu;
    HOCKET_TRY_ASSIGN(const std::uint32_t stated, number(json, "id", kGpusMax));
    if (stated != id) return fail(Code::kMalformed, "its id is {}", stated);
    HOCKET_TRY_ASSIGN(gpu.inputs, number(json, "input_chunks", kChunksMax));
    HOCKET_TRY_ASSIGN(gpu.outputs, number(json, "output_chunks", kChunksMax));
    HOCKET_TRY_ASSIGN(gpu.scratch, number(json, "scratch_chunks", kChunksMax));
    if (json.contains("semaphores")) {
      HOCKET_TRY_ASSIGN(const Json* const semaphores, list(json, "semaphores"));
      for (const Json& semaphore : *semaphores) {
        HOCKET_TRY_ASSIGN(const std::uint32_t value, number(semaphore, "init_value", kIdMax));
        if (value != 0) return fail(Code::kUnsupported, "a semaphore that starts at {}", value);
      }
    }
    tables_ = {};
    HOCKET_TRY(read_channels(json, id));
    HOCKET_TRY(read_buffers(json, id));
    HOCKET_TRY_ASSIGN(const Json* const blocks, list(json, "threadblocks"));
    for (std::size_t b = 0; b < blocks->size(); ++b) {
      place_ = fmt::format(" threadblock {}", b);
      HOCKET_TRY_ASSIGN(auto ops, read_block((*blocks)[b], id, b));
      gpu.blocks.push_back(std::move(ops));
    }
    plan_.gpus.push_back(std::move(gpu));
    return {};
  }

  /// The k-th channel of a type to a peer meets the peer's k-th one back.
  Result<void> read_channels(const Json& json, std::uint32_t id) {
    HOCKET_TRY_ASSIGN(const Json* const channels, list(json, "channels"));
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> counts;
    for (const Json& channel : *channels) {
      HOCKET_TRY_ASSIGN(const std::size_t type, channel_type(channel, "channel_type"));
      HOCKET_TRY_ASSIGN(const auto peers, numbers(channel, "connected_to", gpu_count_ - 1));
      for (const std::uint32_t peer : peers) {
        if (peer == id) return fail(Code::kMalformed, "a channel to itself");
        const std::uint32_t k = counts[{type, peer}]++;
        if (k >= kPortNumber) return fail(Code::kResourceExhausted, "over {} channels to gpu {}", kPortNumber, peer);
        tables_.channels[type].push_back({peer, static_cast<std::uint16_t>(k + type * kPortNumber)});
      }
    }
    return {};
  }

  Result<void> read_buffers(const Json& json, std::uint32_t id) {
    if (!json.contains("remote_buffers")) return {};
    HOCKET_TRY_ASSIGN(const Json* const buffers, list(json, "remote_buffers"));
    for (const Json& buffer : *buffers) {
      HOCKET_TRY_ASSIGN(const std::uint32_t rank, number(buffer, "rank", gpu_count_ - 1));
      HOCKET_TRY_ASSIGN(const Buffer type, buffer_of(buffer));
      if (rank == id) return fail(Code::kMalformed, "a remote buffer of its own");
      tables_.remote_buffers.emplace_back(rank, type);
    }
    return {};
  }

  Result<std::vector<Plan::Operation>> read_block(const Json& json, std::uint32_t gpu, std::size_t b) {
    Result<BlockTables> tables = block_tables(json);
    if (!tables) return located(tables.error());
    block_ = std::move(*tables);
    const Result<const Json*> ops = list(json, "ops");
    if (!ops) return located(ops.error());
    std::vector<Plan::Operation> out;
    for (std::size_t i = 0; i < (*ops)->size(); ++i) {
      if (++operations_ > kMscclppFileOpsMax)
        return fail(Code::kResourceExhausted, ": over {} operations", kMscclppFileOpsMax);
      place_ = fmt::format(" threadblock {} op {}", b, i);
      Result<Plan::Operation> op = read_op((**ops)[i]);
      if (!op) return located(op.error());
      op->place = fmt::format("gpu {}{}", gpu, place_);
      out.push_back(std::move(*op));
    }
    return out;
  }

  [[nodiscard]] tl::unexpected<Error> located(const Error& error) const {
    return fail(error.code, "{}: {}", place_, error.text);
  }

  static void extend(std::vector<std::uint32_t>& ids, const std::vector<std::uint32_t>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
  }

  [[nodiscard]] Result<BlockTables> block_tables(const Json& json) const {
    BlockTables out;
    HOCKET_TRY_ASSIGN(const Json* const channels, list(json, "channels"));
    for (const Json& channel : *channels) {
      HOCKET_TRY_ASSIGN(const std::size_t type, channel_type(channel, "channel_type"));
      HOCKET_TRY_ASSIGN(const auto ids, numbers(channel, "channel_ids", kIdMax));
      for (const std::uint32_t id : ids) {
        if (id >= tables_.channels[type].size())
          return fail(Code::kMalformed, "channel {} of the {} there are", id, tables_.channels[type].size());
      }
      extend(out.channels[type], ids);
    }
    if (!json.contains("remote_buffer_refs")) return out;
    HOCKET_TRY_ASSIGN(const Json* const buffers, list(json, "remote_buffer_refs"));
    for (const Json& buffer : *buffers) {
      HOCKET_TRY_ASSIGN(const std::size_t type, channel_type(buffer, "access_channel_type"));
      HOCKET_TRY_ASSIGN(const auto ids, numbers(buffer, "remote_buffer_ids", kIdMax));
      for (const std::uint32_t id : ids) {
        if (id >= tables_.remote_buffers.size())
          return fail(Code::kMalformed, "remote buffer {} of the {} there are", id, tables_.remote_buffers.size());
      }
      extend(out.buffers[type], ids);
    }
    return out;
  }

  [[nodiscard]] Result<Plan::Operation> read_op(const Json& json) const {
    HOCKET_TRY_ASSIGN(const std::string name, word(json, "name"));
    const auto* const known =
        std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& w) { return w.name == name; });
    if (known == std::end(kWords))
      return fail(Code::kUnsupported,
                  "operation '{}' is not read: packets, switches, pipelines and reads of another "
                  "GPU's memory have no op here",
                  name.substr(0, 40));
    Plan::Operation op;
    op.kind = known->kind;
    op.signals = known->signals;
    std::size_t type = 0;
    if (json.contains("channel_type") && json["channel_type"] != "none") {
      HOCKET_TRY_ASSIGN(type, channel_type(json, "channel_type"));
    }
    if (json.contains("channel_ids")) {
      HOCKET_TRY_ASSIGN(const auto ids, numbers(json, "channel_ids", kIdMax));
      for (const std::uint32_t id : ids) {
        if (id >= block_.channels[type].size())
          return fail(Code::kMalformed, "channel {} of the thread block's {}", id, block_.channels[type].size());
        op.channels.push_back(tables_.channels[type][block_.channels[type][id]]);
      }
    }
    HOCKET_TRY_ASSIGN(op.sources, chunks(json, "src_buff", type));
    HOCKET_TRY_ASSIGN(op.targets, chunks(json, "dst_buff", type));
    if (op.kind == Plan::Kind::kAcquire || op.kind == Plan::Kind::kRelease) {
      HOCKET_TRY_ASSIGN(op.semaphores, numbers(json, "semaphore_ids", kIdMax));
    }
    if (op.kind == Plan::Kind::kBarrier) {
      HOCKET_TRY_ASSIGN(const std::uint32_t id, number(json, "barrier_id", kIdMax));
      HOCKET_TRY_ASSIGN(op.blocks, number(json, "num_threadblocks", kIdMax));
      op.semaphores.push_back(id);
    }
    HOCKET_TRY(check(op, name));
    return op;
  }

  [[nodiscard]] Result<std::vector<Plan::Chunk>> chunks(const Json& json, const char* key, std::size_t type) const {
    std::vector<Plan::Chunk> out;
    if (!json.contains(key)) return out;
    HOCKET_TRY_ASSIGN(const Json* const values, list(json, key));
    for (const Json& value : *values) {
      Plan::Chunk chunk;
      if (value.is_object() && value.contains("buffer_id")) {
        HOCKET_TRY_ASSIGN(const std::uint32_t id, number(value, "buffer_id", kIdMax));
        if (id >= block_.buffers[type].size())
          return fail(Code::kMalformed, "'{}' names buffer {} of the thread block's {}", key, id,
                      block_.buffers[type].size());
        const auto& [rank, buffer] = tables_.remote_buffers[block_.buffers[type][id]];
        chunk.gpu = rank;
        chunk.range.buffer = buffer;
      } else {
        HOCKET_TRY_ASSIGN(chunk.range.buffer, buffer_of(value));
      }
      HOCKET_TRY_ASSIGN(chunk.range.piece, number(value, "index", kChunksMax));
      HOCKET_TRY_ASSIGN(chunk.range.count, number(value, "size", kChunksMax));
      if (chunk.range.count == 0) return fail(Code::kMalformed, "'{}' has a chunk of size 0", key);
      out.push_back(chunk);
    }
    return out;
  }

  /// The operands that each kind needs.
  static Result<void> check(const Plan::Operation& op, std::string_view name) {
    using Kind = Plan::Kind;
    const bool moves = op.kind == Kind::kCopy || op.kind == Kind::kReduce || op.kind == Kind::kPut;
    if (moves && (op.sources.empty() || op.targets.empty()))
      return fail(Code::kMalformed, "'{}' without source or target", name);
    for (const Plan::Chunk& source : op.sources) {
      if (source.gpu != Plan::kHere)
        return fail(Code::kUnsupported, "'{}' reads gpu {}'s memory; only puts are followed", name, source.gpu);
      if (moves && source.range.count != op.targets.front().range.count)
        return fail(Code::kMalformed, "'{}' from {} chunks to {}", name, source.range.count,
                    op.targets.front().range.count);
    }
    for (std::size_t i = 0; i < op.targets.size(); ++i) {
      const bool here = op.targets[i].gpu == Plan::kHere;
      if (here != (op.kind == Kind::kCopy || (op.kind == Kind::kReduce && i == 0)))
        return fail(Code::kMalformed, "'{}' writes to {}", name, here ? "its own GPU" : "another GPU");
      if (op.targets[i].range.count != op.targets.front().range.count)
        return fail(Code::kMalformed, "'{}' has targets of {} and {} chunks", name, op.targets.front().range.count,
                    op.targets[i].range.count);
    }
    if (op.kind == Kind::kCopy && op.targets.size() != 1) return fail(Code::kUnsupported, "'copy' to several places");
    if (op.kind == Kind::kPut && op.sources.size() != 1 && op.sources.size() != op.targets.size())
      return fail(Code::kMalformed, "'{}' of {} chunks to {} places", name, op.sources.size(), op.targets.size());
    const bool counts = op.kind == Kind::kSignal || op.kind == Kind::kWait || op.signals;
    if (counts && op.channels.empty()) return fail(Code::kMalformed, "'{}' without a channel", name);
    return {};
  }

  Plan plan_;
  Tables tables_;
  BlockTables block_;
  std::uint32_t gpu_count_ = 0;
  std::size_t operations_ = 0;
  std::string place_;
};

}  // namespace

Result<MscclppPlan> parse_mscclpp_plan(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const Json root, parse_json(text, file_name));
  Result<Plan> plan = PlanReader().read(root);
  if (!plan) return fail(plan.error().code, "{}: {}", file_name, plan.error().text);
  return plan;
}

}  // namespace hocket
