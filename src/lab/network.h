// LabNetwork: a topology made of network namespaces of Linux, for root: one namespace per vertex, one pair of virtual
// devices per cable, the rate of each direction set by a token bucket. The device over which a link sends is that
// link: what it has sent are the link's bytes. Ranks also have a port without a limit on a bridge of their own, for
// their rendezvous and for signs of life.
// A token bucket lets frames through whole only when they fit its burst, so segments are kept below it: otherwise the
// kernel cuts every frame into packets, and the machine, not the link, is the limit.
// Links of a latency that the kernel cannot give pass through slow_cables.h; frame_loss.h makes links lose frames.
// Ownership: the namespaces, which go with it or with this process. Threading: one owner; others must not change their
// namespace meanwhile. Refuses: users that are not root, systems without `ip` and `tc`, what Wiring refuses.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/frame_loss.h"
#include "lab/namespace.h"
#include "lab/slow_cables.h"
#include "lab/ways.h"
#include "lab/wiring.h"
#include "net/address.h"

namespace hocket {

class LabNetwork {
 public:
  /// Keeps a pointer to the topology.
  [[nodiscard]] static Result<std::unique_ptr<LabNetwork>> build(const Topology& topology);

  [[nodiscard]] const Wiring& wiring() const { return wiring_; }
  [[nodiscard]] const NetworkNamespace& home() const { return home_; }
  [[nodiscard]] const NetworkNamespace& at(VertexId vertex) const { return vertices_[vertex]; }
  [[nodiscard]] const NetworkNamespace& of_rank(std::uint32_t rank) const { return at(topology_->vertex_of(rank)); }
  /// Name of the port on the bridge, the same everywhere.
  static constexpr std::string_view kPort = "port";
  /// What TCP hands to a device at once: a segment of 8 KiB with its header.
  static constexpr Bytes kFrame{8192 + 512};
  /// Where ranks find rank 0 on the bridge.
  [[nodiscard]] Result<Descriptor> listen_at_rank_0() const;

  /// Lays the ways of a plan and says by which addresses its ranks are to meet: text for net/link_addresses.h.
  [[nodiscard]] Result<std::string> lay(std::span<const LaneWay> lanes);

  /// By link: what its device has sent so far, headers included.
  [[nodiscard]] Result<std::vector<std::int64_t>> bytes_sent() const;

  /// From now on every link loses `share` of its frames, above 0 and below 1. Once.
  [[nodiscard]] Result<void> lose(double share);
  /// By link: frames lost so far.
  [[nodiscard]] Result<std::vector<std::uint64_t>> frames_lost() const;
  /// By rank: packets that its TCP took for lost and sent again, rightly or not; of kPacketBytes at most.
  [[nodiscard]] Result<std::vector<std::uint64_t>> packets_sent_again() const;
  static constexpr std::uint64_t kPacketBytes = 1514;

  /// An error when some cables carry nothing any more.
  [[nodiscard]] Result<void> check() const { return slow_.check(); }
  /// Cables whose latency is real, not only planned with.
  [[nodiscard]] std::size_t slow_cables() const { return slow_.count(); }

 private:
  LabNetwork(const Topology& topology, Wiring wiring, NetworkNamespace home)
      : topology_(&topology), wiring_(std::move(wiring)), home_(std::move(home)), ways_(topology, wiring_) {}

  [[nodiscard]] Result<void> make_namespaces();
  [[nodiscard]] Result<void> make_bridge() const;
  [[nodiscard]] Result<void> make_cables();
  [[nodiscard]] Result<void> furnish(VertexId vertex) const;
  [[nodiscard]] Result<void> run_ip(const std::vector<std::string>& lines, const NetworkNamespace& where) const;

  const Topology* topology_;
  Wiring wiring_;
  NetworkNamespace home_;
  WayBook ways_;
  std::vector<NetworkNamespace> bridge_;  // one
  std::vector<NetworkNamespace> vertices_;
  SlowCables slow_;
  std::optional<FrameLoss> loss_;
};

}  // namespace hocket
