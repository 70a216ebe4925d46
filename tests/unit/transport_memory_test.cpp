// Memory that ranks of one host map: made, found, freed, listed and read in place; what lies elsewhere or was freed
// meanwhile is never read there.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "engine/rank_driver.h"
#include "support/connected_ranks.h"
#include "support/small_schedules.h"
#include "transport/shared_memory.h"
#include "transport/shm/peer_memory.h"
#include "transport/shm/shm_rank.h"

namespace hocket {
namespace {

std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

TEST(TransportMemory, IsFoundByItsBeginningOnly) {
  const SharedMemory memory = SharedMemory::allocate(10000).value();
  const std::optional<SharedRange> found = SharedMemory::at(memory.range().begin);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 10000U);
  EXPECT_EQ(memory.bytes()[9999], std::byte{0});
  const std::vector<std::byte> heap(3 * kSharedMemoryOffset);
  for (const void* other : {static_cast<const void*>(memory.range().begin + 1), static_cast<const void*>(nullptr),
                            static_cast<const void*>(heap.data() + kSharedMemoryOffset)})
    EXPECT_FALSE(SharedMemory::at(other)) << other;
  EXPECT_FALSE(SharedMemory::allocate(0));
  EXPECT_FALSE(SharedMemory::allocate(~std::size_t{0}));
}

/// The soft limit of this process, as long as this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit lower{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(TransportMemory, BeyondTheLimitOfFilesItIsAnErrorAndNoSignal) {
  const FileSizeLimit limit(8192);
  const std::string said = "bytes of shared memory: files of this process may have 8192 (ulimit -f)";
  const auto segment = ShmSegment::create(2);
  ASSERT_FALSE(segment);
  EXPECT_NE(segment.error().text.find(said), std::string::npos) << segment.error().text;
  const auto buffer = SharedMemory::allocate(8192);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().text, "no 12288 " + said);
  EXPECT_TRUE(SharedMemory::allocate(8192 - kSharedMemoryOffset));
}

TEST(TransportMemory, IsNotFreedWhileItIsRegistered) {
  SharedMemory memory = SharedMemory::allocate(100).value();
  const SharedRange range = memory.range();
  std::byte* const begin = memory.release();
  SharedMemory::count_registrations(range, 1);
  const Result<void> refused = SharedMemory::free(begin);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("1 communicators have it registered"), std::string::npos) << refused.error().text;
  SharedMemory::count_registrations(range, -1);
  EXPECT_TRUE(SharedMemory::free(begin));
  EXPECT_FALSE(SharedMemory::free(begin));
}

TEST(TransportMemory, PeersReadWhatIsListedAndNothingBeside) {
  const SharedMemory memory = SharedMemory::allocate(5000).value();
  std::memset(memory.range().begin, 7, 5000);
  const auto ranges = std::make_unique<SharedRanges>();
  ASSERT_TRUE(ranges->add(memory.range()));
  EXPECT_TRUE(ranges->holds(memory.range().begin + 4000, 1000));
  EXPECT_FALSE(ranges->holds(memory.range().begin + 4000, 1001));
  PeerMemory peer;
  const std::uint64_t begin = address(memory.range().begin);
  const std::byte* there = peer.find(*ranges, ::getpid(), begin + 4000, 1000);
  ASSERT_NE(there, nullptr);
  EXPECT_NE(there, memory.range().begin + 4000);
  EXPECT_EQ(there[999], std::byte{7});
  EXPECT_EQ(peer.find(*ranges, ::getpid(), begin + 4000, 1001), nullptr);
  EXPECT_EQ(peer.find(*ranges, ::getpid(), begin - 1, 1), nullptr);
  EXPECT_EQ(peer.find(*ranges, ::getpid(), begin + 5000, 0), nullptr);
  ranges->remove(memory.range().begin);
  EXPECT_EQ(peer.find(*ranges, ::getpid(), begin, 1), nullptr);
  EXPECT_FALSE(ranges->holds(memory.range().begin, 1));
}

