// Logs of nccl-tests from any bytes: refused with one line, or ranks and times that can be fitted.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "exchange/nccl_log.h"
#include "support/file_kind_examination.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto log = hocket::read_nccl_log({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!log) {
    HOCKET_ASSERT(log.error().text.find('\n') == std::string::npos, "an error of more than one line");
    return 0;
  }
  HOCKET_ASSERT(log->ranks >= 2 && !log->times.empty(), "a log without ranks or times");
  for (const hocket::MeasuredTime& t : log->times)
    HOCKET_ASSERT(t.size.count > 0 && t.time.value > 0 && std::isfinite(t.time.value), "a time that is none");
  hocket::check_examination("nccl-tests-log", bytes, size);
  return 0;
}
