// ScheduleBuilder: the only way to make a Schedule.
// An algorithm writes, per rank, a sequential program; the builder derives the dependencies from what ops read and
// write (read after write, write after read, write after write; input and output taken as one buffer where a
// collective may run in place), so a program that is right when run line by line stays right when run as a dataflow.
// Importers switch that off and state dependencies themselves. Threading: one owner.
// Refuses (at finish): ranks, pieces or peers out of range, messages to oneself, runs that cross a scratch round.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"

namespace hocket {

struct OpOptions {
  std::uint16_t channel = 0;
  std::uint32_t step = 0;
  std::uint32_t route = kNoRoute;
};

/// An op while it is being built: rank and index in that rank's program.
struct BuilderOp {
  std::uint32_t rank = 0;
  std::uint32_t index = 0;
};

class ScheduleBuilder {
 public:
  ScheduleBuilder(Collective collective, Division division, std::string algorithm);

  BuilderOp send(std::uint32_t rank, std::uint32_t peer, PieceRange source, OpOptions options = {});
  BuilderOp recv(std::uint32_t rank, std::uint32_t peer, PieceRange target, OpOptions options = {});
  /// target <- local (+) message. `local` and `target` have the same count.
  BuilderOp recv_reduce(std::uint32_t rank, std::uint32_t peer, PieceRange local, PieceRange target,
                        OpOptions options = {});
  BuilderOp copy(std::uint32_t rank, PieceRange source, PieceRange target, OpOptions options = {});
  /// target <- target (+) source.
  BuilderOp reduce(std::uint32_t rank, PieceRange source, PieceRange target, OpOptions options = {});
  BuilderOp signal(std::uint32_t rank, std::uint32_t peer, OpOptions options = {});
  BuilderOp wait(std::uint32_t rank, std::uint32_t peer, OpOptions options = {});
  BuilderOp add(std::uint32_t rank, const Op& op);

  /// `later` waits for the whole of `earlier` (same rank), beside what the data demand.
  void depend(BuilderOp later, BuilderOp earlier);
  /// Data dependencies are not derived; every ordering must be stated by depend().
  void state_dependencies_by_hand() { derive_ = false; }

  /// Registers a path of link ids; equal paths share an index. `topology` is the fingerprint the ids refer to.
  std::uint32_t add_route(std::span<const std::uint32_t> links);
  void set_topology(Fingerprint topology) { topology_ = topology; }
  void set_scratch_pieces(std::uint32_t pieces) { scratch_pieces_ = pieces; }
  void set_origin(BuilderOp op, OpOrigin origin);
  [[nodiscard]] const Collective& collective() const { return collective_; }
  [[nodiscard]] std::uint32_t pieces() const { return division_.pieces(); }
  [[nodiscard]] std::uint32_t rank_count() const { return collective_.ranks; }
  void reserve(std::uint32_t rank, std::size_t ops) { programs_[rank].ops.reserve(ops); }

  /// Room for `ops` more ops of a rank.
  void reserve_more(std::uint32_t rank, std::size_t ops) {
    programs_[rank].ops.reserve(programs_[rank].ops.size() + ops);
  }

  [[nodiscard]] Result<Schedule> finish() &&;

  /// The same schedule whose sends take other routes, given by op (none for what does not send).
  [[nodiscard]] static Schedule with_routes(Schedule schedule, std::span<const std::vector<std::uint32_t>> routes,
                                            Fingerprint topology);

 private:
  struct Program {
    std::vector<Op> ops;
    std::vector<OpOrigin> origins;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> extra;  // (later, earlier), indices in this program
  };
  [[nodiscard]] Result<void> check(std::uint32_t rank, const Op& op) const;
  [[nodiscard]] Result<void> check_range(const PieceRange& range) const;
  Result<void> append(Schedule& schedule, std::uint32_t rank, class DependencyDeriver& deriver);

  Collective collective_;
  Division division_;
  std::string algorithm_;
  std::vector<Program> programs_;
  std::vector<std::uint32_t> route_begin_{0};
  std::vector<std::uint32_t> route_links_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> route_index_;  // sorted (hash, route)
  Fingerprint topology_;
  std::uint32_t scratch_pieces_ = 0;
  bool derive_ = true;
};

}  // namespace hocket
