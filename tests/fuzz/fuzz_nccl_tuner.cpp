// NCCL tuner tables from any bytes: never a crash; what reads is written and reads back equal.
#include <cstdlib>

#include "exchange/nccl_tuner.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hocket;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (size > 65536) return 0;
  Result<std::vector<TunerLine>> lines = read_nccl_tuner(text, "fuzz");
  if (!lines) return 0;
  const Result<std::string> written = write_nccl_tuner(*lines, "fuzz");
  if (!written) std::abort();
  Result<std::vector<TunerLine>> again = read_nccl_tuner(*written, "again");
  if (!again || again->size() != lines->size()) std::abort();
  for (std::size_t i = 0; i < lines->size(); ++i) {
    (*again)[i].line = (*lines)[i].line;
    if (!((*again)[i] == (*lines)[i])) std::abort();
  }
  return 0;
}
