// For the fuzz targets of schedule formats: reads, verifies small ones, writes proved ones and reads them back.
// Larger schedules than a fuzzer needs are left alone. Threading: pure function.
// Aborts when what was written does not read or is no longer proved.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "exchange/schedule_format.h"
#include "verify/verify.h"

namespace hocket {

inline void check_schedule_round_trip(std::string_view format_name, const std::uint8_t* bytes, std::size_t size) {
  constexpr std::size_t kOpsMax = 2000;
  constexpr std::uint32_t kPiecesMax = 4096;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const ScheduleFormat* format : schedule_formats()) {
    if (format->name != format_name || size > 65536) continue;
    Result<Schedule> schedule = format->read(text, "fuzz");
    if (!schedule || schedule->ops().size() > kOpsMax || schedule->division().pieces() > kPiecesMax) return;
    if (schedule->rank_count() > 64 || schedule->scratch_pieces() > kPiecesMax) return;
    const Verification first = verify(std::make_shared<const Schedule>(std::move(*schedule)));
    if (!first.proved()) return;
    const Result<std::string> written = format->write(first.verified->schedule());
    if (!written) return;
    Result<Schedule> again = format->read(*written, "again");
    if (!again || !verify(std::make_shared<const Schedule>(std::move(*again))).proved()) {
      std::fprintf(stderr, "written schedule does not hold: %s\n", again ? "not proved" : again.error().text.c_str());
      std::abort();
    }
  }
}

}  // namespace hocket
