// The MSCCL XML schedule format in our words: what reader and writer share, and the text position of a parse error.
// One thread block is a sequential program with at most one send and one receive peer; a connection is (sender,
// receiver, channel). Ownership: plain values. Threading: pure functions.
// Refuses: what msccl_read.cpp and msccl_write.cpp name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exchange/loss.h"
#include "schedule/schedule.h"

namespace hocket {

inline constexpr std::uint32_t kMscclChannelsMax = 32;
inline constexpr std::size_t kMscclBlocksMax = 108;      // of a GPU: one a multiprocessor of an A100
inline constexpr const char* kMscclOrder = "hocket_op";  // attribute of a step: the op's number in its rank's program
inline constexpr std::size_t kMscclStepsMax = 256;       // of a thread block

[[nodiscard]] bool is_msccl_xml(std::string_view text);
/// A well-formed file that states something wrong (a connection shared by two thread blocks, two ends that name
/// different places) is Code::kDisproved with gpu, tb and step; a malformed one kMalformed with line and column.
[[nodiscard]] Result<Schedule> read_msccl_xml(std::string_view text, std::string_view file_name);
[[nodiscard]] Result<std::string> write_msccl_xml(const Schedule& schedule);
[[nodiscard]] LossReport write_losses_of_msccl(const Schedule& schedule);

}  // namespace hocket
