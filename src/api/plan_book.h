// PlanBook: a rank's plans, made when first asked for and kept loaded. Which algorithm and segment: chosen by
// simulation once per collective, root, operator kind and size class (a power of two of bytes), the same on every rank
// because all inputs are; the plan's hash in every call proves it. A plan file goes first for the collective it holds.
// Ownership: schedules and drivers; the transport outlives it. Threading: one owner at a time.
// Refuses: what no algorithm supports, topologies and plan files of another number of ranks.
#pragma once

#include <map>
#include <tuple>

#include "api/settings.h"
#include "planner/meeting.h"

namespace hocket {

struct PreparedCall {
  BoundCollective what;
  bool internal = false;
  std::string algorithm;
  std::unique_ptr<RankDriver> driver;
  std::uint64_t used = 0;  // when, in calls of find()
};

/// What all plans of a communicator are made of; shared by its queues.
struct PlanSource {
  Topology topology;
  Meeting meeting;  // of its ranks, for what a topology does not say
  Bytes segment_max;
  std::optional<VerifiedSchedule> file;
};

/// Reads the files, or takes the default topology: all ranks at one switch, which meet as the transport lets them.
[[nodiscard]] Result<PlanSource> read_plan_source(const Settings& settings, std::uint32_t ranks,
                                                  std::string_view transport);

class PlanBook {
 public:
  static constexpr std::size_t kLoadedMax = 128;

  PlanBook(const PlanSource& source, std::uint32_t rank, RankTransport& transport, const DriverOptions& options)
      : source_(&source), rank_(rank), transport_(&transport), options_(options) {}

  /// Allocates the first time only. What was not used for longest makes room. Internal calls get another segment size,
  /// and so another hash: a user's call never passes for one of them.
  [[nodiscard]] Result<std::shared_ptr<PreparedCall>> find(const BoundCollective& what, bool internal,
                                                           const DebugLog& log);

  /// What find() gave is used again.
  void note_use(PreparedCall& call) { call.used = ++calls_; }

 private:
  struct Choice {
    VerifiedSchedule schedule;
    Bytes segment;
    std::string algorithm;
  };
  using ChoiceKey = std::tuple<CollectiveKind, std::uint32_t, bool, int>;  // kind, root, averages, size class
  using CallKey = std::tuple<CollectiveKind, std::uint32_t, ReduceOp, DataType, std::int64_t, bool>;

  [[nodiscard]] Result<const Choice*> choose(const BoundCollective& what, const DebugLog& log);
  [[nodiscard]] Result<Choice> choose_anew(const BoundCollective& what, int size_class, const DebugLog& log) const;
  void make_room();

  const PlanSource* source_;
  std::uint32_t rank_;
  RankTransport* transport_;
  DriverOptions options_;
  std::uint64_t calls_ = 0;
  std::map<ChoiceKey, Choice> choices_;
  std::map<CallKey, std::shared_ptr<PreparedCall>> loaded_;
};

}  // namespace hocket
