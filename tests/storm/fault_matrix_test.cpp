// The fault matrix: three ranks of which one differs from the others in one thing, for every operation, over memory and
// over TCP. All ranks end by themselves with an error that names the odd one and what differs; a rank that is through
// with the call holds the right data; what all ranks must wait for fails at once, not by its deadline. Combinations
// that do not exist are listed with the reason by a test of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

#include "support/api_ranks.h"
#include "support/process.h"
#include "support/small_call.h"

namespace hocket {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::kOperations;
using test::name_of;
using test::RankEnd;
using test::run_forked;
using test::SmallCall;

constexpr std::uint32_t kRanks = 3;
constexpr std::int64_t kElements = 4;

enum class Fault : std::uint8_t { kCount, kType, kOperator, kRoot, kOrder, kSkipped, kPlan, kSize };
constexpr std::array kFaults{Fault::kCount, Fault::kType,    Fault::kOperator, Fault::kRoot,
                             Fault::kOrder, Fault::kSkipped, Fault::kPlan,     Fault::kSize};
constexpr std::array<const char*, 8> kFaultNames{"count", "dtype", "op", "root", "order", "skipped", "plan", "size"};

std::string name_of(Fault fault) { return kFaultNames[static_cast<std::size_t>(fault)]; }

bool is_message(Operation operation) { return operation == Operation::kSend || operation == Operation::kReceive; }

bool combines(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduceScatter ||
         operation == Operation::kReduce;
}

/// Why ranks cannot differ in that; empty where they can.
std::string impossible(Operation operation, Fault fault) {
  const bool barrier = operation == Operation::kBarrier;
  switch (fault) {
    case Fault::kCount:
      return barrier ? "it has no count" : "";
    case Fault::kType:
      return barrier ? "it has no elements" : "";
    case Fault::kOperator:
      return combines(operation) ? "" : "it combines nothing";
    case Fault::kRoot:
      return test::has_root(operation) || is_message(operation) ? "" : "it has no root";
    case Fault::kPlan:
      return is_message(operation) ? "every message has the same plan" : "";
    default:
      return {};
  }
}

struct Cell {
  Operation operation = Operation::kAllReduce;
  Fault fault = Fault::kCount;
  std::uint32_t odd = 1;
  const char* transport = "shm";
};

std::string name_of(const Cell& cell) {
  return fmt::format("{}_{}_rank{}_{}", name_of(cell.operation), name_of(cell.fault), cell.odd, cell.transport);
}

/// Of rooted operations the root may be the odd one too; of messages it is the end that is asked about.
std::vector<std::uint32_t> odd_ranks(Operation operation) {
  if (operation == Operation::kSend) return {0};
  if (test::has_root(operation)) return {0, 1};
  return {1};
}

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const Operation operation : kOperations) {
    for (const Fault fault : kFaults) {
      if (!impossible(operation, fault).empty()) continue;
      for (const std::uint32_t odd : odd_ranks(operation)) {
        for (const char* transport : {"shm", "tcp"}) cells.push_back({operation, fault, odd, transport});
      }
    }
  }
  return cells;
}

/// Nobody can tell but by waiting: a rank is elsewhere, and whoever needs it finds nobody.
bool only_by_deadline(const Cell& cell) {
  const bool elsewhere = cell.fault == Fault::kOrder || cell.fault == Fault::kSkipped || cell.fault == Fault::kRoot;
  return cell.fault == Fault::kSize || (is_message(cell.operation) && elsewhere);
}

/// The rank's call cannot be right without every other rank.
bool depends_on_odd(const Cell& cell, std::uint32_t rank) {
  switch (cell.operation) {
    case Operation::kBroadcast:
      return cell.odd == 0 && rank != 0;
    case Operation::kReduce:
      return cell.odd != 0 && rank == 0;
    case Operation::kAllGatherV:
    case Operation::kAllToAllV:
    case Operation::kSend:
    case Operation::kReceive:
      return false;
    default:
      return true;
  }
}

void change(const Cell& cell, SmallCall& small) {
  Call& call = small.call();
  if (cell.fault == Fault::kType) call.type = DataType::kI32;
  if (cell.fault == Fault::kOperator) call.reduction = ReduceOp::kMax;
  if (cell.fault == Fault::kRoot) call.root = is_message(cell.operation) ? 2 : 1;
  if (cell.fault != Fault::kCount) return;
  call.count += 1;
  if (cell.operation == Operation::kAllGatherV) small.received()[2] += 1;
  if (cell.operation == Operation::kAllToAllV) small.sent()[2] += 1;
}

