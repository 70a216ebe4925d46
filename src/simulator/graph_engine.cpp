// A chunk's way through an ace engine: loaded from memory into the first partition, taken through each phase by one of
// its state machines, kept in the terminal partition until it is stored. One load and one store at a time.
#include "simulator/graph_run.h"

namespace hocket {

bool GraphRun::move_engine(std::uint32_t r) {
  bool moved = move_loads(r);
  const auto partitions = ranks_[r].engine->terminal() + 1;
  for (std::uint32_t p = partitions; p-- > 0;) moved = move_phase(r, p) || moved;
  return moved;
}

/// Chunks that wait for room in a partition, then those that wait for a machine of its phase.
bool GraphRun::move_phase(std::uint32_t r, std::uint32_t partition) {
  Rank& rank = ranks_[r];
  EngineMemory& memory = *rank.engine;
  bool moved = false;
  while (const std::optional<Seq> seq = memory.next(partition)) {
    ChunkRun& run = rank.runs.at(*seq);
    const bool last = partition == memory.terminal();
    const std::int64_t bytes = last ? run.shape->output : run.shape->held[partition - memory.first(run.algorithm)];
    if (!memory.has_room(partition, bytes)) break;
    memory.enter(partition, bytes);
    memory.give(memory.first(run.algorithm) + run.phase, run.shape->held[run.phase]);
    if (last) {
      rank.to_store.push_back(*seq);
    } else {
      run.phase = partition - memory.first(run.algorithm);
      rank.machine_line[partition].push_back(*seq);
    }
    moved = true;
  }
  if (partition == memory.terminal()) return moved;
  std::deque<Seq>& machines = rank.machine_line[partition];
  while (!machines.empty() && memory.has_machine(partition)) {
    const Seq seq = machines.front();
    machines.pop_front();
    memory.take_machine(partition);
    start_phase(r, seq);
    moved = true;
  }
  return moved;
}

bool GraphRun::move_loads(std::uint32_t r) {
  Rank& rank = ranks_[r];
  const bool is_static = engine_.split == BudgetSplit::kStatic;
  bool moved = false;
  if (!rank.loading && !rank.to_load.empty()) {
    const Seq seq = rank.to_load.front();
    const auto bytes = static_cast<double>(flows_[seq].shape->input);
    rank.to_load.pop_front();
    rank.loading = true;
    rank.result.step.memory_bytes_read += bytes;
    const std::array demands{PoolDemand{kPoolMemory, is_static ? 0 : bytes}, PoolDemand{kPoolBudget, bytes},
                             PoolDemand{kPoolBusOut, bytes}};
    begin_work(r, {PendingWork::What::kLoad, {seq, 0, 0, 0}}, demands);
    moved = true;
  }
  if (!rank.storing && !rank.to_store.empty()) {
    const Seq seq = rank.to_store.front();
    const auto bytes = static_cast<double>(flows_[seq].shape->output);
    const double charged = engine_.charge == MemoryCharge::kTraffic ? bytes : 0;
    rank.to_store.pop_front();
    rank.storing = true;
    rank.result.step.memory_bytes_written += bytes;
    const std::array demands{PoolDemand{kPoolMemory, is_static ? 0 : charged}, PoolDemand{kPoolBudget, charged},
                             PoolDemand{kPoolBusIn, bytes}};
    begin_work(r, {PendingWork::What::kStore, {seq, 0, 0, 0}}, demands);
    moved = true;
  }
  return moved;
}

void GraphRun::loaded(std::uint32_t r, Seq seq) {
  Rank& rank = ranks_[r];
  rank.loading = false;
  rank.machine_line[rank.engine->first(rank.runs.at(seq).algorithm)].push_back(seq);
}

void GraphRun::stored(std::uint32_t r, Seq seq) {
  Rank& rank = ranks_[r];
  rank.storing = false;
  rank.engine->give(rank.engine->terminal(), flows_[seq].shape->output);
  rank.engine->end(rank.runs.at(seq).algorithm);
  end_chunk(r, seq);
}

void GraphRun::leave_phase(std::uint32_t r, Seq seq) {
  Rank& rank = ranks_[r];
  ChunkRun& run = rank.runs.at(seq);
  run.running = false;
  const std::uint32_t partition = rank.engine->first(run.algorithm) + run.phase;
  rank.engine->give_machine(partition);
  const bool last = run.phase + 1 == run.shape->held.size();
  rank.engine->wait_for_room(seq, last ? rank.engine->terminal() : partition + 1);
}

}  // namespace hocket
