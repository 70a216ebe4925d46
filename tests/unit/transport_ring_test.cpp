// The byte ring: wrapping, full, empty, bytes beside the position, positions of the other end that make no sense,
// random parts between two threads, and a segment that another job's words do not open.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "base/random.h"
#include "transport/shm/shm_segment.h"

namespace hocket {
namespace {

constexpr std::size_t kSize = 64;

struct Ring {
  explicit Ring(std::size_t size = kSize) : bytes(size) {}
  RingPositions positions;
  std::vector<std::byte> bytes;
  RingWriter writer{positions, bytes};
  RingReader reader{positions, bytes};

  void write(std::size_t length) {
    for (const auto part : writer.place(length)) {
      for (std::byte& b : part) b = static_cast<std::byte>(next_out++);
    }
    writer.publish(length);
  }
  /// False when a byte is not the next one.
  bool read(std::size_t length) {
    bool right = true;
    for (const auto part : reader.front(length)) {
      for (const std::byte b : part) right = right && b == static_cast<std::byte>(next_in++);
    }
    wakes = reader.consume(length) || wakes;
    return right;
  }
  bool wakes = false;  // the writer may have to be woken
  unsigned next_out = 0;
  unsigned next_in = 0;
};

TEST(TransportRing, BytesComeInOrderWhereverItWraps) {
  for (std::size_t shift = 0; shift < kSize; ++shift) {
    for (std::size_t length = 0; length <= kSize; ++length) {
      Ring ring;
      ring.write(shift);
      ASSERT_TRUE(ring.read(ring.reader.available()));
      ASSERT_EQ(ring.writer.room(), kSize);
      ring.write(length);
      ASSERT_EQ(ring.reader.available(), length);
      ASSERT_EQ(ring.writer.room(), kSize - length);
      ASSERT_TRUE(ring.read(length));
      ASSERT_EQ(ring.reader.available(), 0U);
    }
  }
}

TEST(TransportRing, PositionsBeyondTheRingAreNeverFollowed) {
  for (const std::uint64_t bad :
       {std::uint64_t{kSize + 11}, std::uint64_t{9}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    Ring ring;
    ring.write(10);
    ASSERT_TRUE(ring.read(ring.reader.available()));
    ring.positions.written.store(bad);
    EXPECT_EQ(ring.reader.available(), 0U) << bad;
    EXPECT_TRUE(ring.reader.damaged()) << bad;
    ring.positions.written.store(10);
    EXPECT_EQ(ring.reader.available(), 0U) << "damaged is for good";
  }
  for (const std::uint64_t bad : {std::uint64_t{11}, std::uint64_t{3}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    Ring ring;
    ring.write(10);
    ring.positions.taken.store(4);
    EXPECT_EQ(ring.writer.room(), kSize - 6);
    ring.positions.taken.store(bad);
    EXPECT_EQ(ring.writer.room(), 0U) << bad;
    EXPECT_TRUE(ring.writer.damaged()) << bad;
    ring.positions.taken.store(4);
    EXPECT_EQ(ring.writer.room(), 0U) << "damaged is for good";
  }
}

TEST(TransportRing, FewBytesComeWithThePosition) {
  Ring ring;
  const auto spoil = [&ring] { std::fill(ring.bytes.begin(), ring.bytes.end(), std::byte{0xee}); };
  for (std::size_t length = 1; length <= kBesideBytes; ++length) {
    ring.write(length);
    spoil();
    ASSERT_EQ(ring.reader.available(), length);
    ASSERT_TRUE(ring.read(length)) << length;
  }
  ring.write(kBesideBytes + 1);
  ASSERT_EQ(ring.reader.available(), kBesideBytes + 1);
  ASSERT_TRUE(ring.read(kBesideBytes + 1)) << "more than there is room for";
  ring.write(5);
  ring.write(6);
  ASSERT_EQ(ring.reader.available(), 11U);
  ASSERT_TRUE(ring.read(11)) << "two parts";
  ring.write(7);
  ASSERT_EQ(ring.reader.available(), 7U);
  ASSERT_TRUE(ring.read(3)) << "not all at once";
  ASSERT_EQ(ring.reader.available(), 4U);
  ASSERT_TRUE(ring.read(4));
}

TEST(TransportRing, BytesThatAreBeingChangedAreReadFromTheRing) {
  for (const std::uint64_t mark : {kChanging, std::uint64_t{63} << kPositionBits}) {
    Ring ring;
    ring.write(8);
    ring.positions.written.store(8 | mark);
    for (auto& word : ring.positions.beside) word.store(0xeeeeeeee);
    ASSERT_EQ(ring.reader.available(), 8U);
    ASSERT_TRUE(ring.read(8));
    EXPECT_FALSE(ring.reader.damaged());
  }
}

SteadyTime soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

constexpr std::size_t kBytes = 200'000;

void write_all(Ring& ring, std::uint64_t seed, Doorbell& to_reader, Doorbell& to_writer) {
  Random random(seed);
  for (std::size_t left = kBytes; left > 0;) {
    const std::size_t length = std::min({left, ring.writer.room(), 1 + random.below(kSize)});
    ring.write(length);
    to_reader.ring(Doorbell::kBytes);
    left -= length;
    if (length > 0) continue;
    const SteadyTime until = soon();
    to_writer.sleep(Doorbell::kRoom, until, [&] { return ring.writer.room() > 0; });
    EXPECT_LT(std::chrono::steady_clock::now(), until) << "nobody woke the writer";
  }
}

TEST(TransportRing, RandomPartsBetweenTwoThreads) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Ring ring;
    Doorbell to_reader;
    Doorbell to_writer;
    std::jthread writer([&] { write_all(ring, seed, to_reader, to_writer); });
    Random random(seed + 100);
    for (std::size_t left = kBytes; left > 0;) {
      const std::size_t length = std::min({left, ring.reader.available(), 1 + random.below(kSize)});
      ring.wakes = false;
      ASSERT_TRUE(ring.read(length)) << "seed " << seed << ", " << left << " left";
      if (ring.wakes) to_writer.ring(Doorbell::kRoom);
      left -= length;
      if (length == 0) to_reader.sleep(Doorbell::kBytes, soon(), [&] { return ring.reader.available() > 0; });
    }
    writer.join();
    EXPECT_FALSE(ring.reader.damaged() || ring.writer.damaged());
  }
}

// As many messages as there is time for: on a busy machine the two may share a core, and take turns of whole time
// slices.
TEST(TransportRing, AWriterThatGoesOnDoesNotMixWhatLiesBesideThePosition) {
  constexpr std::size_t kMessages = 294'000;
  constexpr std::chrono::seconds kLong{3};
  Ring ring(1024);
  const SteadyTime enough = std::chrono::steady_clock::now() + kLong;
  std::atomic<std::size_t> written{std::numeric_limits<std::size_t>::max()};  // known at the end
  std::jthread writer([&] {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kMessages && std::chrono::steady_clock::now() < enough;) {
      const std::size_t length = 8 * (1 + i % 7);
      if (ring.writer.room() < length) {
        std::this_thread::yield();
        continue;
      }
      ring.write(length);
      bytes += length;
      ++i;
    }
    written = bytes;
  });
  const SteadyTime until = soon();
  std::size_t taken = 0;
  while (taken < written) {
    const std::size_t length = ring.reader.available();
    ASSERT_TRUE(length == 0 || ring.read(length)) << taken << " bytes taken";
    taken += length;
    if (length == 0) std::this_thread::yield();
    ASSERT_LT(std::chrono::steady_clock::now(), until) << taken << " bytes taken";
  }
  EXPECT_EQ(taken, written);
  EXPECT_GT(taken, 2 * 1024U) << "the ring has not gone round";
}

TEST(TransportSegment, IsTheSameMemoryOnlyForThoseWhoKnowIt) {
  const auto made = ShmSegment::create(3).value();
  const auto mapped = ShmSegment::map(made->where(), made->token(), 3).value();
  made->state(2).token_address.store(77);
  EXPECT_EQ(mapped->state(2).token_address.load(), 77U);
  made->ring_bytes(1, 2)[5] = std::byte{9};
  EXPECT_EQ(mapped->ring_bytes(1, 2)[5], std::byte{9});
  EXPECT_EQ(mapped->ring_bytes(0, 0).size() & (mapped->ring_bytes(0, 0).size() - 1), 0U);

  Nonce other = made->token();
  other[31] ^= std::byte{1};
  EXPECT_NE(ShmSegment::map(made->where(), other, 3).error().text.find("is shared memory of another job"),
            std::string::npos);
  EXPECT_NE(ShmSegment::map(made->where(), made->token(), 9).error().text.find("not shared memory of a job of 9 ranks"),
            std::string::npos);
  EXPECT_NE(ShmSegment::map("/dev/null", made->token(), 3).error().text.find("'/dev/null' is not shared memory"),
            std::string::npos);
  const std::string where = made->where();
  made->close_door();
  EXPECT_EQ(ShmSegment::map(where, made->token(), 3).error().text,
            "cannot open '" + where + "': No such file or directory");
  EXPECT_EQ(ShmSegment::create(257).error().text, "257 ranks in shared memory: 256 are the most");
}

TEST(TransportSegment, ThatOfMessagesTakesMemoryOnlyWhereItIsWritten) {
  const auto made = ShmSegment::create(2, ShmSegment::Use::kMessages).value();
  for (const std::uint32_t rank : {0U, 1U}) made->touch(rank);
  struct stat status {};
  ASSERT_EQ(::stat(made->where().c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 64 << 10);
  EXPECT_LT(status.st_size, 2 << 20);
  EXPECT_TRUE(ShmSegment::map(made->where(), made->token(), 2, ShmSegment::Use::kMessages));
  EXPECT_NE(ShmSegment::map(made->where(), made->token(), 2).error().text.find("is not shared memory of a job"),
            std::string::npos);
}

}  // namespace
}  // namespace hocket
