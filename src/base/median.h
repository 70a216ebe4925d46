// median_of(): the middle of some measurements; of an even number the mean of the two in the middle. 0 of none.
// For repeated measurements and their errors, where single outliers shall not count.
// Ownership: values. Threading: pure function. Refuses: nothing.
#pragma once

#include <algorithm>
#include <vector>

namespace hocket {

[[nodiscard]] inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace hocket
