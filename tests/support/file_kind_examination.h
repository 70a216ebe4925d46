// The property every file kind keeps: any bytes are examined or refused with a message that says something, and a file
// that can be written does not differ when read again. Used by the fuzz targets and by tests; aborts when it does not
// hold. Threading: pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "exchange/file_kind.h"

namespace hocket {

inline void check_examination(std::string_view kind_name, const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const FileKind* kind : file_kinds()) {
    if (kind->name != kind_name) continue;
    (void)kind->recognise(text);
    const auto result = kind->examine(text, "input");
    HOCKET_ASSERT(result.has_value() || !result.error().text.empty(), "an error says something");
    if (result) HOCKET_ASSERT(result->round_trip != RoundTrip::kDiffers, "what was written reads back the same");
    return;
  }
  HOCKET_ASSERT(false, "kind exists");
}

}  // namespace hocket
