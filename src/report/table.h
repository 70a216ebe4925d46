// Table: rows of text set in columns for a terminal, numbers to the right, everything else to the left.
// A table wider than kTableWidth has the heads of its numbers, then its widest words wrapped at blanks into more lines.
// Ownership: a value that owns its cells. Threading: one owner.
// Refuses: rows with another number of cells than the head (assert).
#pragma once

#include <string>
#include <vector>

namespace hocket {

inline constexpr std::size_t kTableWidth = 100;

class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row);
  /// Lines ending in '\n', two spaces between columns, no trailing blanks.
  [[nodiscard]] std::string text() const;

 private:
  struct Column {
    std::size_t width = 0;
    std::size_t least = 0;  // not wrapped below this: a whole number with its unit, a word
    bool right = false;
  };
  [[nodiscard]] std::vector<Column> columns() const;
  [[nodiscard]] Column column(std::size_t index) const;

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hocket
