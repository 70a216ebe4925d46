#include "net/frame.h"

#include <cstring>

namespace hocket {
namespace {

static_assert(sizeof(std::uint64_t) == 8);
constexpr std::size_t kChecksumAt = 40;
constexpr std::uint32_t kGreets = std::uint32_t{1} << 31;  // beside the kind

template <class T>
void put(std::byte* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <class T>
T get(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(std::to_integer<std::uint64_t>(from[i]) << (8 * i)));
  }
  return value;
}

/// Each step is a bijection of the sum, and of the word.
std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
  sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
  return sum ^ sum >> 32;
}

std::uint64_t raw_word(const std::byte* from, std::size_t bytes = 8) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

/// Over everything but the checksum itself; no single flipped bit is missed. Two sums of the header are worked out side
/// by side.
std::uint64_t checksum(std::span<const std::byte> wire) {
  const std::byte* at = wire.data();
  std::uint64_t sum = mixed(mixed(wire.size(), raw_word(at)), raw_word(at + 8));
  const std::uint64_t second = mixed(raw_word(at + 16), raw_word(at + 24));
  sum = mixed(mixed(sum, second), raw_word(at + 32));
  for (std::size_t i = kFrameHeaderBytes; i < wire.size(); i += 8)
    sum = mixed(sum, raw_word(at + i, wire.size() - i < 8 ? wire.size() - i : 8));
  return sum;
}

void put_fields(const FrameHeader& header, std::byte* wire) {
  put(wire, static_cast<std::uint32_t>(header.kind) | (header.greets ? kGreets : 0));
  put(wire + 4, header.op);
  put(wire + 8, header.sequence);
  put(wire + 16, header.segment);
  put(wire + 20, header.length);
  put(wire + 24, header.fingerprint.high);
  put(wire + 32, header.fingerprint.low);
}

/// Nothing when the kind is unknown or the length above the limit.
std::optional<FrameHeader> get_fields(const std::byte* wire) {
  FrameHeader header;
  const auto word = get<std::uint32_t>(wire);
  const std::uint32_t kind = word & ~kGreets;
  if (kind >= kFrameKinds) return std::nullopt;
  header.greets = (word & kGreets) != 0;
  header.kind = static_cast<FrameKind>(kind);
  header.op = get<std::uint32_t>(wire + 4);
  header.sequence = get<std::uint64_t>(wire + 8);
  header.segment = get<std::uint32_t>(wire + 16);
  header.length = get<std::uint32_t>(wire + 20);
  header.fingerprint = {get<std::uint64_t>(wire + 24), get<std::uint64_t>(wire + 32)};
  if (header.length > kFrameLengthMax) return std::nullopt;
  return header;
}

}  // namespace

std::vector<std::byte> encode(FrameHeader header, std::span<const std::byte> bytes) {
  std::vector<std::byte> wire(kFrameHeaderBytes + bytes.size());
  header.length = static_cast<std::uint32_t>(bytes.size());
  put_fields(header, wire.data());
  if (!bytes.empty()) std::memcpy(&wire[kFrameHeaderBytes], bytes.data(), bytes.size());
  put(&wire[kChecksumAt], checksum(wire));
  return wire;
}

std::optional<Frame> decode(std::span<const std::byte> wire) {
  if (wire.size() < kFrameHeaderBytes || wire.size() > kFrameHeaderBytes + kFrameLengthMax) return std::nullopt;
  if (get<std::uint64_t>(&wire[kChecksumAt]) != checksum(wire)) return std::nullopt;
  const std::optional<FrameHeader> header = get_fields(wire.data());
  if (!header || header->length != wire.size() - kFrameHeaderBytes) return std::nullopt;
  return Frame{*header, wire.subspan(kFrameHeaderBytes)};
}

void encode_header(const FrameHeader& header, HeaderBytes wire) {
  put_fields(header, wire.data());
  put(&wire[kChecksumAt], checksum(wire));
}

std::optional<FrameHeader> decode_header(ConstHeaderBytes wire) {
  if (get<std::uint64_t>(&wire[kChecksumAt]) != checksum(wire)) return std::nullopt;
  return get_fields(wire.data());
}

}  // namespace hocket
