#include "report/table.h"

#include <algorithm>
#include <cctype>

#include "base/assert.h"
#include "base/printable.h"

namespace hocket {
namespace {

constexpr std::size_t kGap = 2;

bool starts_as_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || cell[0] == '-');
}

std::size_t longest_word(const std::string& cell) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < cell.size();) {
    const std::size_t end = std::min(cell.find(' ', begin), cell.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

/// The cell in lines of at most `width`, cut at blanks; a longer word stays whole.
std::vector<std::string> wrapped(const std::string& cell, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (cell.size() - begin > width) {
    std::size_t blank = cell.rfind(' ', begin + width);
    if (blank == std::string::npos || blank <= begin) blank = cell.find(' ', begin);
    if (blank == std::string::npos) break;
    lines.push_back(cell.substr(begin, blank - begin));
    begin = blank + 1;
  }
  lines.push_back(cell.substr(begin));
  return lines;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  HOCKET_ASSERT(row.size() == rows_.front().size(), "row and head differ");
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

Table::Column Table::column(std::size_t index) const {
  Column out;
  out.right = rows_.size() > 1;
  std::size_t widest_body = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const std::string& cell = rows_[r][index];
    out.width = std::max(out.width, cell.size());
    out.least = std::max(out.least, longest_word(cell));
    if (r == 0) continue;
    widest_body = std::max(widest_body, cell.size());
    if (!starts_as_number(cell) && !cell.empty()) out.right = false;
  }
  if (out.right) out.least = std::max(out.least, widest_body);
  return out;
}

std::vector<Table::Column> Table::columns() const {
  std::vector<Column> out;
  std::size_t total = 0;
  for (std::size_t c = 0; c < rows_.front().size(); ++c) {
    out.push_back(column(c));
    total += (c == 0 ? 0 : kGap) + out.back().width;
  }
  for (const bool numbers : {true, false}) {
    while (total > kTableWidth) {
      Column* widest = nullptr;
      for (Column& c : out) {
        if (c.right == numbers && c.width > c.least && (widest == nullptr || c.width > widest->width)) widest = &c;
      }
      if (widest == nullptr) break;
      --widest->width;
      --total;
    }
  }
  return out;
}

std::string Table::text() const {
  const std::vector<Column> columns = this->columns();
  std::string text;
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      cells.push_back(wrapped(row[c], columns[c].width));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::string cell = l < cells[c].size() ? cells[c][l] : "";
        const std::string blanks(columns[c].width - std::min(columns[c].width, cell.size()), ' ');
        line += (c == 0 ? "" : std::string(kGap, ' ')) + (columns[c].right ? blanks + cell : cell + blanks);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
  }
  return text;
}

}  // namespace hocket
