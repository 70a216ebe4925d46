// What the page says in plain words: what was asked, which plan wins, how much faster than the ring, how far from the
// bound, what limits it, and what the words mean. Written for a reader who has never heard of collectives.
// Ownership: returns HTML. Threading: pure functions. Refuses: nothing.
#pragma once

#include <string>

#include "report/page.h"

namespace hocket {

/// Sentences and key figures of one topology.
[[nodiscard]] std::string write_summary(const PageEntry& entry);

/// Bars of the time of every plan, with the bound as a line.
[[nodiscard]] std::string draw_times(const PageEntry& entry);

/// One row per topology; empty for a single one.
[[nodiscard]] std::string write_overview(const std::vector<PageEntry>& entries);

/// What the words on the page mean.
[[nodiscard]] std::string write_words();

}  // namespace hocket