TEST(TransportMemory, OtherMemoryAtTheSamePlaceIsMappedAnew) {
  const auto ranges = std::make_unique<SharedRanges>();
  PeerMemory peer;
  const SharedMemory first = SharedMemory::allocate(100).value();
  const SharedMemory second = SharedMemory::allocate(100).value();
  *first.range().begin = std::byte{1};
  *second.range().begin = std::byte{2};
  // As if the second were where the first was: what a freed and a new range may look like.
  for (const SharedMemory* memory : {&first, &second, &first}) {
    ASSERT_TRUE(ranges->add({first.range().begin, 100, memory->range().file}));
    const std::byte* there = peer.find(*ranges, ::getpid(), address(first.range().begin), 100);
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(*there, *memory->range().begin);
    ranges->remove(first.range().begin);
  }
}

TEST(TransportMemory, WhatCannotBeMappedIsNotFoundAndTooManyAreRefused) {
  const SharedMemory memory = SharedMemory::allocate(100).value();
  const auto ranges = std::make_unique<SharedRanges>();
  ASSERT_TRUE(ranges->add({memory.range().begin, 200, memory.range().file}));  // says more than the file has
  PeerMemory peer;
  EXPECT_EQ(peer.find(*ranges, ::getpid(), address(memory.range().begin), 100), nullptr);
  for (std::size_t i = 1; i < SharedRanges::kMost; ++i) ASSERT_TRUE(ranges->add(memory.range()));
  const Result<void> refused = ranges->add(memory.range());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("64 ranges"), std::string::npos);
}

// The same calls with and without registered memory; ranks change and free it in between.
TEST(TransportMemory, CallsReadItInPlaceAndAreRight) {
  constexpr std::uint32_t kRanks = 3;
  constexpr std::int64_t kCount = 30'000;
  auto ranks = test::connected_ranks(kRanks, test::Over::kShm);
  const VerifiedSchedule ring = prove(test::ring_all_reduce(kRanks, 2).value()).value();
  const BoundCollective what{ring.schedule().collective(), kCount, DataType::kI64, ReduceOp::kSum};
  const Plan plan = Plan::bind(ring, what, {64 << 10}).value();
  test::run_all(kRanks, [&](std::uint32_t r) {
    const auto driver = RankDriver::create(plan, r, *ranks[r]).value();
    for (int round = 0; round < 8; ++round) {
      SharedMemory memory = SharedMemory::allocate(kCount * sizeof(std::int64_t)).value();
      if (round % 4 != 3) {
        ASSERT_TRUE(ranks[r]->add_memory(memory.range()));
      }
      auto* const values = reinterpret_cast<std::int64_t*>(memory.range().begin);
      for (int call = 0; call < 3; ++call) {
        for (std::int64_t i = 0; i < kCount; ++i) values[i] = (r + 1) * (i + round) + call;
        const Result<void> ran = driver->run({values, values});
        ASSERT_TRUE(ran) << ran.error().text;
        for (std::int64_t i = 0; i < kCount; ++i) ASSERT_EQ(values[i], 6 * (i + round) + 3 * call) << "rank " << r;
      }
      ranks[r]->remove_memory(memory.range());
    }
    // Per call two of three thirds go through every rank twice, in segments of 64 KiB at most.
    const auto& rank = static_cast<const ShmRank&>(*ranks[r]);
    constexpr std::uint64_t kPerCall = std::uint64_t{4} * 2 * 1;
    EXPECT_GE(rank.loan_counts().mapped, (6 * 3 - 1) * kPerCall);  // in the first one it may not be known yet
    EXPECT_LE(rank.loan_counts().mapped, 6 * 3 * kPerCall);
    EXPECT_EQ(rank.loan_counts().copied, 0U);
    EXPECT_GE(rank.bounce_counts().copied, 2 * 3 * kPerCall);
    EXPECT_LE(rank.bounce_counts().copied, (2 * 3 + 1) * kPerCall);
  });
  test::leave_all(std::move(ranks));
}

}  // namespace
}  // namespace hocket
