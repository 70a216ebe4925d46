#include "support/tcp_ranks.h"

#include <sys/socket.h>

#include <array>
#include <cstdlib>

namespace hocket::test {

std::vector<std::unique_ptr<TcpRank>> connected_ranks(std::uint32_t ranks) {
  std::vector<std::string> names;
  std::vector<std::vector<Descriptor>> links(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    names.push_back(fmt::format("rank {}", r));
    links[r].resize(ranks);
  }
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = a + 1; b < ranks; ++b) {
      std::array<int, 2> ends{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
      links[a][b].reset(ends[0]);
      links[b][a].reset(ends[1]);
    }
  }
  std::vector<std::unique_ptr<TcpRank>> made;
  for (std::uint32_t r = 0; r < ranks; ++r) made.push_back(TcpRank::make(r, names, std::move(links[r])).value());
  return made;
}

void run_all(std::uint32_t ranks, const std::function<void(std::uint32_t)>& body) {
  std::vector<std::jthread> threads;
  for (std::uint32_t r = 0; r < ranks; ++r) threads.emplace_back([&body, r] { body(r); });
}

void leave_all(std::vector<std::unique_ptr<TcpRank>> ranks) {
  run_all(static_cast<std::uint32_t>(ranks.size()), [&ranks](std::uint32_t r) { ranks[r].reset(); });
}

}  // namespace hocket::test
