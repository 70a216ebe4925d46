// ShmRank: StreamRank over rings of bytes in memory that all ranks of a host map. What ranks say is the same as over
// any stream; here it moves by copying into and out of rings. Long segments are copied once, to where their receiver
// reads them in place. What lies in memory made to be shared (shared_memory.h) is mapped by the receiver and does
// not move at all before it is used. Those too long for that are read by the receiver where the system
// lets a rank read the memory of another, which is tried at the first call.
// The connection made at the rendezvous stays open and carries nothing: the kernel closes it when a process ends, and
// so a peer's death is noticed. A waiting rank spins as its driver says, then sleeps at its doorbell and looks after
// the connections every kLookAround.
// Ownership: the connections and a share of the segment. Threading: one owner; interrupt() from any thread.
// Refuses: waiting beyond what rest() is given; positions and bytes of peers that make no sense end the communicator.
#pragma once

#include <poll.h>

#include <functional>

#include "net/socket.h"
#include "transport/shm/shm_segment.h"
#include "transport/stream_rank.h"

namespace hocket {

struct ShmOptions {
  bool lends = true;  // long segments, to peers that can read this process's memory
  /// For ranks that sleep elsewhere, by doze(): wakes that peer. All ranks of the segment have it, or none.
  std::function<void(std::uint32_t peer)> wake;
};

class ShmRank final : public StreamRank {
 public:
  static constexpr std::chrono::milliseconds kLeaveTime{500};
  static constexpr std::chrono::milliseconds kLookAround{20};

  /// `links`: by rank, none to oneself; authenticated. Closed ones where somebody else watches who lives.
  [[nodiscard]] static std::unique_ptr<ShmRank> make(std::uint32_t rank, std::vector<std::string> names,
                                                     std::shared_ptr<ShmSegment> segment, std::vector<Descriptor> links,
                                                     const ShmOptions& options = {});
  /// Leaves in order: a bye (or the first error) to everybody.
  ~ShmRank() override;

  void begin(LoadedProgram& program) override;
  void begin_shown(LoadedProgram& program, std::span<const std::byte> message) override;
  [[nodiscard]] bool all_shown() override;
  bool poll(TransportEvents& events) override;
  void rest(SteadyTime until) override;
  void interrupt() override;
  void fail(const Error& error) override;
  [[nodiscard]] Result<void> add_memory(const SharedRange& range) override;
  void remove_memory(const SharedRange& range) override;
  [[nodiscard]] bool has_gone(std::uint32_t peer) const override { return peer != rank() && has_ended(links_[peer]); }

  /// Segments that peers have lent, of all calls.
  struct LoanCounts {
    std::uint64_t mapped = 0;  // used where they lay
    std::uint64_t copied = 0;  // by the kernel
  };
  [[nodiscard]] const LoanCounts& loan_counts() const { return loan_counts_; }

  /// For a rank that sleeps elsewhere: false when it may not sleep now. After the sleep, or none, it rises.
  [[nodiscard]] bool doze();
  void rise() { segment_->state(rank()).bell.get_up(); }

 protected:
  [[nodiscard]] SegmentWay way_of(std::uint32_t peer, std::span<const std::byte> bytes, bool bounces) const override;
  [[nodiscard]] std::byte* bounce_memory(std::uint32_t rank) override { return segment_->bounce_memory(rank); }
  [[nodiscard]] bool borrows() const override { return true; }
  [[nodiscard]] const std::byte* fetch(const Loan& loan, std::byte* place) override;
  void used_loan(std::uint32_t peer) override;

 private:
  struct Peer {
    RingWriter out;
    RingReader in;
    Doorbell* bell;
    std::string gone;    // why its connection has ended
    bool tried = false;  // to read its memory
    PeerMemory memory{};
  };

  ShmRank(std::uint32_t rank, std::vector<std::string> names, std::shared_ptr<ShmSegment> segment,
          std::vector<Descriptor> links, const ShmOptions& options);
  void show_memory();
  void try_memory(std::uint32_t peer);
  bool read(std::uint32_t peer, TransportEvents& events);
  bool write(std::uint32_t peer, TransportEvents* events);
  /// Whether sleeping would miss something.
  [[nodiscard]] bool something_to_do();
  bool yield_to_peers();
  [[nodiscard]] std::uint32_t sleep_reasons() const;
  void ring(std::uint32_t peer, std::uint32_t reason);
  void look_around(SteadyTime now);
  void look_at(std::uint32_t peer);
  void note_gone(std::uint32_t peer, const std::string& why);
  bool close_gone();
  void leave_words();
  /// True when that rank has failed.
  bool hear_words(std::uint32_t peer);
  /// Writes what can be written; true when there is room for more.
  bool flush();
  void flush_until(SteadyTime deadline);

  std::shared_ptr<ShmSegment> segment_;
  std::vector<Descriptor> links_;
  std::vector<pollfd> waits_;  // by rank
  std::vector<Peer> peers_;    // by rank; unused for oneself
  std::uint32_t untried_ = 0;
  Nonce token_;  // for peers to try whether they can read it here
  std::function<void(std::uint32_t peer)> wake_;
  TransportEvents* events_ = nullptr;  // of the call's engine
  LoanCounts loan_counts_;
  bool any_gone_ = false;
  SteadyTime looked_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace hocket
