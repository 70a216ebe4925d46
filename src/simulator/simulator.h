// simulate(): how long a plan takes on a topology, and what each link carries. Runs the schedule dependency-driven
// through the same Frontier as the engine, segment by segment. Copies and reductions are free unless a rate is given.
//   message  a segment holds each link of its route for size / bandwidth; its head moves on after the link's latency
//   packet   ops are cut into packets of payload and head flit that queue at every link on their own
//   fluid    segments share links by max-min fair rates, set anew whenever one starts or ends
//   tcp      connections cut segments into chunks that links take in the order in which they come, as the lab's do
// Ownership: the result owns all it holds. Threading: pure function.
// Refuses: plans for other ranks, routes of another topology, times beyond the clock (53 days), what would take more
// than about a minute (passages_max()); a time below the lower bound is an internal error. The equations:
// docs/simulation.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "bounds/bounds.h"
#include "topology/topology.h"
#include "verify/plan.h"

namespace hocket {

enum class NetworkModel : std::uint8_t { kMessage, kPacket, kFluid, kTcp };
inline constexpr std::array kNetworkModels{NetworkModel::kMessage, NetworkModel::kPacket, NetworkModel::kFluid,
                                           NetworkModel::kTcp};
[[nodiscard]] std::string_view name_of(NetworkModel model);

/// How often segments, packets or chunks may enter links in one simulation.
[[nodiscard]] double passages_max(NetworkModel model);

/// When a send may leave: as soon as its data are there; when its rank's step counter has come to its step; or when
/// every message of the steps before has arrived everywhere (a global clock without cost).
enum class Injection : std::uint8_t { kWhenReady, kLockStep, kGlobalStep };
[[nodiscard]] std::string_view name_of(Injection injection);

/// A head flit on every packet, or on the first of a message only.
enum class FlowControl : std::uint8_t { kPacket, kMessage };
[[nodiscard]] std::string_view name_of(FlowControl control);

/// What stands between a rank and its links; packet model only, but for `count` 0 the defaults change nothing.
struct InterfaceOptions {
  Injection injection = Injection::kWhenReady;
  FlowControl flow_control = FlowControl::kPacket;
  std::uint32_t count = 0;            // messages that a rank sends (and receives) at once; 0: one per link
  std::uint32_t buffer_packets = 58;  // packets that wait in an interface while the rank's next step begins
};

/// The rules of ASTRA-sim's analytical network: floor(latency + size / bandwidth) whole nanoseconds for a message, then
/// `endpoint_ns` until it is there; a reduction takes three accesses of `memory`, each cut to whole nanoseconds. Goes
/// with the message model and store and forward; the lower bound does not hold (docs/simulation.md).
struct AstraRules {
  std::int64_t endpoint_ns = 0;
  BytesPerSecond memory{1e18};
};

struct SimulateOptions {
  NetworkModel model = NetworkModel::kMessage;
  Bytes packet_payload{256};
  Bytes head_flit{16};
  Bytes tcp_chunk{8192};                                   // tcp: what a connection hands to its first link at once
  std::uint64_t fluid_rates_max = std::uint64_t{1} << 33;  // fluid: set anew for flows, before it is given up
  bool timeline = false;
  std::size_t timeline_max = 200000;  // bars kept; the result says when some were left out
  const Bound* bound = nullptr;       // computed when not given
  bool store_and_forward = false;     // a link starts when all of a segment (packet) is there; message and packet
  Seconds per_message_overhead;       // every segment holds its first link that much longer (fluid: starts later)
  BytesPerSecond copy_rate;           // recv and copy, one after another per rank; 0: free
  BytesPerSecond reduce_rate;         // recv_reduce and reduce, likewise; 0: free
  Progress* progress = nullptr;       // told how many of all segments have been sent
  InterfaceOptions interfaces;
  std::optional<AstraRules> astra;
  /// Per link: its rate is multiplied by that; empty: by 1. Then the bound of the result does not hold.
  std::span<const double> link_factors;
};

/// One segment (or packet) on one link.
struct LinkInterval {
  LinkId link = 0;
  OpId op = 0;  // the send
  Picos begin;
  Picos end;
};

struct SimulationResult {
  Picos time;
  Bound bound;
  NetworkModel model = NetworkModel::kMessage;
  bool network_only = true;              // copies and reductions were free
  std::vector<std::int64_t> link_bytes;  // per link, head flits included
  std::vector<Picos> link_busy;          // per link, time held
  LinkId busiest_link = 0;               // longest held
  std::size_t links_used = 0;
  std::uint64_t messages = 0;  // send and signal ops
  std::uint64_t segments = 0;  // that they were sent in
  std::uint64_t events = 0;
  double passages = 0;  // of segments, packets or chunks into links
  double wall_s = 0;    // what the simulation itself took; the only figure that differs from run to run
  std::vector<LinkInterval> timeline;
  std::uint64_t timeline_dropped = 0;

  /// Bound / time; 1 when nothing had to move.
  [[nodiscard]] double fraction_of_bound() const {
    return time.count > 0 ? bound.time.value / to_seconds(time).value : 1.0;
  }
  /// Share of the time that a link was held.
  [[nodiscard]] double utilisation(LinkId link) const {
    return time.count > 0 ? static_cast<double>(link_busy[link].count) / static_cast<double>(time.count) : 0.0;
  }
};

[[nodiscard]] Result<SimulationResult> simulate(const Plan& plan, const Topology& topology,
                                                const SimulateOptions& options = {});

/// A plan on the ranks of a topology. Jobs that run together have topologies of the same links, whose ranks may differ.
struct SimulatedJob {
  const Plan* plan = nullptr;
  const Topology* topology = nullptr;
};

struct JointResult {
  SimulationResult sum;                               // of all jobs; it has no bound
  std::vector<Picos> times;                           // per job
  std::vector<std::vector<std::int64_t>> link_bytes;  // per job and link
};

/// All jobs start at once and share the links. Refuses: no job, topologies of different links, and what simulate()
/// does.
[[nodiscard]] Result<JointResult> simulate_together(std::span<const SimulatedJob> jobs,
                                                    const SimulateOptions& options = {});

}  // namespace hocket
