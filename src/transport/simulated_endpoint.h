// SimulatedEndpoint: one rank's side of a SimulatedWorld: connections with sequence numbers, receipts and retries, and
// the frames that became events. What it accepts from a peer it has checked against the rank's own plan.
// Ownership: the world. Threading: one owner.
// Refuses: frames of another plan, of ops that are not ours, out of order or of another length (an Error naming both).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "net/frame.h"
#include "transport/simulated.h"

namespace hocket {

class SimulatedEndpoint final : public Transport {
 public:
  SimulatedEndpoint(SimulatedWorld& world, std::uint32_t rank, SimulatedProgram program);

  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override;
  [[nodiscard]] const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) override;
  void acknowledge(const MessageEnd& receive, std::uint32_t segment) override;
  bool poll(TransportEvents& events) override;

  // The world's side.
  void greet_peers();
  void beat();
  void receive(std::uint32_t from, std::span<const std::byte> wire);
  void retry(std::uint32_t to);
  void connection_reset(std::uint32_t peer);
  [[nodiscard]] bool knows(std::uint32_t peer) const { return connections_[peer].used; }
  /// First error only; tells every other rank.
  void fail(const Error& error);

 private:
  struct Unconfirmed {
    std::uint64_t sequence;
    std::vector<std::byte> wire;
  };
  struct Connection {
    bool used = false;
    bool given_up = false;
    std::uint64_t next_out = 0;
    std::uint64_t next_in = 0;
    std::uint32_t attempts = 0;
    bool timer = false;
    Picos oldest_since;
    std::deque<Unconfirmed> unconfirmed;
  };
  struct Arrival {
    OpId op;
    std::uint32_t segments;
  };

  void send(std::uint32_t to, FrameHeader header, std::span<const std::byte> bytes);
  void confirm(std::uint32_t to);
  void confirmed(std::uint32_t from, std::uint64_t next);
  [[nodiscard]] bool in_sequence(std::uint32_t from, const FrameHeader& header);
  void accept(std::uint32_t from, const Frame& frame);
  void accept_segment(std::uint32_t from, const Frame& frame);
  void accept_consumed(std::uint32_t from, const Frame& frame);
  void accept_abort(const Frame& frame);
  void mismatch(std::uint32_t from, const FrameHeader& header);
  /// The op's end when it is ours and its peer is `from`.
  [[nodiscard]] const MessageEnd* end_of(OpId op, std::uint32_t from) const;
  void end_with(const Error& error) {
    if (!error_) error_ = error;
  }

  SimulatedWorld* world_;
  std::uint32_t rank_;
  SimulatedProgram program_;
  std::vector<Connection> connections_;
  std::vector<std::uint32_t> arrived_;  // segments, per op
  std::map<std::pair<OpId, std::uint32_t>, std::vector<std::byte>> segments_;
  std::vector<Arrival> arrivals_;
  std::vector<Arrival> consumed_;
  std::optional<Error> error_;
  bool error_reported_ = false;
};

}  // namespace hocket
