#include "transport/bounce_copy.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hocket {
namespace {

/// What one copy counts for in the smoothed time.
constexpr double kWeight = 1.0 / 8;
/// One copy counts as this many times what was known at most: it may have been interrupted.
constexpr double kOutlier = 4;

std::size_t index_of(BounceWay::Way way) { return static_cast<std::size_t>(way); }

/// Returns the bytes written: whole lines.
std::size_t copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t kLine = 64;
  const std::size_t lines = bytes / kLine * kLine;
  for (std::size_t i = 0; i < lines; i += sizeof(__m128i)) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), v);
  }
  _mm_sfence();
  return lines;
#else
  static_cast<void>(to);
  static_cast<void>(from);
  static_cast<void>(bytes);
  return 0;
#endif
}

}  // namespace

BounceWay::Way BounceWay::better() const {
  const auto& [cached, past] = ns_per_byte_;
  return past > 0 && cached > kFarApart * past ? Way::kPast : Way::kCached;
}

BounceWay::Next BounceWay::next() {
  const std::uint32_t copy = copies_++;
  const bool trial = copy % kTrialEvery == 1;
  const bool past = (better() == Way::kPast) != trial;
  return {past ? Way::kPast : Way::kCached, trial || copy % kTimedEvery == 0};
}

void BounceWay::took(Way way, std::size_t bytes, std::chrono::nanoseconds time) {
  const double each = static_cast<double>(time.count()) / static_cast<double>(std::max<std::size_t>(bytes, 1));
  double& known = ns_per_byte_[index_of(way)];
  known = known == 0 ? each : known + kWeight * (std::min(each, kOutlier * known) - known);
}

void BounceCopy::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  using std::chrono::steady_clock;
  const auto [way, timed] = way_.next();
  const steady_clock::time_point begin = timed ? steady_clock::now() : steady_clock::time_point();
  const std::size_t done = way == BounceWay::Way::kPast ? copy_past_caches(to, from, bytes) : 0;
  std::memcpy(to + done, from + done, bytes - done);
  if (timed) way_.took(way, bytes, steady_clock::now() - begin);
}

}  // namespace hocket
