// premultiply(): target = source * scale, element by element, as a pre-multiplied sum needs it before its collective.
// f16 and bf16 multiply in f32 and round to nearest even; integers multiply modulo 2^bits.
// Threading: pure function. Refuses: nothing; source and target are equal or apart, any alignment.
#pragma once

#include <cstddef>

#include "hocket/communicator.h"

namespace hocket {

void premultiply(DataType type, const Reduction& by, const std::byte* source, std::byte* target, std::int64_t count);

}  // namespace hocket
