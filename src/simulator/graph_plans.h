// GraphPlans: the collectives of a task graph cut into chunks, group by group. Groups whose networks are equal share
// schedules, plans and costs; each group keeps the links that are its own. Decides whether one rank may stand for all:
// every rank runs the same program, every division cuts all ranks into groups of one size, and either the network is a
// star or all ranks are one group on single links; then only the groups of rank 0 are planned.
// Ownership: owns networks, plans and tables. Threading: immutable once made.
// Refuses: what the chooser and StepPlans refuse, ranks that are not the platform's.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "simulator/group_network.h"
#include "simulator/step_plans.h"
#include "workload/task_graph.h"

namespace hocket {

/// The schedule of a collective on the network of its group; `largest`: of the graph's collectives of that kind there.
using GroupChooser =
    std::function<Result<VerifiedSchedule>(const Collective& collective, const Topology& network, Bytes largest)>;

/// A group of a division with what its members call, in order.
struct PlannedGroup {
  std::uint32_t division = 0;
  std::span<const std::uint32_t> members;
  const GroupNetwork* network = nullptr;  // null: nothing is planned for it
  std::vector<const ChunkedCollective*> calls;
};

class GraphPlans {
 public:
  struct Request {
    const TaskGraph& graph;
    const StepMachine& machine;
    const GroupChooser& choose;
    bool fold = true;
  };
  [[nodiscard]] static Result<GraphPlans> make(const Request& request);

  [[nodiscard]] bool folded() const { return folded_; }
  /// Every rank does the same in every collective, and they meet at a switch: what reaches a link at one instant then
  /// goes on in the order of ops, which is the same seen from each rank.
  [[nodiscard]] bool meets_in_order() const { return alike_ && !star_symmetries_.empty(); }
  [[nodiscard]] std::span<const PlannedGroup> groups() const { return groups_; }
  /// The index into groups() of a rank's group in a division, or kNoGroup.
  [[nodiscard]] std::uint32_t group(std::uint32_t division, std::uint32_t rank) const {
    return group_of_[division][rank];
  }
  /// The rank's place among the members of its group.
  [[nodiscard]] std::uint32_t member(std::uint32_t division, std::uint32_t rank) const {
    return member_of_[division][rank];
  }
  /// How rank 0's ops stand for the others', or null where they do not.
  [[nodiscard]] const RankSymmetry* symmetry(const ChunkShape& shape) const;
  [[nodiscard]] std::uint32_t order(const ChunkShape& shape, OpId id) const {
    const RankSymmetry* const symmetric = symmetry(shape);
    return symmetric != nullptr ? symmetric->order(id) : id;
  }
  /// The algorithms that run, one per network and collective: the largest shape of each.
  [[nodiscard]] const std::vector<const ChunkShape*>& running() const { return running_; }
  /// The index into running() of a shape's algorithm.
  [[nodiscard]] std::uint32_t algorithm(const ChunkShape& shape) const { return algorithm_of_.at(&shape); }
  /// The tasks of a program that are calls of a division, in order.
  [[nodiscard]] const std::vector<NodeId>& calls(std::uint32_t program, std::uint32_t division) const {
    return calls_[program][division];
  }
  /// Of a collective: its place among the calls of its division.
  [[nodiscard]] std::uint32_t call_of(std::uint32_t program, NodeId task) const { return call_of_[program][task]; }
  /// The algorithm of each kind of collective in each division: "all_gather in 'tp'" -> "ring".
  [[nodiscard]] std::map<std::string, std::string> algorithms(const TaskGraph& graph) const;

 private:
  /// Groups of equal networks.
  struct NetworkKind {
    const Topology* topology = nullptr;
    std::vector<WorkCollective> collectives;  // distinct
    std::optional<StepPlans> plans;
  };
  GraphPlans() = default;
  void number_calls(const TaskGraph& graph);
  void number_groups(const TaskGraph& graph);
  [[nodiscard]] static bool may_be_alike(const TaskGraph& graph, const Topology& topology);
  Result<void> add_networks(const Request& request);
  Result<void> plan_kinds(const Request& request);
  [[nodiscard]] NetworkKind& kind_of(const Topology& network);
  void find_symmetries(const StepMachine& machine);
  void number_algorithms();

  bool folded_ = false;
  bool alike_ = false;                                   // could be folded
  std::vector<std::vector<std::vector<NodeId>>> calls_;  // per program and division
  std::vector<std::vector<std::uint32_t>> call_of_;      // per program
  std::vector<PlannedGroup> groups_;
  std::vector<std::vector<std::uint32_t>> group_of_, member_of_;  // per division
  std::deque<GroupNetwork> networks_;                             // never move
  std::deque<NetworkKind> kinds_;
  std::vector<NetworkKind*> kind_of_group_;
  std::map<const ChunkShape*, RankSymmetry> star_symmetries_;
  std::vector<const ChunkShape*> running_;
  std::map<const ChunkShape*, std::uint32_t> algorithm_of_;
};

}  // namespace hocket
