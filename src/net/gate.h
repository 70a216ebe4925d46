// Gate: a listening socket behind which strangers wait until they have proved that they belong to the job.
// At most kStrangersMax wait, each for at most kStrangerTime and 88 bytes; when it is full the one that waited longest
// goes. So garbage, port scans and connections that say nothing cost a bounded amount and stop nobody: a peer that was
// pushed out tries again. Ownership: the listener, and the secret's pointer. Threading: one owner.
// Refuses: waiting; admit() takes what is there and returns.
#pragma once

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "net/handshake.h"
#include "net/socket.h"

namespace hocket {

/// Somebody who claimed a rank without knowing the secret: it may be one of ours that was given another, or a stranger.
struct Unproved {
  Claim claim;
  std::string host;  // address it came from
};

struct Guest {
  Descriptor socket;
  AuthenticatedPeer peer;
};

class Gate {
 public:
  static constexpr std::size_t kStrangersMax = 64;
  static constexpr std::chrono::seconds kStrangerTime{3};

  Gate(Descriptor listener, const Secret& secret) : listener_(std::move(listener)), secret_(&secret) {
    listener_.keep_from_children();
  }

  [[nodiscard]] Result<Address> address() const { return local_address(listener_); }
  /// What to wait for before the next admit().
  void append_waits(std::vector<pollfd>& waits) const;
  /// When a stranger's time is up, or `none` without strangers.
  [[nodiscard]] SteadyTime next_deadline(SteadyTime none) const;
  /// Takes new connections and goes on with those that wait; returns who is through.
  [[nodiscard]] std::vector<Guest> admit();
  /// Of those turned away in the last admit(); at most kStrangersMax.
  [[nodiscard]] const std::vector<Unproved>& unproved() const { return unproved_; }

  /// Why a connection could not be taken last: "; a connection could not be taken: ..."; empty when all were.
  [[nodiscard]] std::string hindrance() const;
  [[nodiscard]] std::size_t turned_away() const { return turned_away_; }
  [[nodiscard]] std::size_t waiting() const { return strangers_.size(); }

 private:
  struct Stranger {
    Descriptor socket;
    Handshake handshake;
    SteadyTime deadline;
  };
  void take_new(SteadyTime now);
  /// False when it is to be turned away.
  [[nodiscard]] bool go_on(Stranger& stranger);
  void turn_away(Stranger& stranger);

  Descriptor listener_;
  const Secret* secret_;
  std::vector<std::unique_ptr<Stranger>> strangers_;  // the longest waiting first
  SteadyTime accept_again_;
  std::vector<Unproved> unproved_;
  std::size_t turned_away_ = 0;
  int refused_ = 0;  // the system's number of the last connection that it did not give
};

/// The connecting end: a connection to a gate, proved both ways. Tries again while nobody listens there yet, or, when
/// the gate is known to be there, fails at once.
enum class Patience : std::uint8_t { kUntilItListens, kItListens };
struct Approach {
  Patience patience = Patience::kUntilItListens;
  const Address* local = nullptr;  // of a gate that listens: whence to connect
};
[[nodiscard]] Result<Descriptor> enter(const Address& address, const Secret& secret, const Claim& claim,
                                       SteadyTime deadline, const Approach& approach = {});

}  // namespace hocket
