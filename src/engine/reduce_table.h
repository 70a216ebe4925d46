// KernelTable: the kernels of one instruction set, one file each (reduce_portable, reduce_avx2, reduce_avx512).
// Ownership: constants. Threading: immutable.
// Refuses: nothing; a set that was not compiled in (another architecture) returns nullptr.
#pragma once

#include <array>

#include "engine/reduce.h"

namespace hocket {

struct KernelTable {
  /// [type][op], op one of sum, prod, min, max.
  std::array<std::array<CombineKernel, 4>, kDataTypes> combine;
  std::array<ScaleKernel, kDataTypes> scale;
  CopyKernel copy;
};

[[nodiscard]] const KernelTable* portable_kernels();
[[nodiscard]] const KernelTable* avx2_kernels();
[[nodiscard]] const KernelTable* avx512_kernels();

}  // namespace hocket
