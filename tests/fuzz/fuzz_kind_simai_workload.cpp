// Text workloads from any bytes: examined or refused with a message, and never different after being written and read
// again.
#include "support/file_kind_examination.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hocket::check_examination("simai-workload", bytes, size);
  return 0;
}
