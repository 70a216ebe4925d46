// FrameReader and FrameWriter: frames on a stream of bytes that comes and goes in parts of any size. Sans-IO.
//   reader  says where the next bytes may go: straight into the place of a payload, and behind it a small inbox. After
//           a header the owner names the place of its payload, drops it, or leaves it lying and comes back later.
//   writer  a ring of frames whose payloads stay with their owners until they are sent; gathers parts, counts bytes.
// No allocation after construction. Ownership: header bytes and inbox only. Threading: one owner.
// Refuses: bytes that are no frame (kDamaged, for good); pushing into a full writer is a broken invariant.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "net/frame.h"

namespace hocket {

class FrameReader {
 public:
  FrameReader() : inbox_(std::make_unique<std::byte[]>(kInboxBytes)) {}

  /// Where the next bytes may go, in this order; both empty while a header waits and the inbox is full.
  [[nodiscard]] std::array<std::span<std::byte>, 2> room();
  void received(std::size_t bytes);

  enum class Step : std::uint8_t { kMore, kHeader, kFrame, kDamaged };
  /// kHeader comes again and again until place(); kFrame once per frame.
  [[nodiscard]] Step next();
  [[nodiscard]] const FrameHeader& header() const { return header_; }
  /// The rest of header()'s payload is to come.
  [[nodiscard]] bool in_payload() const { return state_ == State::kPayload; }
  /// `payload` has header().length bytes.
  void place(std::span<std::byte> payload);
  /// The payload is dropped as it comes.
  void skip();

 private:
  static constexpr std::size_t kInboxBytes = std::size_t{8} << 10;
  static constexpr std::size_t kBulkBytes = std::size_t{16} << 10;
  enum class State : std::uint8_t { kHeader, kWaiting, kPayload, kDamaged };

  std::unique_ptr<std::byte[]> inbox_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  State state_ = State::kHeader;
  FrameHeader header_;
  std::span<std::byte> rest_;  // of the payload
  std::size_t skipped_ = 0;    // bytes of a payload that are to be dropped
};

class FrameWriter {
 public:
  static constexpr std::size_t kFramesMax = 32;
  using Token = std::uint32_t;

  [[nodiscard]] bool full() const { return size_ == kFramesMax; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Bytes of the frames that are in.
  [[nodiscard]] std::size_t unsent() const { return pushed_ - progress_; }
  void push(const FrameHeader& header, const std::byte* payload, Token token);
  /// Parts to send, in order; the number filled in.
  [[nodiscard]] std::size_t gather(std::span<std::span<const std::byte>> parts) const;
  /// Calls `done(token)` for every frame that is now sent to its last byte.
  template <class Done>
  void sent(std::size_t bytes, Done&& done) {
    progress_ += bytes;
    while (size_ > 0 && progress_ >= bytes_of(frames_[first_])) {
      progress_ -= bytes_of(frames_[first_]);
      pushed_ -= bytes_of(frames_[first_]);
      const Token token = frames_[first_].token;
      first_ = (first_ + 1) % kFramesMax;
      --size_;
      done(token);
    }
  }
  /// Drops frames that have not begun; of one that has, the payload is copied to `copy`, so that its owner may go.
  void keep_started(std::vector<std::byte>& copy, Token token);
  /// Forgets what was not sent.
  void clear() { size_ = progress_ = pushed_ = 0; }

 private:
  struct Outgoing {
    std::array<std::byte, kFrameHeaderBytes> header;
    std::span<const std::byte> payload;
    Token token = 0;
  };
  [[nodiscard]] static std::size_t bytes_of(const Outgoing& f) { return f.header.size() + f.payload.size(); }

  std::array<Outgoing, kFramesMax> frames_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t progress_ = 0;  // bytes of the first frame that are sent
  std::size_t pushed_ = 0;    // bytes of all frames
};

}  // namespace hocket
