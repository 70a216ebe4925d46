// Frame: what one rank sends another when memory is not shared: a header of fixed size, then bytes.
// Every frame carries the sender's plan fingerprint, so that ranks that disagree find out with the first one, and a
// checksum over everything else. Little-endian. Ownership: decode() points into the bytes given.
// Threading: pure functions. Refuses: bytes that are too short, too long, of unknown kind or that fail the checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"

namespace hocket {

enum class FrameKind : std::uint32_t { kHello, kSegment, kConsumed, kAbort, kPing, kReceipt };
inline constexpr std::uint32_t kFrameKinds = 6;

struct FrameHeader {
  FrameKind kind = FrameKind::kHello;
  std::uint32_t op = 0;        // receiver's op; error code of an abort
  std::uint64_t sequence = 0;  // per connection and direction; of a receipt: the next one expected
  std::uint32_t segment = 0;
  std::uint32_t length = 0;  // bytes that follow
  Fingerprint fingerprint;
};

inline constexpr std::size_t kFrameHeaderBytes = 48;
inline constexpr std::size_t kFrameLengthMax = std::size_t{1} << 30;

struct Frame {
  FrameHeader header;
  std::span<const std::byte> bytes;
};

[[nodiscard]] std::vector<std::byte> encode(FrameHeader header, std::span<const std::byte> bytes);
/// Nothing when the bytes are not exactly one good frame.
[[nodiscard]] std::optional<Frame> decode(std::span<const std::byte> wire);

}  // namespace hocket