/// What an error of the fault must say besides the rank.
std::vector<std::string> words_of(const Cell& cell) {
  const Operation operation = cell.operation;
  const bool blocks =
      operation == Operation::kReduceScatter || operation == Operation::kAllGather || operation == Operation::kAllToAll;
  switch (cell.fault) {
    case Fault::kCount:
      if (operation == Operation::kAllToAllV) return {"count", "3", "4"};
      return blocks ? std::vector<std::string>{"count", "12", "15"} : std::vector<std::string>{"count", "4", "5"};
    case Fault::kType:
      return {"dtype", "f32", "i32"};
    case Fault::kOperator:
      return {"operator", "sum", "max"};
    case Fault::kRoot:
      return is_message(operation) ? std::vector<std::string>{} : std::vector<std::string>{"root", "0", "1"};
    case Fault::kPlan:
      return {"plan"};
    default:
      return {};
  }
}

bool says(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("\\b" + word + "\\b"));
}

Operation other_than(Operation operation) {
  return operation == Operation::kAllGather ? Operation::kAllReduce : Operation::kAllGather;
}

/// One rank of a cell.
class CellRank {
 public:
  CellRank(const Cell& cell, std::uint32_t rank, Communicator& comm) : cell_(cell), rank_(rank), comm_(comm) {}

  /// The text of the error it ended with.
  std::string run() {
    if (cell_.fault == Fault::kSize) return on_a_part();
    const bool odd = rank_ == cell_.odd;
    const Operation other = other_than(cell_.operation);
    std::string said;
    if (odd && cell_.fault == Fault::kOrder) said = call(other, comm_, true);
    if (said.empty() && !(odd && cell_.fault == Fault::kSkipped)) said = call(cell_.operation, comm_, false);
    const bool more = cell_.fault == Fault::kSkipped || (cell_.fault == Fault::kOrder && !odd);
    if (said.empty() && more) said = call(other, comm_, true);
    return said.empty() ? last() : said;
  }

 private:
  /// The odd rank calls it on a communicator of two ranks, the others on that of all three.
  std::string on_a_part() {
    auto part = comm_.split(rank_ < 2 ? std::optional(0U) : std::nullopt, rank_);
    SAY_ERROR(part);
    const std::string said = call(cell_.operation, rank_ == cell_.odd ? **part : comm_, false);
    return said.empty() ? last() : said;
  }

  std::string call(Operation operation, Communicator& where, bool any_rank_depends) {
    SmallCall small(operation, where.rank(), where.size(), kElements);
    if (!small.takes_part()) return {};
    const bool odd = rank_ == cell_.odd;
    if (odd && operation == cell_.operation) change(cell_, small);
    if (only_by_deadline(cell_)) small.call().timeout = milliseconds(700);
    SAY_ERROR(where.run(small.call()));
    if (!odd && !small.right()) return "SUCCESS with wrong data";
    if (any_rank_depends || (!odd && depends_on_odd(cell_, rank_)))
      return fmt::format("SUCCESS of {} without the odd rank", name_of(operation));
    return {};
  }

  /// A rank that depends on nobody may be through with the call itself; here it hears of it.
  std::string last() {
    SAY_ERROR(comm_.barrier());
    return "SUCCESS of all";
  }

  const Cell& cell_;
  std::uint32_t rank_;
  Communicator& comm_;
};

