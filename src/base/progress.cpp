#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hocket {
namespace {

/// Before this share is done an estimate would be a guess.
constexpr double kShareToEstimate = 0.02;

}  // namespace

std::string text_of(const Progress::State& state, std::chrono::steady_clock::time_point now, std::size_t width) {
  std::string text = state.step;
  if (state.total > 0) {
    const double share = std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
    text += fmt::format(": {:.0f} %", 100 * share);
    const double seconds = std::chrono::duration<double>(now - state.since).count();
    if (share >= kShareToEstimate) text += fmt::format(", {:.0f} s left", std::ceil(seconds * (1 - share) / share));
  }
  if (text.size() > width) text.resize(width);
  return text;
}

}  // namespace hocket
