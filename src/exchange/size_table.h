// Size tables: which file or line is chosen for which sizes, as `plan --sizes`, NCCL's tuner plug-in, folders of MSCCL
// XML and of MSCCL++ plans say it; and what is wrong with them: holes between windows, windows that overlap, files that
// are never chosen. Windows of different collectives, rank counts or places (in place, out of place) do not meet.
// Ownership: plain values. Threading: pure functions, apart from reading files.
// Refuses: files of no kind that has windows, malformed ones (file, line and column), a folder without any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hocket {

struct SizeEntry {
  std::string group;  // "allreduce of 8 ranks, out of place"
  std::uint64_t from = 0;
  std::uint64_t to = 0;  // included
  std::string name;      // the algorithm
  std::string where;     // "a.xml", "tuner.csv:3"
};

struct SizeFinding {
  std::string kind;  // "hole", "overlap", "never chosen"
  std::string text;
};

struct SizeTable {
  std::vector<SizeEntry> entries;
  std::vector<SizeFinding> findings;  // those of single entries
  std::vector<std::string> left_out;  // files of a folder that have no windows
};

/// A file, or every file of a folder (not of folders in it) in the order of their names.
[[nodiscard]] Result<SizeTable> read_size_table(const std::string& path);

/// Adds the windows of a file's text; false: it is of no kind that has some.
[[nodiscard]] Result<bool> add_size_entries(std::string_view text, std::string_view file_name, SizeTable& table);

/// Holes and overlaps, group by group in the order of their names, upwards by size.
[[nodiscard]] std::vector<SizeFinding> find_gaps(std::span<const SizeEntry> entries);

/// "64KiB", "1GiB", or the plain number of bytes; "any size above" for the largest number there is.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace hocket