/// A schedule file of the collective that the operation runs, by an algorithm that is not chosen for it; gone with it.
class OtherPlan {
 public:
  explicit OtherPlan(Operation operation) {
    std::string kind = name_of(operation);
    if (operation == Operation::kBarrier) kind = "all_reduce";
    if (operation == Operation::kAllGatherV) kind = "broadcast";
    if (operation == Operation::kGather || operation == Operation::kScatter || operation == Operation::kAllToAllV)
      kind = "all_gather";
    path_ = std::filesystem::temp_directory_path() / fmt::format("hocket-fault-{}-{}.hkt", ::getpid(), kind);
    const char* algorithm = kind == "all_to_all" ? "bruck" : "ring";
    const test::Ended end = test::run(
        {HOCKET_BINARY, "plan", kind, "--topo", "ring:3", "--size", "96B", "--algo", algorithm, "-o", path_.string()});
    EXPECT_EQ(end.status, 0) << end.err;
  }
  ~OtherPlan() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  OtherPlan(const OtherPlan&) = delete;
  OtherPlan& operator=(const OtherPlan&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

class FaultMatrix : public testing::TestWithParam<Cell> {};

TEST_P(FaultMatrix, IsNamedOnEveryRank) {
  const Cell& cell = GetParam();
  std::optional<OtherPlan> plan;
  if (cell.fault == Fault::kPlan) plan.emplace(cell.operation);
  const std::vector<RankEnd> ends = run_forked(kRanks, [&](std::uint32_t rank) -> std::string {
    CommunicatorOptions options;
    options.timeout = seconds(20);
    options.transport = cell.transport;
    if (plan && rank == cell.odd) options.plan_file = plan->path();
    auto comm = Communicator::create(options);
    SAY_ERROR(comm);
    return CellRank(cell, rank, *comm).run();
  });
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const std::string& said = ends[rank].said;
    EXPECT_FALSE(said.empty()) << rank;
    EXPECT_EQ(ends[rank].signal, 0) << rank;
    EXPECT_EQ(said.find("SUCCESS"), std::string::npos) << rank << ": " << said;
    EXPECT_EQ(said.find("did not end in time"), std::string::npos) << rank << ": " << said;
    // Ends of a message that wait for each other are both in the way of the third rank.
    const bool either = is_message(cell.operation) && only_by_deadline(cell);
    EXPECT_TRUE(says(said, either ? "rank [01]" : fmt::format("rank {}", cell.odd))) << rank << ": " << said;
    for (const std::string& word : words_of(cell))
      EXPECT_TRUE(says(said, word)) << word << "; " << rank << ": " << said;
    if (!only_by_deadline(cell)) {
      EXPECT_EQ(said.find("not done within"), std::string::npos) << rank << ": " << said;
      EXPECT_EQ(said.find("in time"), std::string::npos) << rank << ": " << said;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FaultMatrix, testing::ValuesIn(all_cells()),
                         [](const auto& param) { return name_of(param.param); });

TEST(FaultMatrixList, CombinationsThatDoNotExistAreListed) {
  std::size_t impossible_cells = 0;
  for (const Fault fault : kFaults) {
    for (const Operation operation : kOperations) {
      const std::string reason = impossible(operation, fault);
      if (reason.empty()) continue;
      ++impossible_cells;
      fmt::print("{} of {}: {}\n", name_of(fault), name_of(operation), reason);
    }
  }
  const std::vector<Cell> cells = all_cells();
  std::size_t pairs = 0;
  for (const Cell& cell : cells) {
    if (cell.transport == std::string_view("shm") && cell.odd == odd_ranks(cell.operation).front()) ++pairs;
  }
  EXPECT_EQ(pairs + impossible_cells, kOperations.size() * kFaults.size());
  EXPECT_EQ(impossible_cells, 21U);
  fmt::print("{} cells of {} pairs of operation and fault; {} pairs do not exist\n", cells.size(), pairs,
             impossible_cells);
}

/// Before any collective: ranks that believe in different numbers of ranks do not come together.
class FaultSize : public testing::TestWithParam<const char*> {};

TEST_P(FaultSize, AtTheMeetingIsNamed) {
  const std::vector<RankEnd> ends = run_forked(kRanks, [&](std::uint32_t rank) -> std::string {
    ::setenv("HOCKET_SIZE", rank == 1 ? "4" : "3", 1);        // NOLINT(concurrency-mt-unsafe): one thread
    ::setenv("HOCKET_LOCAL_SIZE", rank == 1 ? "4" : "3", 1);  // NOLINT(concurrency-mt-unsafe): one thread
    CommunicatorOptions options;
    options.timeout = seconds(20);
    options.transport = GetParam();
    auto comm = Communicator::create(options);
    SAY_ERROR(comm);
    return "SUCCESS";
  });
  for (const RankEnd& end : ends) {
    EXPECT_EQ(end.said.find("SUCCESS"), std::string::npos) << end.said;
    EXPECT_TRUE(says(end.said, "rank 1")) << end.said;
    EXPECT_TRUE(says(end.said, "3") && says(end.said, "4")) << end.said;
  }
}

INSTANTIATE_TEST_SUITE_P(Over, FaultSize, testing::Values("shm", "tcp"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace hocket
