#include "engine/reduce_table.h"

#if defined(__x86_64__)
#define HOCKET_WIDE_BYTES 64
#define HOCKET_WIDE_TARGET "avx512f,avx512bw,avx512dq,avx512vl"
#include "engine/reduce_wide.h"
#endif

namespace hocket {

const KernelTable* avx512_kernels() {
#if defined(__x86_64__)
  static const KernelTable kTable = wide_table();
  return &kTable;
#else
  return nullptr;
#endif
}

}  // namespace hocket
