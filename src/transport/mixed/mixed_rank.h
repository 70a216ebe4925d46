// MixedRank: a rank whose peers are partly on its host. What goes to these moves through memory (ShmRank, among the
// ranks of the host), all else over TCP (TcpRank, which also watches who lives, carries signs of life and sleeps). A
// rank that sleeps does so at its sockets: who writes for it into memory sends it a sign of life. Ownership: both
// halves. Threading: one owner; interrupt() from any thread. Refuses: what the halves refuse; what one of them finds is
// told on both.
#pragma once

#include "transport/shm/shm_meeting.h"
#include "transport/shm/shm_rank.h"
#include "transport/tcp/tcp_rank.h"

namespace hocket {

class MixedRank final : public RankTransport {
 public:
  /// `far`: to all ranks of the job.
  [[nodiscard]] static std::unique_ptr<MixedRank> make(std::uint32_t rank, const std::vector<std::string>& names,
                                                       HostGroup host, std::unique_ptr<TcpRank> far, bool lends);

  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
    is_near(send.peer) ? near_->offer(to_host(send), segments, memory) : far_->offer(send, segments, memory);
  }
  [[nodiscard]] const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) override {
    return is_near(receive.peer) ? near_->bytes(to_host(receive), segment) : far_->bytes(receive, segment);
  }
  void acknowledge(const MessageEnd& receive, std::uint32_t segment) override {
    is_near(receive.peer) ? near_->acknowledge(to_host(receive), segment) : far_->acknowledge(receive, segment);
  }
  bool poll(TransportEvents& events) override;

  [[nodiscard]] Result<std::unique_ptr<LoadedProgram>> load(MessageProgram program) override;
  void begin(LoadedProgram& program) override;
  [[nodiscard]] bool flushed() const override { return near_->flushed() && far_->flushed(); }
  void end() override;
  void rest(SteadyTime until) override;
  void interrupt() override { far_->interrupt(); }
  [[nodiscard]] Result<void> add_memory(const SharedRange& range) override { return near_->add_memory(range); }
  void remove_memory(const SharedRange& range) override { near_->remove_memory(range); }
  void fail(const Error& error) override;
  void listen() override;
  [[nodiscard]] bool has_gone(std::uint32_t peer) const override { return far_->has_gone(peer); }
  [[nodiscard]] const std::optional<Error>& failure() const override {
    return near_->failure() ? near_->failure() : far_->failure();
  }
  void beat(std::uint32_t waits_for) override { far_->beat(waits_for); }
  [[nodiscard]] std::string late_ranks(std::uint32_t waits_for, std::chrono::nanoseconds silence) const override {
    return far_->late_ranks(waits_for, silence);
  }
  [[nodiscard]] std::string call_text() const override { return far_->call_text(); }

 private:
  struct Halves;
  MixedRank(HostGroup host, std::unique_ptr<TcpRank> far);
  [[nodiscard]] bool is_near(std::uint32_t peer) const { return place_[peer] >= 0; }
  /// The same end as the half of the host names it.
  [[nodiscard]] MessageEnd to_host(MessageEnd end) const {
    end.peer = static_cast<std::uint32_t>(place_[end.peer]);
    return end;
  }

  HostGroup host_;
  std::vector<std::int32_t> place_;  // by rank: among the host's, or -1
  std::unique_ptr<TcpRank> far_;
  std::unique_ptr<ShmRank> near_;  // goes first: its last words may need waking
};

}  // namespace hocket
