#include "net/frame.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "net/word.h"

namespace hocket {
namespace {

constexpr std::uint32_t kGreets = std::uint32_t{1} << 31;  // beside the kind
constexpr std::size_t kFieldWords = 5;
constexpr std::size_t kChecksumAt = 8 * kFieldWords;
static_assert(kChecksumAt + 8 == kFrameHeaderBytes);

/// The fields of a header, as they travel in front of the checksum. Words are put together and taken apart in
/// registers: a processor that reads 8 bytes which it has just written as 4 and 4 waits.
using Fields = std::array<std::uint64_t, kFieldWords>;

std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; }
std::uint32_t low_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

/// Each step is a bijection of the sum, and of the word.
std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
  sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
  return sum ^ sum >> 32;
}

/// No single flipped bit is missed. Two sums are worked out side by side.
std::uint64_t checksum(const Fields& fields, std::span<const std::byte> bytes) {
  std::uint64_t sum = mixed(mixed(kFrameHeaderBytes + bytes.size(), fields[0]), fields[1]);
  sum = mixed(mixed(sum, mixed(fields[2], fields[3])), fields[4]);
  while (!bytes.empty()) {
    std::array<std::byte, 8> word{};
    const std::size_t here = std::min(bytes.size(), word.size());
    std::memcpy(word.data(), bytes.data(), here);
    sum = mixed(sum, word_at(word.data()));
    bytes = bytes.subspan(here);
  }
  return sum;
}

Fields fields_of(const FrameHeader& header) {
  return {pair_of(static_cast<std::uint32_t>(header.kind) | (header.greets ? kGreets : 0), header.op), header.sequence,
          pair_of(header.segment, header.length), header.fingerprint.high, header.fingerprint.low};
}

Fields fields_at(const std::byte* wire) {
  Fields fields{};
  for (std::size_t i = 0; i < kFieldWords; ++i) fields[i] = word_at(wire + 8 * i);
  return fields;
}

/// Nothing when the kind is unknown or the length above the limit.
std::optional<FrameHeader> header_of(const Fields& fields) {
  const std::uint32_t kind = low_of(fields[0]) & ~kGreets;
  const FrameHeader header{.kind = static_cast<FrameKind>(kind),
                           .op = high_of(fields[0]),
                           .sequence = fields[1],
                           .segment = low_of(fields[2]),
                           .length = high_of(fields[2]),
                           .fingerprint = {fields[3], fields[4]},
                           .greets = (low_of(fields[0]) & kGreets) != 0};
  if (kind >= kFrameKinds || header.length > kFrameLengthMax) return std::nullopt;
  return header;
}

void put_header(const FrameHeader& header, std::span<const std::byte> bytes, std::byte* wire) {
  const Fields fields = fields_of(header);
  for (std::size_t i = 0; i < kFieldWords; ++i) put_word(wire + 8 * i, fields[i]);
  put_word(wire + kChecksumAt, checksum(fields, bytes));
}

std::optional<FrameHeader> get_header(const std::byte* wire, std::span<const std::byte> bytes) {
  const Fields fields = fields_at(wire);
  if (word_at(wire + kChecksumAt) != checksum(fields, bytes)) return std::nullopt;
  return header_of(fields);
}

}  // namespace

std::vector<std::byte> encode(FrameHeader header, std::span<const std::byte> bytes) {
  std::vector<std::byte> wire(kFrameHeaderBytes + bytes.size());
  header.length = static_cast<std::uint32_t>(bytes.size());
  put_header(header, bytes, wire.data());
  if (!bytes.empty()) std::memcpy(&wire[kFrameHeaderBytes], bytes.data(), bytes.size());
  return wire;
}

std::optional<Frame> decode(std::span<const std::byte> wire) {
  if (wire.size() < kFrameHeaderBytes || wire.size() > kFrameHeaderBytes + kFrameLengthMax) return std::nullopt;
  const std::span<const std::byte> bytes = wire.subspan(kFrameHeaderBytes);
  const std::optional<FrameHeader> header = get_header(wire.data(), bytes);
  if (!header || header->length != bytes.size()) return std::nullopt;
  return Frame{*header, bytes};
}

void encode_header(const FrameHeader& header, HeaderBytes wire) { put_header(header, {}, wire.data()); }
std::optional<FrameHeader> decode_header(ConstHeaderBytes wire) { return get_header(wire.data(), {}); }

}  // namespace hocket
