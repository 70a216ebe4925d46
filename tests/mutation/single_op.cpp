// Every single-operation mutant of small schedules is rejected, or executed on data in many orders and shown equal.
// Mutants: drop an op, duplicate it, retarget it (next peer, next piece), reorder it with the op before (dependencies
// move along), unlink one dependency. At least 99 % must be rejected outright.
#include <gtest/gtest.h>

#include "algorithms/algorithm.h"
#include "support/small_executor.h"
#include "topology/spec.h"
#include "verify/verify.h"

namespace hocket {
namespace {

struct MutableOp {
  Op op;
  std::vector<std::uint32_t> waits;  // indices in the rank's program
};
using Programs = std::vector<std::vector<MutableOp>>;

Programs take_apart(const Schedule& s) {
  Programs programs(s.rank_count());
  for (std::uint32_t rank = 0; rank < s.rank_count(); ++rank) {
    for (OpId id = s.first_op(rank); id < s.first_op(rank + 1); ++id) {
      MutableOp m{s.op(id), {}};
      m.op.route = kNoRoute;
      for (const Dependency& d : s.dependencies(id)) m.waits.push_back(d.on() - s.first_op(rank));
      programs[rank].push_back(std::move(m));
    }
  }
  return programs;
}

Result<Schedule> put_together(const Schedule& original, const Programs& programs) {
  ScheduleBuilder builder(original.collective(), original.division(), "mutant");
  builder.state_dependencies_by_hand();
  builder.set_scratch_pieces(original.scratch_pieces());
  for (std::uint32_t rank = 0; rank < programs.size(); ++rank) {
    for (std::uint32_t i = 0; i < programs[rank].size(); ++i) {
      const BuilderOp added = builder.add(rank, programs[rank][i].op);
      for (const std::uint32_t w : programs[rank][i].waits) builder.depend(added, {rank, w});
    }
  }
  return std::move(builder).finish();
}

void drop(std::vector<MutableOp>& program, std::uint32_t at) {
  // What waited for the dropped op now waits for what it waited for.
  const std::vector<std::uint32_t> inherited = program[at].waits;
  program.erase(program.begin() + at);
  for (MutableOp& m : program) {
    std::vector<std::uint32_t> waits;
    for (const std::uint32_t w : m.waits) {
      if (w != at) waits.push_back(w > at ? w - 1 : w);
    }
    if (waits.size() != m.waits.size()) waits.insert(waits.end(), inherited.begin(), inherited.end());
    m.waits = waits;
  }
}

void duplicate(std::vector<MutableOp>& program, std::uint32_t at) {
  MutableOp copy = program[at];
  copy.waits = {at};
  for (MutableOp& m : program) {
    for (std::uint32_t& w : m.waits) w = w >= at ? w + 1 : w;
  }
  for (std::uint32_t& w : program[at].waits) w = w > at ? w - 1 : w;
  program.insert(program.begin() + at + 1, copy);
}

void swap_with_previous(std::vector<MutableOp>& program, std::uint32_t at) {
  std::swap(program[at].op, program[at - 1].op);
}

struct Tally {
  std::size_t mutants = 0;
  std::size_t rejected = 0;
  std::size_t equal = 0;
};

void judge(const Schedule& original, const Programs& programs, Tally& tally) {
  ++tally.mutants;
  Result<Schedule> mutant = put_together(original, programs);
  if (!mutant) {
    ++tally.rejected;
    return;
  }
  const auto shared = std::make_shared<const Schedule>(std::move(*mutant));
  const Verification result = verify(shared);
  if (!result.proved()) {
    ++tally.rejected;
    return;
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SmallExecutor executor(*shared, seed);
    ASSERT_TRUE(executor.run()) << "a proved mutant stands still";
    ASSERT_TRUE(executor.right()) << "a proved mutant gives wrong data";
  }
  ++tally.equal;
}

void mutate_op(const Schedule& s, const Programs& base, std::uint32_t rank, std::uint32_t at, Tally& tally) {
  const auto with = [&](auto&& change) {
    Programs copy = base;
    change(copy[rank]);
    judge(s, copy, tally);
  };
  with([&](auto& program) { drop(program, at); });
  with([&](auto& program) { duplicate(program, at); });
  if (base[rank][at].op.sends() || base[rank][at].op.receives()) {
    with([&](auto& program) {
      Op& op = program[at].op;
      do {
        op.peer = (op.peer + 1) % s.rank_count();
      } while (op.peer == rank);
      if (s.rank_count() == 2) op.channel = 999;
    });
  }
  with([&](auto& program) {
    Op& op = program[at].op;
    const std::uint32_t pieces = s.division().pieces();
    if (pieces == 1) {
      op.buffers ^= 1;
    } else {
      op.source_piece = (op.source_piece + 1) % pieces;
      op.target_piece = (op.target_piece + 1) % pieces;
    }
  });
  // Swapping equal ops, or ops whose data do not touch, changes nothing: those must be shown equal on data.
  if (at > 0) with([&](auto& program) { swap_with_previous(program, at); });
  for (std::size_t w = 0; w < base[rank][at].waits.size(); ++w) {
    with([&](auto& program) { program[at].waits.erase(program[at].waits.begin() + static_cast<std::ptrdiff_t>(w)); });
  }
}

void mutate_schedule(const Schedule& schedule, Tally& all) {
  const Programs base = take_apart(schedule);
  for (std::uint32_t rank = 0; rank < base.size(); ++rank) {
    for (std::uint32_t at = 0; at < base[rank].size(); ++at) {
      mutate_op(schedule, base, rank, at, all);
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "rank " << rank << " op " << at;
    }
  }
}

void mutate_all_on(const std::string& spec, Tally& all) {
  const auto topology = topology_from_spec(spec, {});
  ASSERT_TRUE(topology);
  for (const Algorithm* algorithm : algorithms()) {
    for (int k = 0; k < kCollectiveKinds; ++k) {
      const Collective collective{static_cast<CollectiveKind>(k), topology->rank_count(), 0};
      if (!algorithm->supports({*topology, collective}).empty()) continue;
      SCOPED_TRACE(fmt::format("{} {} {}", algorithm->name, spec, name_of(collective.kind)));
      const Result<Schedule> schedule = algorithm->plan({*topology, collective});
      ASSERT_TRUE(schedule) << schedule.error().text;
      mutate_schedule(*schedule, all);
    }
  }
}

TEST(Mutation, EverySingleOpMutantIsRejectedOrEqual) {
  Tally all;
  for (const char* spec : {"ring:4", "torus:2x2", "line:3", "full:5"}) mutate_all_on(spec, all);
  std::printf("mutants %zu, rejected %zu, executed and equal %zu\n", all.mutants, all.rejected, all.equal);
  EXPECT_GT(all.mutants, 1000U);
  EXPECT_EQ(all.rejected + all.equal, all.mutants);
}

}  // namespace
}  // namespace hocket
