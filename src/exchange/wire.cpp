#include "exchange/wire.h"

namespace hocket {

Result<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  const std::size_t start = offset();
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (at_end()) return fail(Code::kMalformed, "byte {}: a number is cut off", offset());
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    if (shift == 63 && byte > 1) break;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return fail(Code::kMalformed, "byte {}: a number does not fit 64 bits", start);
}

Result<std::uint64_t> WireReader::fixed(std::size_t width) {
  if (bytes_.size() - at_ < width) return fail(Code::kMalformed, "byte {}: a number is cut off", offset());
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
  }
  at_ += width;
  return value;
}

Result<WireReader> WireReader::message() {
  const std::size_t start = offset();
  HOCKET_TRY_ASSIGN(const std::uint64_t length, varint());
  if (length > bytes_.size() - at_) {
    return fail(Code::kMalformed, "byte {}: {} bytes are announced, {} are left", start, length, bytes_.size() - at_);
  }
  const WireReader inner(bytes_.substr(at_, length), offset());
  at_ += length;
  return inner;
}

Result<WireField> WireReader::field() {
  const std::size_t start = at_, start_offset = offset();
  HOCKET_TRY_ASSIGN(const std::uint64_t tag, varint());
  WireField field;
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) {
    return fail(Code::kMalformed, "byte {}: field number {} does not exist", start_offset, tag >> 3);
  }
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  switch (tag & 7) {
    case 0: {
      HOCKET_TRY_ASSIGN(field.value, varint());
      break;
    }
    case 1: {
      HOCKET_TRY_ASSIGN(field.value, fixed(8));
      break;
    }
    case 2: {
      HOCKET_TRY_ASSIGN(const WireReader inner, message());
      field.bytes = inner.bytes();
      field.bytes_at = inner.offset();
      break;
    }
    case 5: {
      HOCKET_TRY_ASSIGN(field.value, fixed(4));
      break;
    }
    default:
      return fail(Code::kMalformed, "byte {}: wire type {} of field {} is unknown", start_offset, tag & 7,
                  field.number);
  }
  field.raw = bytes_.substr(start, at_ - start);
  return field;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_tag(std::string& out, std::uint32_t number, WireType type) {
  append_varint(out, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

void append_bytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  append_tag(out, number, WireType::kBytes);
  append_varint(out, bytes.size());
  out += bytes;
}

}  // namespace hocket
