// Protocol buffers' wire format, as far as readers and writers of traces need it: varints, tags, lengths.
// A reader is a cursor over bytes that it does not own; it knows its place in the whole file for messages.
// Threading: one owner. Refuses: varints over 10 bytes, lengths past the end, groups, field number 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hocket {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;   // varint and fixed
  std::string_view bytes;    // kBytes
  std::size_t bytes_at = 0;  // offset of `bytes` in the file
  std::string_view raw;      // the whole field with its tag
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes, std::size_t offset = 0) : bytes_(bytes), base_(offset) {}

  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  [[nodiscard]] std::size_t offset() const { return base_ + at_; }
  /// Errors name the byte; the caller puts the file name in front.
  [[nodiscard]] Result<std::uint64_t> varint();
  [[nodiscard]] Result<WireField> field();
  /// A length and that many bytes.
  [[nodiscard]] Result<WireReader> message();
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  [[nodiscard]] Result<std::uint64_t> fixed(std::size_t width);

  std::string_view bytes_;
  std::size_t base_ = 0, at_ = 0;
};

void append_varint(std::string& out, std::uint64_t value);
void append_tag(std::string& out, std::uint32_t number, WireType type);
void append_bytes(std::string& out, std::uint32_t number, std::string_view bytes);

}  // namespace hocket
