// Ranks that meet along cables: their connections are bound to the addresses that a table of cables says, and are told
// the rate of their cable, of which the kernel needs to know.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <future>

#include "net/rendezvous.h"

namespace hocket {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

Result<Job> join_as(std::uint32_t rank, const std::string& cables, const Descriptor& listener, const Address& root) {
  RendezvousOptions options;
  options.launch = Launch::alone("a test");
  options.launch.rank = rank;
  options.launch.size = 2;
  options.launch.root = root.text();
  options.secret = "a secret that only these two know";
  options.listener = rank == 0 ? listener.get() : -1;
  HOCKET_TRY_ASSIGN(options.cables, LinkAddresses::parse(cables, "table", 2));
  options.deadline = steady_clock::now() + seconds(20);
  return join(options);
}

struct Both {
  Result<Job> mine;  // of rank 0
  Result<Job> theirs;
};

/// Two ranks, of which rank 0 is found at a port of `host`.
Both join_both(const std::string& host, const std::string& cables) {
  const Descriptor listener = listen_at(resolve({host, 0}).value()).value();
  const Address root = local_address(listener).value();
  auto other = std::async(std::launch::async, [&] { return join_as(1, cables, listener, root); });
  Result<Job> mine = join_as(0, cables, listener, root);
  return {std::move(mine), other.get()};
}

std::uint64_t pace_of(const Descriptor& socket) {
  std::uint64_t most = 0;
  socklen_t length = sizeof(most);
  EXPECT_EQ(::getsockopt(socket.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &most, &length), 0);
  return most;
}

TEST(NetCables, AConnectionKnowsTheRateOfItsCableAndNoneWhereNoneIsSaid) {
  const std::string cables =
      "0 1 127.0.0.2 127.0.0.3 50Mb/s\n0 1 127.0.0.4 127.0.0.5\n"
      "1 0 127.0.0.3 127.0.0.2 25Mb/s\n1 0 127.0.0.5 127.0.0.4\n";
  const auto [mine, theirs] = join_both("127.0.0.1", cables);
  ASSERT_TRUE(mine) << mine.error().text;
  ASSERT_TRUE(theirs) << theirs.error().text;
  const auto links = [](const Job& job, std::uint32_t peer) {
    std::vector<std::pair<std::string, std::uint64_t>> result;
    for (const std::uint32_t stream : job.streams.to(peer))
      result.emplace_back(local_address(job.links[stream]).value().host(), pace_of(job.links[stream]));
    return result;
  };
  using Links = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(links(*mine, 1), (Links{{"127.0.0.2", 12'500'000}, {"127.0.0.4", ~std::uint64_t{0}}}));
  EXPECT_EQ(links(*theirs, 0), (Links{{"127.0.0.3", 6'250'000}, {"127.0.0.5", ~std::uint64_t{0}}}));
}

TEST(NetCables, RanksMeetAlongCablesOfAnotherFamilyThanTheAddressOfRank0) {
  if (!listen_at(Address::loopback(AF_INET6))) GTEST_SKIP() << "this host has no IPv6";
  const std::string v4 = "0 1 127.0.0.2 127.0.0.3\n1 0 127.0.0.3 127.0.0.2\n";
  const std::string v6 = "0 1 ::1 ::1\n1 0 ::1 ::1\n";
  for (const auto& [host, cables] :
       {std::pair("127.0.0.1", v6), std::pair("::1", v4), std::pair("::1", v6), std::pair("127.0.0.1", v4 + v6)}) {
    const auto [mine, theirs] = join_both(host, cables);
    EXPECT_TRUE(mine) << mine.error().text;
    EXPECT_TRUE(theirs) << theirs.error().text;
  }
}

TEST(NetCables, WhoEndsBetweenTwoCablesIsMissedAndNamed) {
  const std::string cables =
      "0 1 127.0.0.2 127.0.0.3\n0 1 127.0.0.2 203.0.113.1\n"  // the latter is kept for examples, and no host's
      "1 0 127.0.0.3 127.0.0.2\n1 0 203.0.113.1 127.0.0.2\n";
  const auto [mine, theirs] = join_both("127.0.0.1", cables);
  ASSERT_FALSE(theirs);
  EXPECT_NE(theirs.error().text.find("cannot use 203.0.113.1 here"), std::string::npos) << theirs.error().text;
  ASSERT_FALSE(mine);
  EXPECT_NE(mine.error().text.find("lost rank 1 (host "), std::string::npos) << mine.error().text;
}

LinkAddresses::Mark mark_of(const std::string& cables) {
  return LinkAddresses::parse(cables, "table", 3).value().mark();
}

TEST(NetCables, TheMarkIsOfTheLinesAndNotOfHowTheyAreWritten) {
  const std::string one = "0 1 127.0.0.2 127.0.0.3 50Mb/s\n1 0 127.0.0.3 127.0.0.2 50Mb/s\n";
  const std::string two = "0 1 127.0.0.4 127.0.0.5\n1 0 127.0.0.5 127.0.0.4\n";
  const LinkAddresses::Mark mark = mark_of(one + two);
  EXPECT_EQ(mark.lines, 4U);
  EXPECT_EQ(mark, mark_of("# a comment\n\n1 0  127.0.0.3\t127.0.0.2 50Mb/s # more\n" + one.substr(0, one.find('\n')) +
                          "\n" + two));
  EXPECT_EQ(mark_of(one), mark_of("0 1 127.0.0.2 127.0.0.3 0.05Gb/s\n1 0 127.0.0.3 127.0.0.2 50Mb/s"));
  EXPECT_EQ(mark_of("# nothing\n"), LinkAddresses::Mark{});
  EXPECT_EQ(mark_of("").text(), "no cables");
  for (const std::string& other :
       {one, two, two + one, "0 1 127.0.0.2 127.0.0.3 50Mb/s\n1 0 127.0.0.3 127.0.0.2 40Mb/s\n" + two,
        "0 2 127.0.0.2 127.0.0.3 50Mb/s\n2 0 127.0.0.3 127.0.0.2 50Mb/s\n" + two})
    EXPECT_NE(mark, mark_of(other)) << other;
}

}  // namespace
}  // namespace hocket
