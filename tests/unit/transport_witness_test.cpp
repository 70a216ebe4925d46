// Whom a rank names whose streams have ended without a word: what its witness says, and what it says to it.
#include <gtest/gtest.h>

#include "transport/stream_rank.h"

namespace hocket {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

struct Heard final : Witness {
  void tell(const Error& error) override { told.push_back(error); }
  Testimony ask() override {
    ++asked;
    return known;
  }
  Testimony known;
  int asked = 0;
  std::vector<Error> told;
};

/// Rank 3 of four.
class Late final : public StreamRank {
 public:
  Late() : StreamRank(3, {"rank 0 (host a)", "rank 1 (host a)", "rank 2 (host a)", "rank 3 (host a)"}) {}
  bool poll(TransportEvents& events) override { return report_failure(events); }
  void rest(SteadyTime /*until*/) override {}
  void interrupt() override {}
  using StreamRank::closed;
  using StreamRank::heard;

  /// What it says when these streams have ended.
  Error said_after(std::initializer_list<std::uint32_t> ends) {
    struct Events final : TransportEvents {
      void arrived(OpId /*receive*/, std::uint32_t /*segments*/) override {}
      void acknowledged(OpId /*send*/, std::uint32_t /*segments*/) override {}
      void failed(const Error& /*error*/) override {}
    } events;
    for (const std::uint32_t stream : ends) closed(stream, "it closed the connection");
    const SteadyTime limit = steady_clock::now() + seconds(10);
    while (!failure() && steady_clock::now() < limit) poll(events);
    return failure().value_or(Error{Code::kInternal, "nothing"});
  }
};

class TransportWitness : public testing::Test {
 protected:
  TransportWitness() { late_.set_witness(witness_); }
  std::shared_ptr<Heard> witness_ = std::make_shared<Heard>();
  Late late_;
};

TEST_F(TransportWitness, WordsThatItHasDecideAlsoWhenAllAreGone) {
  witness_->known.told = Error{Code::kCancelled, "rank 1 (host a) lost rank 2 (host a): it ended"};
  const Error said = late_.said_after({0, 1, 2});
  EXPECT_EQ(said.code, Code::kCancelled);
  EXPECT_EQ(said.text, "rank 3 (host a) was told: rank 1 (host a) lost rank 2 (host a): it ended");
  late_.fail(said);
  ASSERT_EQ(witness_->told.size(), 1U);
  EXPECT_EQ(witness_->told[0].text, "rank 1 (host a) lost rank 2 (host a): it ended");  // passed on as it was
}

TEST_F(TransportWitness, WhoIsKnownToHaveDiedIsNamedAlone) {
  witness_->known.died = "rank 0 (host a)";
  EXPECT_EQ(late_.said_after({2, 1, 0}).text, "rank 3 (host a) lost rank 0 (host a): it closed the connection");
}

TEST_F(TransportWitness, WhoHasDiedIsNamedAlsoBeforeItsStreamHasEnded) {
  witness_->known.died = "rank 0 (host a)";
  EXPECT_EQ(late_.said_after({2}).text, "rank 3 (host a) lost rank 0 (host a): it ended without a word");
}

TEST_F(TransportWitness, ItHasAMomentToHearWhoOfSeveralHasDiedAlsoWhenAllAreGone) {
  const SteadyTime begin = steady_clock::now();
  late_.said_after({0, 1, 2});
  EXPECT_GE(steady_clock::now() - begin, std::chrono::milliseconds(15));
}

TEST_F(TransportWitness, WithoutWordsAllThatAreLostAreNamed) {
  const Error said = late_.said_after({2, 1});
  EXPECT_EQ(said.text,
            "rank 3 (host a) lost rank 2 (host a): it closed the connection; lost rank 1 (host a): it closed the "
            "connection");
  EXPECT_EQ(witness_->asked, 1);
  late_.fail(said);
  late_.fail({Code::kInternal, "another"});
  ASSERT_EQ(witness_->told.size(), 1U);
  EXPECT_EQ(witness_->told[0].code, Code::kPeerFailed);
  EXPECT_EQ(witness_->told[0].text, said.text);
}

TEST_F(TransportWitness, WhoToldIsSaidOnceOnly) {
  late_.heard(1, Code::kPeerFailed, "rank 1 (host a) lost rank 2 (host a): it ended");
  EXPECT_EQ(late_.failure()->text, "rank 3 (host a) was told: rank 1 (host a) lost rank 2 (host a): it ended");
  Late passed_on;
  passed_on.heard(0, Code::kPeerFailed, "rank 1 (host a) lost rank 2 (host a): it ended");
  EXPECT_EQ(passed_on.failure()->text,
            "rank 3 (host a) was told by rank 0 (host a): rank 1 (host a) lost rank 2 (host a): it ended");
}

TEST(TransportWitnessOfAStore, RanksHearWhatOthersHaveTold) {
  const Secret secret = *Secret::from_text("words that only we know");
  Descriptor listener = *listen_at(Address::loopback());
  const Address address = *local_address(listener);
  auto server = *StoreServer::start(std::move(listener), secret);
  std::vector<Job> jobs(2);
  std::vector<std::shared_ptr<Witness>> witnesses;
  EXPECT_EQ(make_witness(jobs[0]), nullptr);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    jobs[rank].members.push_back({0, "a", 17, {}, {}});
    jobs[rank].store = std::move(*StoreClient::connect(address, secret, rank, steady_clock::now() + seconds(10)));
    witnesses.push_back(make_witness(jobs[rank]));
  }
  EXPECT_FALSE(witnesses[1]->ask().told);
  witnesses[0]->tell({Code::kMismatch, "rank 0 and rank 2 disagree"});
  server.reset();
  const Testimony known = witnesses[1]->ask();
  ASSERT_TRUE(known.told);
  EXPECT_EQ(known.told->code, Code::kMismatch);
  EXPECT_EQ(known.told->text, "rank 0 and rank 2 disagree");
  EXPECT_EQ(known.died, "");
}

}  // namespace
}  // namespace hocket
