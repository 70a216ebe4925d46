#include "report/table.h"

#include <algorithm>
#include <cctype>

#include "base/assert.h"

namespace hocket {
namespace {

bool starts_as_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || cell[0] == '-');
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  HOCKET_ASSERT(row.size() == rows_.front().size(), "row and head differ");
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> width(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      width[c] = std::max(width[c], rows_[r][c].size());
      if (r > 0 && !starts_as_number(rows_[r][c]) && !rows_[r][c].empty()) right[c] = false;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string blanks(width[c] - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (right[c] ? blanks + row[c] : row[c] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace hocket
