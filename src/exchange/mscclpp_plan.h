// MscclppPlan: what an MSCCL++ plan file says, checked for form but not for sense: operations, channels, buffers.
// References are resolved: a place in another GPU's buffer carries that GPU, a channel the GPU at its other end and
// which of the channels between the two it is. Ownership: plain values. Threading: pure functions.
// Refuses: malformed JSON, missing or wrong members (by gpu, threadblock and op), protocols with packets, operations
// that read other GPUs' memory or use switches, more than kMscclppFileOpsMax operations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"

namespace hocket {

inline constexpr std::size_t kMscclppFileOpsMax = std::size_t{1} << 20;

struct MscclppPlan {
  static constexpr std::uint32_t kHere = 0xffffffffU;

  struct Chunk {
    std::uint32_t gpu = kHere;  // whose buffer; kHere: the GPU's own
    PieceRange range;           // in the file's own indices
  };
  struct Channel {
    std::uint32_t peer = 0;
    std::uint16_t number = 0;  // the same at both ends
  };
  enum class Kind : std::uint8_t { kNop, kCopy, kReduce, kPut, kSignal, kWait, kAcquire, kRelease, kBarrier };
  struct Operation {
    Kind kind = Kind::kNop;
    bool signals = false;  // a put that signals (pws, pwsf); a reduction that puts (res) has kReduce and remote targets
    std::vector<Chunk> sources, targets;
    std::vector<Channel> channels;
    std::vector<std::uint32_t> semaphores;  // of kBarrier: its id
    std::uint32_t blocks = 0;               // of kBarrier
    std::string place;                      // "gpu 0 threadblock 1 op 3"
  };
  struct Gpu {
    std::uint32_t inputs = 0, outputs = 0, scratch = 0;
    std::vector<std::vector<Operation>> blocks;
  };
  std::string name;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool in_place = false;
  std::vector<Gpu> gpus;
};

[[nodiscard]] Result<MscclppPlan> parse_mscclpp_plan(std::string_view text, std::string_view file_name);

}  // namespace hocket
