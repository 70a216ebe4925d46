#include "engine/reduce.h"

#include "base/assert.h"
#include "engine/reduce_table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hocket {
namespace {

const KernelTable& table_of(KernelPath path) {
  const KernelTable* table = path == KernelPath::kAvx512 ? avx512_kernels()
                             : path == KernelPath::kAvx2 ? avx2_kernels()
                                                         : portable_kernels();
  HOCKET_ASSERT(table != nullptr, "kernel path not compiled in");
  return *table;
}

#if defined(__x86_64__)
/// Not among the names that every compiler's __builtin_cpu_supports knows.
bool has_half_conversion() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kF16cBit = 1U << 29;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kF16cBit) != 0;
}
#endif

}  // namespace

bool is_supported(KernelPath path) {
  if (path == KernelPath::kPortable) return true;
#if defined(__x86_64__)
  if (path == KernelPath::kAvx2) return __builtin_cpu_supports("avx2") != 0 && has_half_conversion();
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

std::string_view name_of(KernelPath path) {
  return path == KernelPath::kAvx512 ? "avx512" : path == KernelPath::kAvx2 ? "avx2" : "portable";
}

KernelPath best_kernel_path() {
  static const KernelPath kBest = is_supported(KernelPath::kAvx512) ? KernelPath::kAvx512
                                  : is_supported(KernelPath::kAvx2) ? KernelPath::kAvx2
                                                                    : KernelPath::kPortable;
  return kBest;
}

CombineKernel combine_kernel(DataType type, ReduceOp op, KernelPath path) {
  const ReduceOp plain = op == ReduceOp::kAvg ? ReduceOp::kSum : op;
  return table_of(path).combine[static_cast<std::size_t>(type)][static_cast<std::size_t>(plain)];
}

ScaleKernel scale_kernel(DataType type, KernelPath path) {
  return table_of(path).scale[static_cast<std::size_t>(type)];
}

CopyKernel copy_kernel(KernelPath path) { return table_of(path).copy; }

}  // namespace hocket
