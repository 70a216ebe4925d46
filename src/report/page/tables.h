// The tables of the page: plans beside the bound, and links in numbers. Sortable by the page's script; every cell that
// sorts by number carries it in data-value, in the unit of the column's head.
// Ownership: returns HTML. Threading: pure functions. Refuses: nothing; the table of links keeps the kLinkRowsMax links
// held longest and says how many it left out.
#pragma once

#include <string>

#include "report/page.h"

namespace hocket {

inline constexpr std::size_t kLinkRowsMax = 500;

[[nodiscard]] std::string write_plan_table(const PageEntry& entry);
[[nodiscard]] std::string write_link_table(const PageEntry& entry);

}  // namespace hocket
