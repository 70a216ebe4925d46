// How two ranks agree on the way of their messages, over a connection of which the test may hold one end: what each end
// says and hears, ends that cannot or say nonsense, and waits that end.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "transport/pair.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using Way = PairEnds::Way;
using Word = std::array<char, 256>;  // as it travels: the answer, a token, a text

struct Connection {
  Connection() {
    std::array<int, 2> both{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both.data()), 0);
    ends[0].reset(both[0]);
    ends[1].reset(both[1]);
  }
  std::array<Descriptor, 2> ends;
};

Result<OpenPair> open(
    std::uint32_t rank, Way way, Descriptor link,
    const std::function<Result<void>()>& still = [] { return Result<void>{}; }) {
  const PairEnds ends{.rank = rank, .names = {"rank 0", "rank 1"}, .way = way};
  return open_pair(ends, std::move(link), steady_clock::now() + seconds(10), still);
}

Word word(std::string_view answer, std::string_view text) {
  Word made{};
  answer.copy(made.data(), 7);
  text.copy(made.data() + 40, 215);
  return made;
}

std::string text_of(const Word& word) { return {word.data() + 40}; }

void say(const Descriptor& socket, const Word& word) {
  ASSERT_EQ(::send(socket.get(), word.data(), word.size(), MSG_NOSIGNAL), static_cast<ssize_t>(word.size()));
}

/// Within ten seconds.
Word hear(const Descriptor& socket) {
  Word got{};
  for (int i = 0; i < 10'000; ++i) {
    if (::recv(socket.get(), got.data(), got.size(), 0) == static_cast<ssize_t>(got.size())) return got;
    std::this_thread::sleep_for(milliseconds(1));
  }
  ADD_FAILURE() << "nothing was said";
  return got;
}

TEST(TransportPair, BothEndsTakeTheSameWay) {
  for (const Way way : {Way::kMemory, Way::kMemoryOnly, Way::kTcp}) {
    Connection connection;
    Result<OpenPair> receiver;
    std::thread other([&] { receiver = open(1, way, std::move(connection.ends[1])); });
    const Result<OpenPair> sender = open(0, way, std::move(connection.ends[0]));
    other.join();
    ASSERT_TRUE(sender && receiver);
    EXPECT_EQ(sender->name, way == Way::kTcp ? "tcp" : "shm");
    EXPECT_EQ(receiver->name, sender->name);
    EXPECT_EQ(sender->obstacle + receiver->obstacle, "");
  }
}

TEST(TransportPair, ASenderWhoseReceiverCannotGoesOnOverTcp) {
  Connection connection;
  std::thread other([&] {
    EXPECT_NE(text_of(hear(connection.ends[1])).find("/proc/"), std::string::npos);
    say(connection.ends[1], word("", "it has no eyes"));
  });
  const Result<OpenPair> sender = open(0, Way::kMemory, std::move(connection.ends[0]));
  other.join();
  ASSERT_TRUE(sender);
  EXPECT_EQ(sender->name, "tcp");
  EXPECT_EQ(sender->obstacle, "rank 1: it has no eyes");
}

TEST(TransportPair, AReceiverThatCannotSaysWhyAndGoesOnOverTcp) {
  for (const Way way : {Way::kMemory, Way::kMemoryOnly}) {
    Connection connection;
    say(connection.ends[0], word("memory", "/dev/null"));
    const Result<OpenPair> receiver = open(1, way, std::move(connection.ends[1]));
    EXPECT_EQ(text_of(hear(connection.ends[0])), "'/dev/null' is not shared memory of a job of 2 ranks");
    ASSERT_EQ(receiver.has_value(), way == Way::kMemory);
    if (receiver) {
      EXPECT_EQ(receiver->obstacle, "rank 1: '/dev/null' is not shared memory of a job of 2 ranks");
    } else {
      EXPECT_EQ(receiver.error().text,
                "no shared memory for messages from rank 0 to rank 1: rank 1: '/dev/null' is not shared memory of a "
                "job of 2 ranks");
    }
  }
}

TEST(TransportPair, AReceiverHearsThatTheSenderHasNone) {
  Connection connection;
  say(connection.ends[0], word("", "the system has no memfd"));
  const Result<OpenPair> receiver = open(1, Way::kMemory, std::move(connection.ends[1]));
  ASSERT_TRUE(receiver);
  EXPECT_EQ(receiver->obstacle, "rank 0: the system has no memfd");
}

TEST(TransportPair, BytesWithoutAnEndAreNoNonsense) {
  Connection connection;
  Word full;
  full.fill('x');
  say(connection.ends[0], full);
  const Result<OpenPair> receiver = open(1, Way::kMemory, std::move(connection.ends[1]));
  ASSERT_TRUE(receiver);
  EXPECT_EQ(receiver->name, "tcp");
  EXPECT_EQ(receiver->obstacle, "rank 0: " + std::string(215, 'x'));
}

TEST(TransportPair, AnEndThatGoesIsNamed) {
  for (const std::uint32_t rank : {0U, 1U}) {
    Connection connection;
    connection.ends[1 - rank].reset();
    const Result<OpenPair> left = open(rank, Way::kMemory, std::move(connection.ends[rank]));
    ASSERT_FALSE(left);
    EXPECT_EQ(left.error().code, Code::kPeerFailed);
    EXPECT_EQ(left.error().text.find(rank == 0 ? "rank 0 lost rank 1: " : "rank 1 lost rank 0: "), 0U)
        << left.error().text;
  }
}

TEST(TransportPair, ASenderThatIsGoneWithItsMemoryIsLost) {
  for (const Way way : {Way::kMemory, Way::kMemoryOnly}) {
    Connection connection;
    say(connection.ends[0], word("memory", "/proc/0/fd/8"));
    connection.ends[0].reset();
    const Result<OpenPair> receiver = open(1, way, std::move(connection.ends[1]));
    ASSERT_FALSE(receiver);
    EXPECT_EQ(receiver.error().code, Code::kPeerFailed);
    EXPECT_EQ(receiver.error().text, "rank 1 lost rank 0: the connection was closed");
  }
}

TEST(TransportPair, WaitingEndsWhenItMakesNoSense) {
  Connection connection;
  int asked = 0;
  const Result<OpenPair> receiver = open(1, Way::kMemory, std::move(connection.ends[1]), [&asked]() -> Result<void> {
    if (++asked < 3) return {};
    return fail(Code::kTimeout, "enough");
  });
  ASSERT_FALSE(receiver);
  EXPECT_EQ(receiver.error().text, "enough");
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace hocket
