// Frame: what one rank sends another when memory is not shared: a header of fixed size, then bytes.
// Every frame carries the sender's fingerprint of the call, so that ranks that disagree find out with the first one.
// Sealed frames (datagrams, tests) have a checksum over everything; on a byte stream it covers the header, which says
// how many bytes follow. Little-endian. Ownership: decode() points into the bytes given.
// Threading: pure functions. Refuses: bytes that are too short, too long, of unknown kind or that fail the checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"

namespace hocket {

enum class FrameKind : std::uint32_t { kHello, kSegment, kConsumed, kAbort, kPing, kReceipt, kBye, kLent, kBounced };
inline constexpr std::uint32_t kFrameKinds = 9;

struct FrameHeader {
  FrameKind kind = FrameKind::kHello;
  std::uint32_t op = 0;        // receiver's op; error code of an abort
  std::uint64_t sequence = 0;  // datagrams: per connection and direction; streams: number of the call
  std::uint32_t segment = 0;
  std::uint32_t length = 0;  // bytes that follow
  Fingerprint fingerprint;
  bool greets = false;  // on a stream, the first frame of a call: a hello like the one before, of the next number
};

inline constexpr std::size_t kFrameHeaderBytes = 48;
inline constexpr std::size_t kFrameLengthMax = std::size_t{1} << 30;

struct Frame {
  FrameHeader header;
  std::span<const std::byte> bytes;
};

/// A sealed frame.
[[nodiscard]] std::vector<std::byte> encode(FrameHeader header, std::span<const std::byte> bytes);
/// Nothing when the bytes are not exactly one good sealed frame.
[[nodiscard]] std::optional<Frame> decode(std::span<const std::byte> wire);

using HeaderBytes = std::span<std::byte, kFrameHeaderBytes>;
using ConstHeaderBytes = std::span<const std::byte, kFrameHeaderBytes>;

/// The header of a frame on a stream; `header.length` bytes follow it.
void encode_header(const FrameHeader& header, HeaderBytes wire);
[[nodiscard]] std::optional<FrameHeader> decode_header(ConstHeaderBytes wire);

}  // namespace hocket
