// Secrets, handshakes and the gate: strangers of every kind cost a bounded amount and stop nobody; the store behind it.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <thread>

#include "base/random.h"
#include "net/store.h"

namespace hocket {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

Secret secret_of(std::string_view text) { return *Secret::from_text(text); }
const char* const kWords = "words that only we know";

SteadyTime soon(int s = 10) { return steady_clock::now() + seconds(s); }

/// Both ends, moved a few bytes at a time.
void converse(Handshake& a, Handshake& b) {
  for (int i = 0; i < 1000; ++i) {
    for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      const auto out = from->outgoing();
      const std::size_t part = std::min({out.size(), to->wanted(), std::size_t{7}});
      if (part == 0) continue;
      to->received(out.first(part));
      from->sent(part);
    }
  }
}

TEST(NetHandshake, SameSecretBothWays) {
  const Secret secret = secret_of(kWords);
  Handshake listener(secret, *fresh_nonce());
  Handshake connector(secret, *fresh_nonce(), {Claim::Purpose::kLink, 3, 1});
  converse(listener, connector);
  EXPECT_EQ(listener.state(), Handshake::State::kDone);
  EXPECT_EQ(connector.state(), Handshake::State::kDone);
  EXPECT_EQ(listener.peer().claim(), (Claim{Claim::Purpose::kLink, 3, 1}));
}

TEST(NetHandshake, AnotherSecretIsRefusedByBoth) {
  const Secret ours = secret_of(kWords);
  const Secret other = secret_of("words that somebody guessed");
  Handshake listener(ours, *fresh_nonce());
  Handshake connector(other, *fresh_nonce(), {Claim::Purpose::kStore, 5, 0});
  converse(listener, connector);
  EXPECT_EQ(listener.state(), Handshake::State::kRefused);
  EXPECT_EQ(connector.state(), Handshake::State::kRefused);
  EXPECT_EQ(connector.reason(), "its secret is another than ours (HOCKET_SECRET)");
  ASSERT_TRUE(listener.unproved());
  EXPECT_EQ(listener.unproved()->rank, 5U);
}

TEST(NetHandshake, EveryFlippedBitOfAnAnswerIsRefused) {
  const Secret secret = secret_of(kWords);
  const Nonce nonce = *fresh_nonce();
  for (std::size_t bit = 0; bit < std::size_t{88} * 8; ++bit) {
    Handshake listener(secret, nonce);
    Handshake connector(secret, nonce, {Claim::Purpose::kLink, 3, 0});
    connector.received(listener.outgoing());
    std::vector<std::byte> answer(connector.outgoing().begin(), connector.outgoing().end());
    ASSERT_EQ(answer.size(), 88U);
    answer[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    listener.received(answer);
    EXPECT_EQ(listener.state(), Handshake::State::kRefused) << "bit " << bit;
    EXPECT_LE(listener.outgoing().size(), 40U);
  }
}

TEST(NetSecret, ShortOnesAreRefused) {
  EXPECT_EQ(Secret::from_text("short").error().text, "the rendezvous secret has 5 characters, 16 are the least");
  EXPECT_NE(Secret::random()->text(), Secret::random()->text());
}

struct Strangers {
  explicit Strangers(const Address& address, std::uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 200; ++i) {
      Result<Descriptor> socket = connect_until(address, soon());
      if (!socket) continue;
      std::vector<std::byte> garbage(random.below(300));
      for (std::byte& b : garbage) b = static_cast<std::byte>(random.next());
      // Some begin well and then fall silent.
      if (i % 3 == 0 && garbage.size() > 8) std::memcpy(garbage.data(), "hocket\0\1", 8);
      if (i % 3 != 2) ::send(socket->get(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (i % 4 != 0) kept.push_back(std::move(*socket));  // the others close at once, as a port scan does
    }
  }
  std::vector<Descriptor> kept;
};

TEST(NetTcpGate, StrangersStopNobody) {
  const Secret secret = secret_of(kWords);
  Gate gate(*listen_at(Address::loopback()), secret);
  const Address address = *gate.address();
  const Strangers strangers(address, 1);
  Result<Descriptor> friend_socket = fail(Code::kInternal, "not connected");
  std::jthread connector([&] {
    friend_socket = enter(address, secret, {Claim::Purpose::kLink, 7, 0}, steady_clock::now() + seconds(20));
  });
  std::vector<Guest> guests;
  const SteadyTime deadline = soon(20);
  while (guests.empty() && steady_clock::now() < deadline) {
    guests = gate.admit();
    EXPECT_LE(gate.waiting(), Gate::kStrangersMax);
    std::vector<pollfd> waits;
    gate.append_waits(waits);
    if (guests.empty()) wait_for(waits, std::min(deadline, gate.next_deadline(deadline)));
  }
  connector.join();
  ASSERT_EQ(guests.size(), 1U);
  EXPECT_EQ(guests[0].peer.claim().rank, 7U);
  EXPECT_TRUE(friend_socket) << friend_socket.error().text;
  EXPECT_GE(gate.turned_away(), 100U);
}

TEST(NetTcpStore, WordsWaitForOneAnotherUnderGarbage) {
  const Secret secret = secret_of(kWords);
  Descriptor listener = *listen_at(Address::loopback());
  const Address address = *local_address(listener);
  const auto server = StoreServer::start(std::move(listener), secret);
  ASSERT_TRUE(server);
  const Strangers strangers(address, 2);
  Result<StoreClient> one = StoreClient::connect(address, secret, 1, soon());
  Result<StoreClient> two = StoreClient::connect(address, secret, 2, soon());
  ASSERT_TRUE(one && two);
  std::jthread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_TRUE(one->set("key", "value", soon()));
  });
  EXPECT_EQ(two->get("key", soon())->value_or("nothing"), "value");
  setter.join();
  EXPECT_TRUE(two->set("key", "value", soon()));
  EXPECT_EQ(two->set("key", "other", soon()).error().text,
            fmt::format("store of rank 0 at {}: 'key' is set already, to 'value'", address.text()));
  EXPECT_FALSE(two->get("absent", steady_clock::now())->has_value());
  EXPECT_FALSE(two->set(std::string(300, 'k'), "v", soon()));
}

