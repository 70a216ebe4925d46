#include "engine/reduce_table.h"

#if defined(__x86_64__)
#include "engine/reduce_wide.h"
#endif

namespace hocket {

const KernelTable* avx2_kernels() {
#if defined(__x86_64__)
  static const KernelTable kTable = wide_table();
  return &kTable;
#else
  return nullptr;
#endif
}

}  // namespace hocket
