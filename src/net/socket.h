// Sockets: listening, connecting, tuning and waiting. Every wait has a deadline; every descriptor is non-blocking and
// closed on exec. Ownership: Descriptors. Threading: pure functions.
// Refuses: to wait for ever; an Error names the address, the limit and the system's words.
#pragma once

#include <poll.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/queue.h"
#include "base/result.h"
#include "base/units.h"
#include "net/address.h"
#include "net/descriptor.h"

namespace hocket {

/// The system's words for an error number.
[[nodiscard]] std::string system_words(int error);
/// Milliseconds until then for poll(2): rounded up, never negative.
[[nodiscard]] int milliseconds_until(SteadyTime deadline);
/// poll(2) until the deadline; goes on after signals. The number of ready ones.
int wait_for(std::span<pollfd> descriptors, SteadyTime deadline);

/// Bound to exactly this address; port 0 lets the system choose.
[[nodiscard]] Result<Descriptor> listen_at(const Address& address);
[[nodiscard]] Result<Address> local_address(const Descriptor& socket);
/// Of the other end of a connection.
[[nodiscard]] Result<Address> remote_address(const Descriptor& socket);

/// Begins a connection, from `local` if that is given; finish_connect() says how it went once the socket is writable.
[[nodiscard]] Result<Descriptor> start_connect(const Address& address, const Address* local = nullptr);
[[nodiscard]] Result<void> finish_connect(const Descriptor& socket, const Address& address);
/// Both.
[[nodiscard]] Result<Descriptor> connect_once(const Address& address, SteadyTime deadline,
                                              const Address* local = nullptr);
/// Again and again while nobody listens there yet, until the deadline.
[[nodiscard]] Result<Descriptor> connect_until(const Address& address, SteadyTime deadline);

/// The other end is closed, whatever of its bytes are still to be read; also when there is no connection.
[[nodiscard]] bool has_ended(const Descriptor& socket);

/// No delay of small frames, and a congestion control that does not pace (cubic or reno) where the system allows it.
/// Done to every socket made here before it connects or listens: what is accepted inherits it, and a connection that
/// has begun under BBR would go on pacing.
void tune(const Descriptor& socket);
/// Of a connection along a cable that carries `rate`, above 0. The kernel lets a connection keep as much in a device as
/// it would send in a millisecond by its own guess of its rate, two packets at least: of two on one slow cable the one
/// with the higher guess gets more, and so keeps its guess. With twice the cable's rate as a limit both keep two
/// packets (below some 70 Mb/s; where a millisecond holds many packets the shares differ little).
void tune_for(const Descriptor& socket, BytesPerSecond rate);

/// What there is, at least a byte. A peer that has closed is kPeerFailed.
[[nodiscard]] Result<std::size_t> read_some(const Descriptor& socket, std::span<std::byte> bytes, SteadyTime deadline);
/// All bytes, or an Error; a peer that closes in between is kPeerFailed.
[[nodiscard]] Result<void> read_exactly(const Descriptor& socket, std::span<std::byte> bytes, SteadyTime deadline);
[[nodiscard]] Result<void> write_all(const Descriptor& socket, std::span<const std::byte> bytes, SteadyTime deadline);

}  // namespace hocket
