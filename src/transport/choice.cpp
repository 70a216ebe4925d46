#include "transport/choice.h"

#include "transport/shm/shm_rank.h"
#include "transport/tcp/tcp_rank.h"

namespace hocket {

Result<OpenTransport> open_transport(Job& job, const TransportChoice& choice, SteadyTime deadline) {
  if (choice.by_cable && choice.wish == TransportWish::kShm)
    return fail(Code::kInvalidArgument, "the transport shm uses no cables");
  const TransportWish wish = choice.by_cable ? TransportWish::kTcp : choice.wish;
  std::vector<std::string> names;
  names.reserve(job.members.size());
  for (const Member& member : job.members) names.push_back(member.text());
  HOCKET_TRY_ASSIGN(std::shared_ptr<ShmSegment> memory, meet_in_memory(job, wish, deadline));
  const std::uint32_t rank = job.launch.rank;
  if (memory) {
    return OpenTransport{
        "shm", ShmRank::make(rank, std::move(names), std::move(memory), std::move(job.links), {.lends = choice.lends})};
  }
  HOCKET_TRY_ASSIGN(auto over_tcp, TcpRank::make(rank, std::move(names), std::move(job.links)));
  return OpenTransport{"tcp", std::move(over_tcp)};
}

}  // namespace hocket
