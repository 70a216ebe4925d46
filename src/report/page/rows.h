// Rows of a timeline: per link the bars that the page shows. Segments of one transfer that touch are one bar; where
// that would leave more than kBarsMax bars, transfers of one kind that take turns on a link are joined too, in
// the end across short pauses, up to a length that keeps the rows telling. Rows that still do not fit are left out
// whole, the links in use the shortest first; `note` says all of this. Ownership: a value. Threading: pure function.
// Refuses: nothing.
#pragma once

#include <string>
#include <vector>

#include "simulator/simulator.h"

namespace hocket {

inline constexpr std::size_t kBarsMax = 20000;

struct Bar {
  Picos begin;
  Picos end;
  OpId op = 0;               // the first transfer
  std::uint32_t others = 0;  // further transfers that take turns with it
};

struct Rows {
  std::vector<LinkId> links;  // ascending
  std::vector<std::vector<Bar>> bars;
  std::string note;  // what was joined or left out; may be empty
};

/// True when what the send brings is added up on arrival.
[[nodiscard]] bool adds_up(const Schedule& schedule, OpId send);

[[nodiscard]] Rows choose_rows(const Schedule& schedule, const SimulationResult& result);

}  // namespace hocket
