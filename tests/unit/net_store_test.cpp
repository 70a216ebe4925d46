// What a store sends unasked: why a rank fails, which lies with every client when sender and server have ended, and
// what the end of a server means; and answers that come too late.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "net/cause.h"
#include "net/store.h"
#include "net/store_wire.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

SteadyTime soon() { return steady_clock::now() + seconds(10); }

/// What has come when something has, or in a second.
StoreClient::Overheard overheard(StoreClient& client) {
  const SteadyTime until = steady_clock::now() + seconds(1);
  for (;;) {
    StoreClient::Overheard heard = client.overhear();
    if (heard.failure || heard.died || steady_clock::now() >= until) return heard;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

class NetTcpStoreUnasked : public testing::Test {
 protected:
  Secret secret_ = *Secret::from_text("words that only we know");
  Descriptor listener_ = *listen_at(Address::loopback());
  Address address_ = *local_address(listener_);

  StoreClient connect(std::uint32_t rank) { return std::move(*StoreClient::connect(address_, secret_, rank, soon())); }

  /// A client, and the bare socket at the other end.
  std::pair<StoreClient, Descriptor> connect_bare() {
    std::optional<StoreClient> client;
    std::jthread connector([&] { client = connect(1); });
    Gate gate(std::move(listener_), secret_);
    std::vector<Guest> guests;
    while (guests.empty()) {
      std::vector<pollfd> waits;
      gate.append_waits(waits);
      wait_for(waits, soon());
      guests = gate.admit();
    }
    connector.join();
    return {std::move(*client), std::move(guests.front().socket)};
  }
};

TEST_F(NetTcpStoreUnasked, WordsOfAFailureLieWithAllWhenServerAndSenderHaveEnded) {
  auto server = *StoreServer::start(std::move(listener_), secret_);
  StoreClient late = connect(1);
  StoreClient busy = connect(2);
  {
    StoreClient first = connect(3);
    StoreClient second = connect(4);
    EXPECT_FALSE(late.overhear().failure);
    EXPECT_TRUE(first.tell_failure("rank 5 has died", soon()));
    EXPECT_EQ(overheard(second).failure.value_or("nothing"), "rank 5 has died");
    EXPECT_FALSE(second.tell_failure("rank 3 has died", soon()));  // it has only ended for that
    EXPECT_TRUE(busy.set("key", "value", soon()));                 // the words come before the answer
  }
  server.reset();
  for (StoreClient* client : {&late, &busy}) {
    EXPECT_EQ(overheard(*client).failure.value_or("nothing"), "rank 5 has died");
    EXPECT_FALSE(client->overhear().died);
  }
  EXPECT_FALSE(busy.get("key", soon()));
  EXPECT_EQ(busy.overhear().failure.value_or("nothing"), "rank 5 has died");
}

TEST_F(NetTcpStoreUnasked, WhoComesAfterAFailureHearsOfIt) {
  auto server = *StoreServer::start(std::move(listener_), secret_, "rank 0 (host a)");
  StoreClient first = connect(1);
  EXPECT_TRUE(first.tell_failure("rank 5 has died", soon()));
  StoreClient late = connect(2);
  EXPECT_EQ(overheard(late).failure.value_or("nothing"), "rank 5 has died");
  EXPECT_EQ(late.server(), "rank 0 (host a)");
}

TEST_F(NetTcpStoreUnasked, OfLostRanksTheOneThatWasToldOfFirstIsTheCause) {
  auto server = *StoreServer::start(std::move(listener_), secret_);
  StoreClient own = connect(4);
  StoreClient first = connect(1);
  StoreClient second = connect(2);
  StoreClient third = connect(3);
  EXPECT_EQ(told_cause(own, {Code::kMismatch, "rank 4 wants more"}, "rank 4").text, "rank 4 wants more");
  EXPECT_EQ(told_cause(first, {Code::kPeerFailed, "rank 1 lost rank 5"}, "rank 1").text, "rank 1 lost rank 5");
  EXPECT_EQ(told_cause(second, {Code::kPeerFailed, "rank 2 lost rank 1"}, "rank 2").text,
            "rank 2 was told: rank 1 lost rank 5");
  server.reset();
  EXPECT_EQ(told_cause(third, {Code::kPeerFailed, "store of rank 0: it ended"}, "rank 3").text,
            "rank 3 was told: rank 1 lost rank 5");
}

TEST_F(NetTcpStoreUnasked, AServerThatEndsWithoutAWordIsTheRankThatIsLost) {
  auto [client, server] = connect_bare();
  const std::string name = spell_reply('=', "rank 0 (host a)");
  EXPECT_TRUE(write_all(server, std::as_bytes(std::span(name)), soon()));
  server.reset();
  EXPECT_EQ(told_cause(client, {Code::kPeerFailed, "rank 1 lost rank 2"}, "rank 1").text,
            "rank 1 lost rank 0 (host a): it ended without a word");
}

TEST_F(NetTcpStoreUnasked, WordsOfAClientThatHasGoneCount) {
  auto server = *StoreServer::start(std::move(listener_), secret_);
  StoreClient client = connect(1);
  {
    Result<Descriptor> brief = enter(address_, secret_, {Claim::Purpose::kStore, 2, 0}, soon());
    ASSERT_TRUE(brief);
    const std::string words = spell_request({.sets = true, .wait_ms = 0, .key = "failure", .value = "rank 5 has died"});
    EXPECT_TRUE(write_all(*brief, std::as_bytes(std::span(words)), soon()));
  }
  EXPECT_EQ(overheard(client).failure.value_or("nothing"), "rank 5 has died");
}

TEST_F(NetTcpStoreUnasked, AServerThatEndsInOrderHasNotDied) {
  auto server = *StoreServer::start(std::move(listener_), secret_);
  StoreClient client = connect(1);
  EXPECT_TRUE(client.set(met_key(1), "", soon()));
  server.reset();
  EXPECT_FALSE(overheard(client).died);
  EXPECT_FALSE(client.get("key", soon()));
  EXPECT_FALSE(client.overhear().died);
}

TEST_F(NetTcpStoreUnasked, AServerThatEndsWithoutAWordHasDied) {
  auto [client, server] = connect_bare();
  EXPECT_FALSE(client.overhear().died);
  server.reset();
  EXPECT_TRUE(overheard(client).died);
  EXPECT_EQ(client.get("key", soon()).error().code, Code::kPeerFailed);
}

TEST_F(NetTcpStoreUnasked, AnAnswerThatComesTooLateIsNotTakenForTheNext) {
  auto [client, server] = connect_bare();
  const SteadyTime begin = steady_clock::now();
  EXPECT_EQ(client.tell_failure("rank 5 has died", begin + milliseconds(50)).error().code, Code::kTimeout);
  EXPECT_LT(steady_clock::now() - begin, seconds(1));
  const std::string said = spell_reply('+', "") + spell_reply('*', "rank 6 has died") + spell_reply('-', "");
  EXPECT_TRUE(write_all(server, std::as_bytes(std::span(said)), soon()));
  const auto found = client.get("key", soon());
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_FALSE(found->has_value());
  EXPECT_EQ(client.overhear().failure.value_or("nothing"), "rank 6 has died");
}

TEST_F(NetTcpStoreUnasked, WhatCanDoWithoutAnAnswerWaitsForASilentStoreOnceAndShortly) {
  auto [client, server] = connect_bare();
  const SteadyTime begin = steady_clock::now();
  EXPECT_EQ(client.note("a", "b", begin + milliseconds(50)).error().code, Code::kTimeout);
  EXPECT_GE(steady_clock::now(), begin + milliseconds(50));
  std::array<std::byte, 256> asked{};
  ASSERT_GT(*read_some(server, asked, soon()), 0U);
  EXPECT_EQ(client.look("a", steady_clock::now() + milliseconds(20)).error().code, Code::kTimeout);
  EXPECT_EQ(read_some(server, asked, steady_clock::now()).error().code, Code::kTimeout);  // nothing more was asked
  EXPECT_EQ(client.tell_failure("words", soon()).error().code, Code::kTimeout);           // sent, and not waited for
  ASSERT_GT(*read_some(server, asked, soon()), 0U);
  ASSERT_TRUE(write_all(server, std::as_bytes(std::span(std::string_view("\1\0\0\0+\1\0\0\0+", 10))), soon()));
  std::jthread answer([&server = server] {
    std::array<std::byte, 256> more{};
    ASSERT_GT(*read_some(server, more, soon()), 0U);
    ASSERT_TRUE(write_all(server, std::as_bytes(std::span(std::string_view("\2\0\0\0+b", 6))), soon()));
  });
  EXPECT_EQ(client.look("a", soon()).value(), "b");
}

TEST_F(NetTcpStoreUnasked, AnswersMayTakeTheirTimeWhileRanksMeet) {
  auto [client, server] = connect_bare();  // with a deadline of 10 s
  std::jthread late([&server = server] {
    std::array<std::byte, 256> asked{};
    ASSERT_GT(*read_some(server, asked, soon()), 0U);
    std::this_thread::sleep_for(milliseconds(2300));
    ASSERT_TRUE(write_all(server, std::as_bytes(std::span(std::string_view("\2\0\0\0+b", 6))), soon()));
  });
  EXPECT_EQ(client.get("a", steady_clock::now()).value(), "b");
}

TEST_F(NetTcpStoreUnasked, AnAnswerToNothingEndsIt) {
  auto [client, server] = connect_bare();
  const std::string said = spell_reply('+', "value");
  EXPECT_TRUE(write_all(server, std::as_bytes(std::span(said)), soon()));
  EXPECT_FALSE(overheard(client).failure);
  EXPECT_FALSE(client.overhear().died);
  EXPECT_FALSE(client.get("key", soon()));
}

}  // namespace
}  // namespace hocket
