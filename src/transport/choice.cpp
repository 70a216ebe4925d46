#include "transport/choice.h"

#include "transport/mixed/mixed_rank.h"

namespace hocket {
namespace {

/// Where the store has gone, the first call says why.
void say_met(Job& job, SteadyTime deadline) {
  if (job.store) std::ignore = job.store->set(met_key(job.launch.rank), "", deadline);
}

}  // namespace

Result<TransportChoice> transport_named(const std::string& name) {
  TransportChoice choice;
  choice.name = name;
  if (name == "auto" || name == "shm" || name == "tcp") return choice;
  HOCKET_TRY_ASSIGN(choice.plug_in, find_plug_in(name));
  return choice;
}

Result<OpenTransport> open_transport(Job& job, const TransportChoice& choice, SteadyTime deadline) {
  const bool cables_fit = choice.name == "auto" || choice.name == "tcp";
  if (choice.by_cable && !cables_fit)
    return fail(Code::kInvalidArgument, "the transport {} uses no cables", choice.name);
  const std::string wish = choice.by_cable ? "tcp" : choice.name;
  HOCKET_TRY_ASSIGN(HostGroup host, meet_in_memory(job, wish, deadline));
  const std::uint32_t rank = job.launch.rank;
  const std::shared_ptr<Witness> witness = make_witness(job);
  if (choice.plug_in != nullptr) {
    HOCKET_TRY_ASSIGN(auto plugged, choice.plug_in->open(job, deadline));
    say_met(job, deadline);
    return OpenTransport{choice.name, {}, std::move(plugged)};
  }
  std::vector<std::string> names;
  names.reserve(job.members.size());
  for (const Member& member : job.members) names.push_back(member.text());
  say_met(job, deadline);
  if (host.segment && host.ranks.size() == job.members.size()) {
    auto through_memory = ShmRank::make(rank, std::move(names), std::move(host.segment), std::move(job.links),
                                        {.lends = choice.lends, .wake = {}});
    through_memory->set_witness(witness);
    return OpenTransport{"shm", std::move(host.ranks), std::move(through_memory)};
  }
  HOCKET_TRY_ASSIGN(auto over_tcp, TcpRank::make(rank, names, std::move(job.links), job.streams));
  over_tcp->set_witness(witness);
  if (!host.segment) return OpenTransport{"tcp", {}, std::move(over_tcp)};
  std::vector<std::uint32_t> near = host.ranks;
  return OpenTransport{"shm+tcp", std::move(near),
                       MixedRank::make(rank, names, std::move(host), std::move(over_tcp), choice.lends)};
}

}  // namespace hocket
