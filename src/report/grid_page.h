// The page about a sweep: one self-contained HTML file with a plot of one figure over one key that varies (a line per
// combination of the others) and the table of all points. No script, no network, light and dark; every mark has its
// figures as a title. Ownership: returns text. Threading: pure function, the same bytes every time.
// Refuses: nothing; above kPlotLinesMax lines it draws the first ones and says how many were left out. Points without
// figures stand in the table with their error.
#pragma once

#include <string>
#include <vector>

namespace hocket {

inline constexpr std::size_t kPlotLinesMax = 28;

struct GridRow {
  std::vector<std::string> at;  // a value per key
  std::vector<double> figures;  // one per column; empty when refused
  std::string error;
  std::string fits;  // "yes", "no", or nothing where it is not known
};

struct PageGrid {
  std::string title;
  std::string description;
  std::vector<std::string> keys;     // what varies
  std::vector<std::string> columns;  // step_metrics() names
  std::vector<GridRow> rows;
  std::size_t x = 0;                   // of keys
  std::vector<std::size_t> line_keys;  // of keys: what tells lines apart
  std::size_t y = 0;                   // of columns
};

[[nodiscard]] std::string make_grid_page(const PageGrid& grid);

/// The next of 1, 2, 2.5, 5 times a power of ten that is not below `least`; 1 for what is not above zero.
[[nodiscard]] double round_step(double least);

}  // namespace hocket
