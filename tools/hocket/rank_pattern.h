// RankPattern: inputs whose right results are known without a serial run over all ranks: element i of rank r depends on
// r and on i modulo a prime, so one period of every result tells all of it. Values are so small that every result is
// exact in the type (avg apart, which is computed as the engine defines it).
// Ownership: tables of one period. Threading: immutable after construction. Refuses: nothing; counts are the plan's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/rank_run.h"
#include "engine/reference.h"
#include "transport/rank_transport.h"
#include "transport/shared_memory.h"

namespace hocket {

class RankPattern {
 public:
  RankPattern(const BoundCollective& what, std::uint32_t rank, std::uint64_t seed);

  /// What this rank supplies.
  void fill_input(std::span<std::byte> bytes) const;
  /// Elements of `output` that are not what this rank must receive.
  [[nodiscard]] std::uint64_t count_wrong(std::span<const std::byte> output) const;

 private:
  /// One run of a result: `count` elements of a table from `phase` on.
  struct Part {
    const RankBytes* table;
    std::int64_t phase;
    std::int64_t count;
  };
  [[nodiscard]] RankBytes inputs_of(std::uint32_t rank, std::uint64_t seed) const;
  [[nodiscard]] std::vector<Part> expected() const;

  BoundCollective what_;
  std::uint32_t rank_;
  std::size_t element_;
  std::vector<RankBytes> inputs_;  // one period of every rank that this one hears of
  RankBytes reduced_;
};

/// Memory of one rank for a plan: input and output, apart or in one place as nccl-tests has it. With a transport it is
/// memory that other ranks may map, registered there.
class RankArena {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RankArena>> make(const BoundCollective& what, std::uint32_t rank,
                                                               bool in_place, RankTransport* registers = nullptr);
  ~RankArena();
  RankArena(const RankArena&) = delete;
  RankArena& operator=(const RankArena&) = delete;

  [[nodiscard]] RankBuffers buffers() { return {input().data(), output().data()}; }
  [[nodiscard]] std::span<std::byte> input() { return std::span(in_place_ ? second_ : first_).subspan(at_, in_); }
  [[nodiscard]] std::span<std::byte> output() { return std::span(second_).subspan(out_at_, out_); }

 private:
  RankArena(const BoundCollective& what, std::uint32_t rank, bool in_place);
  [[nodiscard]] Result<std::span<std::byte>> room(std::size_t bytes, RankBytes& own, RankTransport* registers);

  bool in_place_;
  std::size_t at_ = 0;
  std::size_t in_;
  std::size_t out_at_ = 0;
  std::size_t out_;
  RankBytes first_own_, second_own_;
  std::vector<SharedMemory> shared_;
  RankTransport* registered_ = nullptr;
  std::span<std::byte> first_, second_;
};

}  // namespace hocket
