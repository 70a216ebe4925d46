#include "engine/reduce.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/reference.h"

namespace hocket {
namespace {

using Memory = std::vector<std::byte>;

constexpr std::size_t kLengthMax = 100;
constexpr std::byte kCanary{0xa5};

/// Bit patterns where floats go wrong: zeros, infinities, NaNs (quiet, signalling, negative), subnormals, extremes.
Memory awkward(DataType type, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  const auto size = static_cast<std::size_t>(size_of(type));
  Memory bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = random.next();
    const std::uint64_t kind = random.below(6);
    if (kind == 0) bits = 0;
    if (kind == 1) bits &= 0x000000000000000fULL;  // tiny, subnormal
    if (kind == 2) bits |= 0x7ff000007f807f80ULL;  // NaN or infinity in most formats
    if (kind == 3) bits = random.chance(0.5) ? 0x8000000080008080ULL : ~std::uint64_t{0};  // sign alone; all ones
    if (kind == 4) bits = random.chance(0.5) ? 0x7c007c007f807c00ULL : 0x7ff0000000000000ULL;
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

struct Case {
  DataType type;
  ReduceOp op;
  std::size_t count;
  std::size_t shift;  // misalignment of target; a and b take other ones
  Stores stores;
  int alias;  // 0 none, 1 target is a, 2 target is b
};

/// Runs a kernel over memory with canaries; an empty string when it did what the reference does.
std::string check(const Case& c, CombineKernel kernel) {
  const auto size = static_cast<std::size_t>(size_of(c.type));
  const BoundCollective what{.type = c.type, .op = c.op};
  const std::size_t bytes = c.count * size;
  const Memory a = awkward(c.type, c.count, 2 * c.count + c.shift);
  const Memory b = awkward(c.type, c.count, 2 * c.count + c.shift + 1);
  Memory want(bytes);
  for (std::size_t i = 0; i < bytes; i += size) combine_element(what, &want[i], &a[i], &b[i]);
  constexpr std::size_t kRoom = 128;
  Memory target(bytes + 2 * kRoom, kCanary);
  Memory left(bytes + kRoom);
  Memory right(bytes + kRoom);
  std::byte* t = target.data() + 64 + c.shift;
  std::byte* x = c.alias == 1 ? t : left.data() + (c.shift * 3) % 64;
  std::byte* y = c.alias == 2 ? t : right.data() + (c.shift * 5) % 64;
  if (bytes > 0) {
    std::memcpy(x, a.data(), bytes);
    std::memcpy(y, b.data(), bytes);
  }
  kernel(t, x, y, c.count, c.stores);
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::size_t at = i - (64 + c.shift);
    const std::byte expected = i >= 64 + c.shift && at < bytes ? want[at] : kCanary;
    if (target[i] != expected) {
      return fmt::format("{} {} count {} shift {} streaming {} alias {}: byte {} is {:02x}, not {:02x}",
                         name_of(c.type), name_of(c.op), c.count, c.shift, c.stores == Stores::kStreaming, c.alias,
                         static_cast<std::int64_t>(at), static_cast<unsigned>(target[i]),
                         static_cast<unsigned>(expected));
    }
  }
  return "";
}

std::string check_all_lengths(DataType type, ReduceOp op, CombineKernel kernel) {
  for (std::size_t count = 0; count <= kLengthMax; ++count) {
    for (const std::size_t shift : {0, 1, 2, 4, 8, 33}) {
      for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
        std::string wrong = check({type, op, count, shift, stores, static_cast<int>((count + shift) % 3)}, kernel);
        if (!wrong.empty()) return wrong;
      }
    }
  }
  // From 4 KiB on stores into the caches begin at a boundary too.
  const std::size_t long_enough = 4096 / static_cast<std::size_t>(size_of(type));
  for (std::size_t count = long_enough - 1; count < long_enough + 70; ++count) {
    const std::size_t shift = (count * 7) % 64;
    std::string wrong = check({type, op, count, shift, Stores::kCached, static_cast<int>(count % 3)}, kernel);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

class EngineReduce : public testing::TestWithParam<KernelPath> {
 protected:
  void SetUp() override {
    if (!is_supported(GetParam())) GTEST_SKIP() << "this processor lacks the instruction set";
  }
};

TEST_P(EngineReduce, EveryTypeOpLengthAndAlignmentGivesTheReferenceBits) {
  for (int type = 0; type < kDataTypes; ++type) {
    for (int op = 0; op < kReduceOps; ++op) {
      const auto t = static_cast<DataType>(type);
      const auto o = static_cast<ReduceOp>(op);
      EXPECT_EQ(check_all_lengths(t, o, combine_kernel(t, o, GetParam())), "");
    }
  }
}

TEST_P(EngineReduce, ScaleDividesEveryElementAndNothingElse) {
  for (int type = 0; type < kDataTypes; ++type) {
    const BoundCollective what{.type = static_cast<DataType>(type)};
    const auto size = static_cast<std::size_t>(size_of(what.type));
    for (std::size_t count = 0; count <= kLengthMax; ++count) {
      const auto divisor = static_cast<std::uint32_t>(1 + count % 9);
      Memory want = awkward(what.type, count, count);
      Memory target(want.size() + 3, kCanary);
      if (count > 0) std::memcpy(target.data() + 1, want.data(), want.size());
      for (std::size_t i = 0; i < want.size(); i += size) divide_element(what, &want[i], divisor);
      want.insert(want.begin(), kCanary);
      want.insert(want.end(), 2, kCanary);
      scale_kernel(what.type, GetParam())(target.data() + 1, count, divisor);
      ASSERT_EQ(target, want) << name_of(what.type) << " count " << count;
    }
  }
}

TEST_P(EngineReduce, CopyMovesEveryByteAndNothingElse) {
  for (std::size_t bytes = 0; bytes < 4600; bytes += bytes < 300 ? 1 : 13) {
    for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
      const Memory source = awkward(DataType::kU8, bytes, bytes);
      Memory target(bytes + 128, kCanary);
      Memory want = target;
      const std::size_t at = bytes % 67;
      if (bytes > 0) std::memcpy(want.data() + at, source.data(), bytes);
      copy_kernel(GetParam())(target.data() + at, source.data(), bytes, stores);
      ASSERT_EQ(target, want) << bytes;
    }
  }
}

TEST_P(EngineReduce, EveryHalfSurvivesARoundTrip) {
  for (const DataType type : {DataType::kF16, DataType::kBf16}) {
    std::vector<std::uint16_t> all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    std::vector<std::uint16_t> result(all.size());
    combine_kernel(type, ReduceOp::kMax, GetParam())(result.data(), all.data(), all.data(), all.size(),
                                                     Stores::kCached);
    const std::uint16_t infinity = type == DataType::kF16 ? 0x7c00 : 0x7f80;
    const std::uint16_t nan = type == DataType::kF16 ? 0x7e00 : 0x7fc0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(result[i], (i & 0x7fff) > infinity ? nan : i) << name_of(type) << " pattern " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, EngineReduce,
                         testing::Values(KernelPath::kPortable, KernelPath::kAvx2, KernelPath::kAvx512));

// Planted bugs: the check above must find each.
void skips_the_last_element(void* target, const void* a, const void* b, std::size_t count, Stores stores) {
  combine_kernel(DataType::kF32, ReduceOp::kSum)(target, a, b, count - (count > 0 ? 1 : 0), stores);
}
void writes_one_too_many(void* target, const void* a, const void* b, std::size_t count, Stores stores) {
  combine_kernel(DataType::kF32, ReduceOp::kSum)(target, a, b, count + 1, stores);
}
void swaps_min_and_max(void* target, const void* a, const void* b, std::size_t count, Stores stores) {
  combine_kernel(DataType::kF32, ReduceOp::kMax)(target, a, b, count, stores);
}
void keeps_the_payload_of_a_nan(void* target, const void* a, const void* b, std::size_t count, Stores) {
  for (std::size_t i = 0; i < count; ++i) {
    float x;
    float y;
    std::memcpy(&x, static_cast<const std::byte*>(a) + 4 * i, 4);
    std::memcpy(&y, static_cast<const std::byte*>(b) + 4 * i, 4);
    x += y;
    std::memcpy(static_cast<std::byte*>(target) + 4 * i, &x, 4);
  }
}

TEST(EngineReducePlanted, BugsAreFound) {
  EXPECT_NE(check_all_lengths(DataType::kF32, ReduceOp::kSum, skips_the_last_element), "");
  EXPECT_NE(check_all_lengths(DataType::kF32, ReduceOp::kSum, writes_one_too_many), "");
  EXPECT_NE(check_all_lengths(DataType::kF32, ReduceOp::kMin, swaps_min_and_max), "");
  EXPECT_NE(check_all_lengths(DataType::kF32, ReduceOp::kSum, keeps_the_payload_of_a_nan), "");
}

}  // namespace
}  // namespace hocket
