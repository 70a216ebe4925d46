// How much of what leaves is out of our hands: by the rate of the connection, within bounds.
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

#include "net/backlog.h"
#include "net/socket.h"

namespace hocket {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

int unsent_limit(const Descriptor& socket) {
  int bytes = 0;
  socklen_t length = sizeof(bytes);
  EXPECT_EQ(::getsockopt(socket.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, &length), 0);
  return bytes;
}

TEST(NetBacklog, IsWhatLeavesInAMillisecond) {
  EXPECT_EQ(backlog_at(0), kBacklogMin);
  EXPECT_EQ(backlog_at(6'250'000), kBacklogMin);
  EXPECT_EQ(backlog_at(20'000'000), 20'000U);
  EXPECT_EQ(backlog_at(12'500'000'000), kBacklogMax);
}

TEST(NetBacklog, ConnectionsBeginWithTheMostAndKeepItWhereTheyAreFast) {
  const Descriptor listener = listen_at(Address::loopback()).value();
  const auto until = steady_clock::now() + seconds(10);
  const Descriptor here = connect_once(local_address(listener).value(), until).value();
  pollfd waits{listener.get(), POLLIN, 0};
  ASSERT_EQ(wait_for({&waits, 1}, until), 1);
  const Descriptor there(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  ASSERT_TRUE(there.open());
  EXPECT_EQ(unsent_limit(here), static_cast<int>(kBacklogMax));
  std::vector<std::byte> bytes(16 << 10);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(write_all(here, bytes, until));
    ASSERT_TRUE(read_exactly(there, bytes, until));
  }
  const std::size_t now = fit_backlog(here);  // this host's loopback moves more than 32 MB/s, or nothing works
  EXPECT_EQ(now, kBacklogMax);
  EXPECT_EQ(unsent_limit(here), static_cast<int>(now));
}

TEST(NetBacklog, WhatIsNoTcpKeepsTheMost) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Descriptor one(pair[0]);
  const Descriptor two(pair[1]);
  EXPECT_EQ(fit_backlog(one), kBacklogMax);
}

}  // namespace
}  // namespace hocket
