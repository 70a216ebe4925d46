// Rendezvous: from "rank r of n" to authenticated connections with every other rank.
//   1. Where is rank 0? The launcher or the user says (root), or rank 0 leaves a private file on this host, or where
//      the user says (root "file:PATH"), which several hosts may share.
//   2. Rank 0 serves a Store there; every rank leaves its address, host and process number and reads all others'.
//   3. Rank r connects to every lower rank and lets every higher one in through its Gate; so often per cable.
// One rank opens no socket. Ownership: a Job owns its sockets and, on rank 0, the store. Threading: one owner.
// Refuses: waiting beyond the deadline (the Error names the ranks that have not come), hosts beyond loopback without a
// secret, roots that differ between ranks of a host, ranks that believe in different numbers of ranks or connections,
// or in different cables.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/interfaces.h"
#include "net/launch.h"
#include "net/link_addresses.h"
#include "net/member.h"
#include "net/port_range.h"
#include "net/store.h"
#include "net/streams.h"

namespace hocket {

/// Ranks that meet anew, out of a communicator in which they have other numbers.
struct Acquaintance {
  std::vector<std::string> names;       // by rank, as errors shall call them; empty: they have not met before
  std::function<Result<void>()> check;  // an error when some of them will not come; asked while this rank waits
};

struct RendezvousOptions {
  Launch launch;
  std::string secret;  // empty: rank 0 makes one and shares it through the private file, others take what is there
  int listener = -1;   // rank 0: a socket that listens already, from the process that started the ranks
  PortRange ports;     // of the connections between ranks, and of rank 0's rendezvous where it may choose
  InterfaceFilter interfaces;
  LinkAddresses cables;           // of ranks that are joined by a cable of their own
  std::uint32_t connections = 1;  // between two ranks, or along each of their cables
  SteadyTime deadline;
  Acquaintance before{};
};

/// Ports that the job takes on this host, as far as the launcher says: each rank's, and where rank 0 chooses it or it
/// lies in the range, that of the rendezvous. A rank alone needs none.
[[nodiscard]] std::uint32_t ports_needed(const RendezvousOptions& options);

/// Descriptors that joining takes at least: of the connections with all other ranks, and on rank 0 of the store. An
/// error when this process cannot open so many.
[[nodiscard]] Result<void> check_descriptors_for(const RendezvousOptions& options);

struct Job {
  Launch launch;
  std::vector<Member> members;     // by rank
  Streams streams;                 // several to peers that several cables or connections lead to
  std::vector<Descriptor> links;   // by stream; none to oneself
  std::unique_ptr<Secret> secret;  // null with one rank
  std::unique_ptr<StoreServer> server;
  std::optional<StoreClient> store;
  std::string way;  // one line: how rank 0 was found, and where
};

[[nodiscard]] Result<Job> join(const RendezvousOptions& options);

}  // namespace hocket
