// TcpRank: StreamRank over TCP connections, one per stream: one per peer, and further ones where two ranks are joined
// by several cables or ways. Non-blocking throughout: poll() moves what can move, rest() sleeps in epoll until
// something can. Payloads go from and to their memory with one gathering or scattering call. Ownership: the
// connections. Threading: one owner; interrupt() from any thread. Refuses: waiting beyond what rest() is given; leaving
// takes at most kLeaveTime.
#pragma once

#include "net/socket.h"
#include "transport/stream_rank.h"

namespace hocket {

class TcpRank final : public StreamRank {
 public:
  static constexpr std::chrono::milliseconds kLeaveTime{500};

  /// `links`: by stream, none to oneself; authenticated and tuned.
  [[nodiscard]] static Result<std::unique_ptr<TcpRank>> make(std::uint32_t rank, std::vector<std::string> names,
                                                             std::vector<Descriptor> links, Streams streams = {});
  /// Leaves in order: a bye (or the first error) to everybody, then whatever still comes is read and dropped.
  ~TcpRank() override;

  void begin(LoadedProgram& program) override;
  bool poll(TransportEvents& events) override;
  void rest(SteadyTime until) override;
  void interrupt() override;
  void fail(const Error& error) override;
  [[nodiscard]] bool has_gone(std::uint32_t peer) const override { return peer != rank() && has_ended(links_[peer]); }

 private:
  /// Bytes to send before the first look at how fast they leave, and from one look to the next.
  static constexpr std::size_t kFirstLook = std::size_t{128} << 10;
  static constexpr std::size_t kNextLook = std::size_t{1} << 20;

  TcpRank(std::uint32_t rank, std::vector<std::string> names, std::vector<Descriptor> links, Streams streams)
      : StreamRank(rank, std::move(names), std::move(streams)),
        links_(std::move(links)),
        watched_(links_.size(), 0),
        look_in_(links_.size(), kFirstLook) {}

  [[nodiscard]] Result<void> watch_all();
  /// Asks epoll for what this stream's connection is to be woken for.
  void watch(std::uint32_t stream, bool writing);
  void unwatch(std::uint32_t stream);
  bool read(std::uint32_t stream, TransportEvents* events);
  bool write(std::uint32_t stream, TransportEvents* events);
  void count_sent(std::uint32_t stream, std::size_t bytes);
  bool lost(std::uint32_t stream, const std::string& why);
  void flush_until(SteadyTime deadline);
  void settle_until(SteadyTime deadline);
  void drain_until(SteadyTime deadline);

  std::vector<Descriptor> links_;
  std::vector<std::uint32_t> watched_;  // epoll events asked for; 0: not watched
  std::vector<std::size_t> look_in_;    // bytes to send before the next look at the rate
  Descriptor epoll_;
  Descriptor wakeup_;
};

}  // namespace hocket
