// Rank: StreamRank over UCX streams. The authenticated TCP connections that the rendezvous has made stay and carry
// nothing: their end tells that a peer is gone, and addresses of UCX workers travel through the job's store. What goes
// over UCX itself is neither authenticated nor encrypted: use it on networks that are yours.
// Ownership: worker and connections. Threading: one owner; interrupt() from any thread.
// Refuses: waiting beyond what rest() is given; leaving takes at most kLeaveTime.
#pragma once

#include <poll.h>

#include "net/rendezvous.h"
#include "transport/stream_rank.h"
#include "wire.h"

namespace hocket::ucx {

class Rank final : public StreamRank {
 public:
  static constexpr std::chrono::milliseconds kLeaveTime{500};

  [[nodiscard]] static Result<std::unique_ptr<RankTransport>> make(Job& job, SteadyTime deadline);
  ~Rank() override;

  bool poll(TransportEvents& events) override;
  void rest(SteadyTime until) override;
  void interrupt() override;
  void fail(const Error& error) override;
  [[nodiscard]] bool has_gone(std::uint32_t peer) const override { return peer != rank() && has_ended(links_[peer]); }

 private:
  Rank(std::uint32_t rank, std::vector<std::string> names, std::unique_ptr<Wire> wire, std::vector<Descriptor> links);
  [[nodiscard]] Result<void> exchange(Job& job, SteadyTime deadline);
  bool read(std::uint32_t peer, TransportEvents* events);
  bool write(std::uint32_t peer, TransportEvents* events);
  /// Peers whose connection has ended and of which nothing more comes.
  bool close_gone();
  void look_around();
  /// Nothing of the caller's is under way any more.
  void settle(SteadyTime deadline);
  void flush_until(SteadyTime deadline);

  std::unique_ptr<Wire> wire_;
  std::vector<Descriptor> links_;
  std::vector<pollfd> waits_;          // by rank, then the worker, then the wake-up
  std::vector<std::string> gone_;      // by rank: why its connection has ended
  std::vector<SteadyTime> last_said_;  // by rank: when its connection ended, or something of it arrived since
  bool any_gone_ = false;
  Descriptor wakeup_;
};

}  // namespace hocket::ucx