/// What the store of rank 0 holds about ranks 0 to 4095 that came without the secret.
std::size_t unproved_noted(StoreClient& store) {
  std::size_t noted = 0;
  for (std::uint32_t rank = 0; rank < 4096; ++rank) {
    const auto from = store.get(unproved_key(rank), steady_clock::now());
    noted += from && *from ? 1 : 0;
  }
  return noted;
}

TEST(NetTcpStore, WhoComesWithAnotherSecretHearsItAndIsNamed) {
  const Secret secret = secret_of(kWords);
  const Secret other = secret_of("words that somebody guessed");
  Descriptor listener = *listen_at(Address::loopback());
  const Address address = *local_address(listener);
  const auto server = StoreServer::start(std::move(listener), secret);
  ASSERT_TRUE(server);
  Result<StoreClient> good = StoreClient::connect(address, secret, 1, soon());
  ASSERT_TRUE(good);
  const SteadyTime begin = steady_clock::now();
  const Result<StoreClient> bad = StoreClient::connect(address, other, 2, soon());
  ASSERT_FALSE(bad);
  EXPECT_LT(steady_clock::now() - begin, seconds(5));  // at once, not at the deadline
  EXPECT_EQ(bad.error().code, Code::kMismatch);
  EXPECT_EQ(bad.error().text, fmt::format("{}: its secret is another than ours "
                                          "(HOCKET_SECRET)",
                                          address.text()));
  EXPECT_EQ(good->get(unproved_key(2), soon())->value_or("nothing"), "127.0.0.1");
  // Strangers who guess cannot fill the store.
  for (std::uint32_t rank = 3; rank < 1200; ++rank) EXPECT_FALSE(StoreClient::connect(address, other, rank, soon()));
  EXPECT_EQ(unproved_noted(*good), 1024U);
  EXPECT_TRUE(good->set("key", "value", soon()));
}

TEST(NetTcpStore, ARankIsGoneWhenNobodyIsLeftWhoCameAsIt) {
  const Secret secret = secret_of(kWords);
  Descriptor listener = *listen_at(Address::loopback());
  const Address address = *local_address(listener);
  const auto server = StoreServer::start(std::move(listener), secret);
  ASSERT_TRUE(server);
  Result<StoreClient> watcher = StoreClient::connect(address, secret, 0, soon());
  std::optional<StoreClient> one = std::move(*StoreClient::connect(address, secret, 1, soon()));
  {
    Result<StoreClient> twin = StoreClient::connect(address, secret, 1, soon());
    ASSERT_TRUE(twin && twin->set("twin", "was here", soon()));
  }
  const SteadyTime later = steady_clock::now() + std::chrono::milliseconds(300);
  EXPECT_FALSE(watcher->get(gone_key(1), later)->has_value());
  one.reset();
  EXPECT_TRUE(watcher->get(gone_key(1), soon())->has_value());
}

}  // namespace
}  // namespace hocket
