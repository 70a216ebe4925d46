#include "rank_pattern.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace hocket {
namespace {

/// A prime, so that no shift by a power of two, a segment or a block goes unseen.
constexpr std::int64_t kPeriod = 8191;

std::uint16_t half_of(int value) {
  constexpr std::uint16_t words[4] = {0x0000, 0x3c00, 0x4000, 0x4200};
  return words[value];
}
std::uint16_t brain_of(int value) {
  constexpr std::uint16_t words[4] = {0x0000, 0x3f80, 0x4000, 0x4040};
  return words[value];
}

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

void put_element(std::byte* at, DataType type, int value) {
  switch (type) {
    case DataType::kI8:
    case DataType::kU8:
      return put(at, static_cast<std::uint8_t>(value));
    case DataType::kF16:
      return put(at, half_of(value));
    case DataType::kBf16:
      return put(at, brain_of(value));
    case DataType::kI32:
    case DataType::kU32:
      return put(at, static_cast<std::uint32_t>(value));
    case DataType::kI64:
    case DataType::kU64:
      return put(at, static_cast<std::uint64_t>(value));
    case DataType::kF32:
      return put(at, static_cast<float>(value));
    case DataType::kF64:
      return put(at, static_cast<double>(value));
  }
}

/// Runs of at most a period, without a wrap: calls `visit(table offset, element offset, elements)`.
template <class Visit>
void for_each_run(std::int64_t phase, std::int64_t count, Visit&& visit) {
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = (phase + done) % kPeriod;
    const std::int64_t run = std::min(count - done, kPeriod - at);
    visit(at, done, run);
    done += run;
  }
}

}  // namespace

RankPattern::RankPattern(const BoundCollective& what, std::uint32_t rank, std::uint64_t seed)
    : what_(what), rank_(rank), element_(static_cast<std::size_t>(size_of(what.type))) {
  inputs_.reserve(what.collective.ranks);
  for (std::uint32_t r = 0; r < what.collective.ranks; ++r) inputs_.push_back(inputs_of(r, seed));
  if (!reduces(what.collective.kind)) return;
  reduced_ = inputs_[0];
  for (std::size_t at = 0; at < reduced_.size(); at += element_) {
    std::byte* total = reduced_.data() + at;
    for (std::uint32_t r = 1; r < what.collective.ranks; ++r)
      combine_element(what, total, total, inputs_[r].data() + at);
    if (what.op == ReduceOp::kAvg) divide_element(what, total, what.collective.ranks);
  }
}

/// Products stay powers of two: mostly ones, and a two on one rank in eight.
RankBytes RankPattern::inputs_of(std::uint32_t rank, std::uint64_t seed) const {
  RankBytes bytes(static_cast<std::size_t>(kPeriod) * element_);
  Random random(seed * 1'000'003 + rank);
  for (std::size_t at = 0; at < bytes.size(); at += element_) {
    const std::uint64_t drawn = random.next();
    const int small = static_cast<int>(drawn >> 62);
    const int factor = drawn >> 61 == 0 ? 2 : 1;
    put_element(bytes.data() + at, what_.type, what_.op == ReduceOp::kProd ? factor : small);
  }
  return bytes;
}

void RankPattern::fill_input(std::span<std::byte> bytes) const {
  const auto count = static_cast<std::int64_t>(bytes.size() / element_);
  for_each_run(0, count, [&](std::int64_t from, std::int64_t to, std::int64_t run) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(to) * element_,
                inputs_[rank_].data() + static_cast<std::size_t>(from) * element_,
                static_cast<std::size_t>(run) * element_);
  });
}

std::vector<RankPattern::Part> RankPattern::expected() const {
  const std::int64_t block = what_.count / what_.collective.ranks;
  std::vector<Part> parts;
  parts.reserve(what_.collective.ranks);
  switch (what_.collective.kind) {
    case CollectiveKind::kAllReduce:
      return {{&reduced_, 0, what_.count}};
    case CollectiveKind::kReduce:
      if (rank_ == what_.collective.root) parts.push_back({&reduced_, 0, what_.count});
      return parts;
    case CollectiveKind::kReduceScatter:
      return {{&reduced_, block * rank_, block}};
    case CollectiveKind::kBroadcast:
      return {{&inputs_[what_.collective.root], 0, what_.count}};
    case CollectiveKind::kAllGather:
      for (const RankBytes& table : inputs_) parts.push_back({&table, 0, block});
      return parts;
    case CollectiveKind::kAllToAll:
      for (const RankBytes& table : inputs_) parts.push_back({&table, block * rank_, block});
      return parts;
  }
  return parts;
}

std::uint64_t RankPattern::count_wrong(std::span<const std::byte> output) const {
  std::uint64_t wrong = 0;
  const std::byte* at = output.data();
  for (const Part& part : expected()) {
    for_each_run(part.phase, part.count, [&](std::int64_t from, std::int64_t to, std::int64_t run) {
      const std::byte* right = part.table->data() + static_cast<std::size_t>(from) * element_;
      const std::byte* got = at + static_cast<std::size_t>(to) * element_;
      if (std::memcmp(right, got, static_cast<std::size_t>(run) * element_) == 0) return;
      for (std::int64_t i = 0; i < run; ++i)
        wrong += std::memcmp(right + static_cast<std::size_t>(i) * element_,
                             got + static_cast<std::size_t>(i) * element_, element_) != 0
                     ? 1
                     : 0;
    });
    at += static_cast<std::size_t>(part.count) * element_;
  }
  return wrong;
}

RankArena::RankArena(const BoundCollective& what, std::uint32_t rank, bool in_place)
    : in_place_(in_place),
      in_(static_cast<std::size_t>(input_count(what, rank) * size_of(what.type))),
      out_(static_cast<std::size_t>(output_count(what, rank) * size_of(what.type))) {
  if (!in_place) return;
  if (what.collective.kind == CollectiveKind::kReduceScatter) out_at_ = out_ * rank;
  if (what.collective.kind == CollectiveKind::kAllGather) at_ = in_ * rank;
}

Result<std::unique_ptr<RankArena>> RankArena::make(const BoundCollective& what, std::uint32_t rank, bool in_place,
                                                   RankTransport* registers) {
  std::unique_ptr<RankArena> made(new RankArena(what, rank, in_place));
  if (!in_place) {
    HOCKET_TRY_ASSIGN(made->first_, made->room(made->in_, made->first_own_, registers));
  }
  const std::size_t second = in_place ? std::max(made->in_, made->out_) : made->out_;
  HOCKET_TRY_ASSIGN(made->second_, made->room(second, made->second_own_, registers));
  return made;
}

Result<std::span<std::byte>> RankArena::room(std::size_t bytes, RankBytes& own, RankTransport* registers) {
  if (registers == nullptr || bytes == 0) {
    own.resize(bytes);
    return std::span<std::byte>(own);
  }
  HOCKET_TRY_ASSIGN(SharedMemory memory, SharedMemory::allocate(bytes));
  HOCKET_TRY(registers->add_memory(memory.range()));
  registered_ = registers;
  shared_.push_back(std::move(memory));
  return shared_.back().bytes();
}

RankArena::~RankArena() {
  for (const SharedMemory& memory : shared_) registered_->remove_memory(memory.range());
}

}  // namespace hocket
