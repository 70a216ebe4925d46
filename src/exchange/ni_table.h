// NiTables: a collective over trees as the schedule tables of network interfaces that sequence their messages
// themselves (MultiTree, ISCA 2021, section IV). Every rank has a list of entries, ordered by step:
//   reduce  send the sum of flow f to the parent once the children's sums have been added (no parent: flow f is whole)
//   gather  send flow f to the children once the parent's copy is there (no parent: the flow's root)
//   nop     nothing leaves in this step
// and an aggregation list: in which step which children's sums come in. A flow is a run of pieces with a tree of its
// own. Ownership: plain values. Threading: pure functions.
// Refuses: schedules that are no trees (a rank sends or receives a flow twice), that move a piece to another place,
// with local reductions or signals: named by op. Tables that do not fit together: named by rank and entry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exchange/loss.h"
#include "schedule/schedule.h"

namespace hocket {

enum class NiOpcode : std::uint8_t { kReduce, kGather, kNop };
[[nodiscard]] std::string_view name_of(NiOpcode opcode);

inline constexpr std::uint32_t kNoParent = 0xffffffffU;

struct NiFlow {
  std::uint32_t root = 0;
  std::uint32_t piece = 0;  // the first of `pieces`
  std::uint32_t pieces = 1;
  bool operator==(const NiFlow&) const = default;
};

struct NiEntry {
  NiOpcode opcode = NiOpcode::kNop;
  std::uint32_t flow = 0;            // not of a nop
  std::uint32_t parent = kNoParent;  // reduce: where the sum goes; gather: where the copy comes from
  std::uint32_t step = 0;
  std::vector<std::uint32_t> children;             // reduce: whose sums are awaited; gather: who gets the copy
  std::vector<std::vector<std::uint32_t>> routes;  // links of each message that leaves; empty: left open
  bool operator==(const NiEntry&) const = default;

  /// Messages that leave: one to the parent, or one to each child.
  [[nodiscard]] std::size_t messages() const {
    if (opcode == NiOpcode::kReduce) return parent == kNoParent ? 0 : 1;
    return opcode == NiOpcode::kGather ? children.size() : 0;
  }
};

/// Sums of `flow` that come in during `step`.
struct NiArrival {
  std::uint32_t step = 0;
  std::uint32_t flow = 0;
  std::vector<std::uint32_t> children;
  bool operator==(const NiArrival&) const = default;
};

struct NiTable {
  std::vector<NiEntry> entries;  // by step, opcode and flow
  std::vector<NiArrival> aggregation;
  bool operator==(const NiTable&) const = default;
};

struct NiTables {
  Collective collective;
  Division division;
  std::string algorithm;
  Fingerprint topology;  // what the routes refer to
  std::uint32_t steps = 0;
  std::vector<NiFlow> flows;
  std::vector<NiTable> ranks;
};

inline constexpr std::uint64_t kNiTableMax = std::uint64_t{1} << 24;  // flows x ranks

/// The tables of a schedule that was proved; `losses` gets what they cannot hold of it.
[[nodiscard]] Result<NiTables> tabulate(const Schedule& schedule, LossReport& losses);

/// Checks that the tables fit together, and makes a schedule of them; it is yet to be proved.
[[nodiscard]] Result<Schedule> schedule_of(const NiTables& tables);

/// What a flow is a run of, in elements of a vector of `count`.
struct NiRange {
  std::int64_t start = 0;
  std::int64_t size = 0;
  bool operator==(const NiRange&) const = default;
};
[[nodiscard]] NiRange elements_of(const NiTables& tables, std::uint32_t flow, std::int64_t count);

}  // namespace hocket
