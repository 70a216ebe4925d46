// Whether a workload fits the memory of an npu of a platform, in words and as JSON: what the step needs, part by part,
// beside what the npu with the least has. Where the workload or the platform does not say, the answer is neither yes
// nor no. Ownership: returns values. Threading: pure functions. Refuses: nothing; what is not known is said to be so.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "platform/memory_capacity.h"
#include "workload/workload.h"

namespace hocket {

/// Nothing where the workload or the platform does not say.
[[nodiscard]] std::optional<bool> fits(const WorkMemory* memory, const std::optional<MemoryCapacity>& capacity);

/// "memory per npu: 21.9 of 40 GB: parameters 2.6, gradients 5.2, optimizer 15.7, activations 6.4 GB", or that it does
/// not fit, or what is not known.
[[nodiscard]] std::string memory_line(const WorkMemory* memory, const std::string& platform,
                                      const std::optional<MemoryCapacity>& capacity);

[[nodiscard]] nlohmann::ordered_json memory_json(const WorkMemory* memory,
                                                 const std::optional<MemoryCapacity>& capacity);

}  // namespace hocket
