// open_transport(): how the ranks of a job talk, chosen by all of them alike: memory when every rank is on one host and
// no cable is to be used, else TCP; or what a plug-in brings. Each transport has a folder of its own below this one;
// here is the only place that knows them all. Ownership: takes the connections of the job. Threading: one owner.
// Refuses: unknown names (listing those known), cables with anything but TCP, ranks that wish different transports, and
// a wish for memory that one rank cannot have.
#pragma once

#include <memory>

#include "transport/plug_in.h"
#include "transport/shm/shm_meeting.h"

namespace hocket {

struct TransportChoice {
  std::string name = "auto";
  const TransportPlugIn* plug_in = nullptr;  // null: one of ours
  /// A file of cables was given; only TCP uses them.
  bool by_cable = false;
  /// Long messages through memory are read out of the sender's buffer where the kernel permits.
  bool lends = true;
};

/// By name: "auto", "shm", "tcp", or a plug-in's.
[[nodiscard]] Result<TransportChoice> transport_named(const std::string& name);

struct OpenTransport {
  std::string name;                 // "shm", "tcp", "shm+tcp", or a plug-in's
  std::vector<std::uint32_t> near;  // ranks that this one talks with through memory, itself among them; ascending
  std::unique_ptr<RankTransport> transport;
};

[[nodiscard]] Result<OpenTransport> open_transport(Job& job, const TransportChoice& choice, SteadyTime deadline);

}  // namespace hocket
