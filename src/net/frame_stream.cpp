#include "net/frame_stream.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace hocket {

std::array<std::span<std::byte>, 2> FrameReader::room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0) {
    std::memmove(inbox_.get(), inbox_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  std::span<std::byte> free(inbox_.get() + end_, kInboxBytes - end_);
  // In bulk only the next header is taken along, so that its payload too is read straight into its place.
  if (rest_.size() >= kBulkBytes) free = free.first(std::min(free.size(), kFrameHeaderBytes));
  return {rest_, free};
}

void FrameReader::received(std::size_t bytes) {
  const std::size_t direct = std::min(bytes, rest_.size());
  rest_ = rest_.subspan(direct);
  end_ += bytes - direct;
  HOCKET_ASSERT(end_ <= kInboxBytes, "more bytes received than there was room for");
}

FrameReader::Step FrameReader::next() {
  if (state_ == State::kHeader) {
    if (end_ - begin_ < kFrameHeaderBytes) return Step::kMore;
    const auto decoded = decode_header(ConstHeaderBytes(inbox_.get() + begin_, kFrameHeaderBytes));
    begin_ += kFrameHeaderBytes;
    header_ = decoded.value_or(FrameHeader{});
    state_ = decoded ? State::kWaiting : State::kDamaged;
  }
  if (state_ == State::kWaiting) return Step::kHeader;
  if (state_ == State::kDamaged) return Step::kDamaged;
  const std::size_t here = std::min(rest_.size(), end_ - begin_);
  if (here > 0) std::memcpy(rest_.data(), inbox_.get() + begin_, here);
  begin_ += here;
  rest_ = rest_.subspan(here);
  if (!rest_.empty()) return Step::kMore;
  const std::size_t dropped = std::min(skipped_, end_ - begin_);
  begin_ += dropped;
  skipped_ -= dropped;
  if (skipped_ > 0) return Step::kMore;
  state_ = State::kHeader;
  return Step::kFrame;
}

void FrameReader::place(std::span<std::byte> payload) {
  HOCKET_ASSERT(state_ == State::kWaiting && payload.size() == header_.length, "no payload of that length waits");
  rest_ = payload;
  state_ = State::kPayload;
}

void FrameReader::skip() {
  HOCKET_ASSERT(state_ == State::kWaiting, "no payload waits");
  skipped_ = header_.length;
  state_ = State::kPayload;
}

void FrameWriter::push(const FrameHeader& header, const std::byte* payload, Token token) {
  HOCKET_ASSERT(!full(), "a frame pushed into a full writer");
  Outgoing& frame = frames_[(first_ + size_++) % kFramesMax];
  encode_header(header, frame.header);
  frame.payload = header.length == 0 ? std::span<const std::byte>() : std::span(payload, header.length);
  frame.token = token;
  pushed_ += bytes_of(frame);
}

void FrameWriter::keep_started(std::vector<std::byte>& copy, Token token) {
  if (size_ == 0 || progress_ == 0) return clear();
  size_ = 1;
  Outgoing& frame = frames_[first_];
  copy.assign(frame.payload.begin(), frame.payload.end());
  frame.payload = copy;
  frame.token = token;
  pushed_ = bytes_of(frame);
}

std::size_t FrameWriter::gather(std::span<std::span<const std::byte>> parts) const {
  std::size_t skip = progress_;
  std::size_t count = 0;
  const auto add = [&](std::span<const std::byte> part) {
    const std::size_t skipped = std::min(skip, part.size());
    skip -= skipped;
    if (part.size() > skipped) parts[count++] = part.subspan(skipped);
  };
  for (std::size_t i = 0; i < size_ && count + 2 <= parts.size(); ++i) {
    const Outgoing& frame = frames_[(first_ + i) % kFramesMax];
    add(frame.header);
    add(frame.payload);
  }
  return count;
}

}  // namespace hocket
