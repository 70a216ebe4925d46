#include "studies/study.h"

#include <cmath>

namespace hocket {
namespace {

constexpr double kTenPercent = 0.10;
constexpr double kRounding = 1e-9;  // of a double

}  // namespace

std::string_view name_of(Band band) {
  switch (band) {
    case Band::kTenPercent:
      return "10 %";
    case Band::kExact:
      return "exact";
    case Band::kAtMost:
      return "at most";
    case Band::kAtLeast:
      return "at least";
    case Band::kNone:
      return "none";
  }
  return "?";
}

std::optional<double> StudyRow::deviation() const {
  if (!published || !ours || *published == 0) return {};
  return *ours / *published - 1;
}

std::optional<bool> StudyRow::pass() const {
  const std::optional<double> off = deviation();
  if (!off || band == Band::kNone) return {};
  if (band == Band::kAtMost) return *off <= kRounding;
  if (band == Band::kAtLeast) return *off >= -kRounding;
  return std::fabs(*off) <= (band == Band::kExact ? kRounding : kTenPercent);
}

}  // namespace hocket
