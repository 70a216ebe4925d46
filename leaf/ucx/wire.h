// Wire: one rank's UCX worker and its endpoints as byte streams to every peer: what StreamRank's shell moves bytes
// with. At most one send per peer is under way; its bytes stay with their owner until sent_bytes() tells of them.
// Ownership: context, worker, endpoints, chunks that arrived and were not consumed. Threading: one owner at a time.
// Refuses: systems without a usable UCX transport (the Error says what UCX said).
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hocket/result.h"

namespace hocket::ucx {

class Wire {
 public:
  static constexpr std::size_t kPartsMax = 16;

  [[nodiscard]] static Result<std::unique_ptr<Wire>> open(std::uint32_t rank, std::uint32_t ranks);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// What peers need to reach us; bytes.
  [[nodiscard]] Result<std::string> address() const;
  [[nodiscard]] Result<void> connect(std::uint32_t peer, const std::string& address);

  /// True when something happened.
  bool progress() { return ucp_worker_progress(worker_) != 0; }
  [[nodiscard]] bool sending(std::uint32_t peer) const { return peers_[peer].send != nullptr; }
  /// Bytes that have left at once; 0: under way.
  std::size_t send(std::uint32_t peer, std::span<const std::span<const std::byte>> parts);
  /// Of the send that was under way, when it is over.
  [[nodiscard]] std::size_t sent_bytes(std::uint32_t peer);
  /// What has arrived and was not consumed.
  [[nodiscard]] std::span<const std::byte> arrived(std::uint32_t peer);
  void consume(std::uint32_t peer, std::size_t bytes);
  /// Why nothing can be sent to this peer any more; empty: it can.
  [[nodiscard]] const std::string& broken(std::uint32_t peer) const { return peers_[peer].broken; }
  /// Gives up what is under way; afterwards its bytes are no longer read.
  void cut_off(std::uint32_t peer);
  /// Whether it is safe to sleep on descriptor() now.
  [[nodiscard]] bool arm() { return ucp_worker_arm(worker_) == UCS_OK; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    void* send = nullptr;
    std::size_t send_bytes = 0;
    std::array<ucp_dt_iov_t, kPartsMax> parts{};
    std::byte* chunk = nullptr;
    std::size_t chunk_bytes = 0;
    std::size_t consumed = 0;
    std::string broken;
  };

  Wire() = default;
  [[nodiscard]] Result<void> start(std::uint32_t rank);
  static void on_error(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  void close(Peer& peer, unsigned flags);

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::vector<Peer> peers_;
};

}  // namespace hocket::ucx
