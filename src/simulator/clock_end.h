// How far simulated time goes: beyond kClockEnd an error says what ran over, never a wrap. What holds one link for
// kStepMax or longer is refused, so that a sum of the two does not overflow before it is compared.
// Ownership: constants. Threading: none. Refuses: nothing of its own.
#pragma once

#include "base/units.h"

namespace hocket {

inline constexpr Picos kClockEnd{std::int64_t{1} << 62};  // 53 days
inline constexpr Picos kStepMax{std::int64_t{1} << 60};   // 13 days

/// "simulated time ends at 2^62 ps (4.612e+06 s)", for messages.
[[nodiscard]] inline std::string clock_end_text() {
  return fmt::format("simulated time ends at 2^62 ps ({:.4g} s)", to_seconds(kClockEnd).value);
}

}  // namespace hocket
