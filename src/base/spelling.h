// The nearest known word to one that is not known, for "did you mean" hints in errors.
// Distance: single letters inserted, removed or replaced (Levenshtein). Words beyond 32 letters count by their start.
// Threading: pure function. Refuses: hints that are farther away than a slip of the hand.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hocket {

[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

/// ", did you mean 'NAME'?" for the nearest of `known` (the first of equals), or nothing when none is near.
template <class Names>
[[nodiscard]] std::string spelling_hint(std::string_view word, const Names& known) {
  constexpr std::size_t kNear = 4;
  constexpr std::size_t kLetters = 32;
  std::string nearest;
  std::size_t best = std::min(kNear, word.size());
  for (const auto& name : known) {
    const std::size_t distance = edit_distance(word.substr(0, kLetters), name);
    if (distance >= best) continue;
    best = distance;
    nearest = name;
  }
  return nearest.empty() ? nearest : ", did you mean '" + nearest + "'?";
}

}  // namespace hocket
