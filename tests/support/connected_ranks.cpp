#include "support/connected_ranks.h"

#include <sys/socket.h>

#include <array>
#include <cstdlib>

#include "transport/mixed/mixed_rank.h"

namespace hocket::test {
namespace {

Ranks mixed_ranks(const std::vector<std::string>& names, std::vector<std::vector<Descriptor>> links) {
  const auto ranks = static_cast<std::uint32_t>(names.size());
  std::array<HostGroup, 2> hosts;
  for (std::uint32_t r = 0; r < ranks; ++r) hosts[2 * r < ranks ? 0 : 1].ranks.push_back(r);
  for (HostGroup& host : hosts)
    host.segment = ShmSegment::create(static_cast<std::uint32_t>(host.ranks.size())).value();
  Ranks made;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    auto far = TcpRank::make(r, names, std::move(links[r])).value();
    made.push_back(MixedRank::make(r, names, hosts[2 * r < ranks ? 0 : 1], std::move(far), true));
  }
  return made;
}

}  // namespace

Ranks connected_ranks(std::uint32_t ranks, Over over) {
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
  if (over == Over::kMixed) return mixed_ranks(names, std::move(links));
  Ranks made;
  made.reserve(ranks);
  const std::shared_ptr<ShmSegment> memory = over == Over::kTcp ? nullptr : ShmSegment::create(ranks).value();
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (memory) {
      made.push_back(ShmRank::make(r, names, memory, std::move(links[r]), {.lends = over == Over::kShm, .wake = {}}));
    } else {
      made.push_back(TcpRank::make(r, names, std::move(links[r])).value());
    }
  }
  return made;
}

void run_all(std::uint32_t ranks, const std::function<void(std::uint32_t)>& body) {
  std::vector<std::jthread> threads;
  for (std::uint32_t r = 0; r < ranks; ++r) threads.emplace_back([&body, r] { body(r); });
}

void leave_all(Ranks ranks) {
  run_all(static_cast<std::uint32_t>(ranks.size()), [&ranks](std::uint32_t r) { ranks[r].reset(); });
}

}  // namespace hocket::test
