// Reduction kernels: target = a (op) b, target /= divisor, and a copy that may bypass the caches.
// target may be a or b exactly (no other overlap); any alignment, any length. Integers wrap; avg combines like sum and
// scale() divides at the end (integers truncate toward zero). f16 and bf16 go through f32 and round to nearest even.
// Floats: every NaN result is the one quiet NaN with sign 0 and empty payload; min and max return it when either
// operand is a NaN and take -0 below +0, so that they do not depend on the order. All paths give the same bits.
// Threading: pure functions. With Stores::kStreaming a kernel ends with the store barrier that its stores need.
// Refuses: nothing; a path that the processor lacks must not be asked for (see is_supported).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "schedule/collective.h"

namespace hocket {

/// Instruction sets a kernel exists for.
enum class KernelPath : std::uint8_t { kPortable, kAvx2, kAvx512 };
inline constexpr int kKernelPaths = 3;

/// How the target is written: kStreaming bypasses the caches, which pays when nobody reads the target soon.
enum class Stores : std::uint8_t { kCached, kStreaming };

using CombineKernel = void (*)(void* target, const void* a, const void* b, std::size_t count, Stores stores);
using ScaleKernel = void (*)(void* target, std::size_t count, std::uint32_t divisor);
using CopyKernel = void (*)(void* target, const void* source, std::size_t bytes, Stores stores);

[[nodiscard]] std::string_view name_of(KernelPath path);  // "avx2"
[[nodiscard]] bool is_supported(KernelPath path);
/// The widest path this processor has.
[[nodiscard]] KernelPath best_kernel_path();

[[nodiscard]] CombineKernel combine_kernel(DataType type, ReduceOp op, KernelPath path = best_kernel_path());
[[nodiscard]] ScaleKernel scale_kernel(DataType type, KernelPath path = best_kernel_path());
[[nodiscard]] CopyKernel copy_kernel(KernelPath path = best_kernel_path());

}  // namespace hocket
