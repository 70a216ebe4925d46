// Table: rows of text set in columns for a terminal, numbers to the right, everything else to the left.
// Ownership: a value that owns its cells. Threading: one owner.
// Refuses: rows with another number of cells than the head (assert).
#pragma once

#include <string>
#include <vector>

namespace hocket {

class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row);
  /// Lines ending in '\n', two spaces between columns, no trailing blanks.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hocket
