#include "schedule/collective.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace hocket {
namespace {

template <class T>
struct Word {
  std::string_view text;
  T value;
};
template <class T>
Word(const char*, T) -> Word<T>;  // clang 16 does not deduce aggregates by itself

using enum CollectiveKind;
using enum DataType;
using enum ReduceOp;

// The first word of each value is its name.
constexpr std::array kKindWords{Word{"all_reduce", kAllReduce}, Word{"reduce_scatter", kReduceScatter},
                                Word{"all_gather", kAllGather}, Word{"broadcast", kBroadcast},
                                Word{"reduce", kReduce},        Word{"all_to_all", kAllToAll},
                                Word{"allreduce", kAllReduce},  Word{"reducescatter", kReduceScatter},
                                Word{"allgather", kAllGather},  Word{"bcast", kBroadcast},
                                Word{"alltoall", kAllToAll}};
constexpr std::array kTypeWords{
    Word{"i8", kI8},         Word{"u8", kU8},      Word{"i32", kI32},     Word{"u32", kU32},     Word{"i64", kI64},
    Word{"u64", kU64},       Word{"f16", kF16},    Word{"bf16", kBf16},   Word{"f32", kF32},     Word{"f64", kF64},
    Word{"int8", kI8},       Word{"uint8", kU8},   Word{"int32", kI32},   Word{"int", kI32},     Word{"uint32", kU32},
    Word{"int64", kI64},     Word{"uint64", kU64}, Word{"half", kF16},    Word{"float16", kF16}, Word{"fp16", kF16},
    Word{"bfloat16", kBf16}, Word{"float", kF32},  Word{"float32", kF32}, Word{"fp32", kF32},    Word{"double", kF64},
    Word{"float64", kF64},   Word{"fp64", kF64}};
constexpr std::array kOpWords{Word{"sum", kSum}, Word{"prod", kProd}, Word{"min", kMin}, Word{"max", kMax},
                              Word{"avg", kAvg}};

template <class T, std::size_t N>
std::string_view first_word(const std::array<Word<T>, N>& words, T value) {
  return std::find_if(words.begin(), words.end(), [&](const Word<T>& w) { return w.value == value; })->text;
}

template <class T, std::size_t N>
Result<T> parse_word(const std::array<Word<T>, N>& words, std::string_view text, const char* what) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '-', '_');
  std::string known;
  for (const Word<T>& word : words) {
    if (word.text == plain) return word.value;
    if (first_word(words, word.value) == word.text) known += fmt::format("{}{}", known.empty() ? "" : ", ", word.text);
  }
  return fail(Code::kInvalidArgument, "unknown {} '{}'; known: {}", what, text, known);
}

}  // namespace

std::string_view name_of(CollectiveKind kind) { return first_word(kKindWords, kind); }
std::string_view name_of(DataType type) { return first_word(kTypeWords, type); }
std::string_view name_of(ReduceOp op) { return first_word(kOpWords, op); }

Result<CollectiveKind> parse_collective(std::string_view word) { return parse_word(kKindWords, word, "collective"); }
Result<DataType> parse_data_type(std::string_view word) { return parse_word(kTypeWords, word, "data type"); }
Result<ReduceOp> parse_reduce_op(std::string_view word) { return parse_word(kOpWords, word, "reduce operator"); }

Result<void> validate(const BoundCollective& what) {
  const Collective& c = what.collective;
  if (c.ranks == 0) return fail(Code::kInvalidArgument, "a collective needs at least 1 rank");
  if (is_rooted(c.kind) && c.root >= c.ranks) {
    return fail(Code::kInvalidArgument, "{}: root {} is not below the {} ranks", name_of(c.kind), c.root, c.ranks);
  }
  if (what.count < 0) return fail(Code::kInvalidArgument, "{}: count {} is negative", name_of(c.kind), what.count);
  if (what.count > std::numeric_limits<std::int64_t>::max() / size_of(what.type)) {
    return fail(Code::kInvalidArgument, "{}: {} elements of {} exceed 2^63 bytes", name_of(c.kind), what.count,
                name_of(what.type));
  }
  if (is_blocked(c.kind) && what.count % c.ranks != 0) {
    return fail(Code::kInvalidArgument, "{}: {} elements do not split equally over {} ranks", name_of(c.kind),
                what.count, c.ranks);
  }
  return {};
}

double bus_factor(const Collective& collective) {
  const double n = collective.ranks;
  switch (collective.kind) {
    case kAllReduce:
      return 2 * (n - 1) / n;
    case kReduceScatter:
    case kAllGather:
    case kAllToAll:
      return (n - 1) / n;
    default:
      return 1;
  }
}

}  // namespace hocket
