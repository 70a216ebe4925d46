// BounceArea: which parts of a rank's bounce memory hold segments that peers have yet to read. Parts are given out one
// behind the other, round and round, so that memory is written again only when everything else has been: by then it has
// left the caches of the cores that read it, and a core that writes what another one has in its cache waits for every
// line. They come back in any order; what lies behind the oldest one that is out is free.
// Ownership: offsets only. Threading: one owner; nothing is allocated. Refuses: parts for which there is no room now.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hocket {

class BounceArea {
 public:
  static constexpr std::uint32_t kPartsMax = 64;  // out at a time

  BounceArea() = default;
  explicit BounceArea(std::size_t bytes) : bytes_(bytes) {}

  struct Part {
    std::uint32_t id = 0;
    std::size_t offset = 0;
  };
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::optional<Part> take(std::size_t bytes) {
    std::uint64_t begin = end_;
    const std::size_t to_wrap = bytes_ == 0 ? 0 : bytes_ - static_cast<std::size_t>(begin % bytes_);
    if (to_wrap < bytes) begin += to_wrap;
    if (first_ == last_) begin_ = begin;
    const std::uint64_t end = begin + (bytes + kLine - 1) / kLine * kLine;
    if (last_ - first_ == kPartsMax || end - begin_ > bytes_) return std::nullopt;
    const auto id = static_cast<std::uint32_t>(last_++ % kPartsMax);
    parts_[id] = {end, true};
    end_ = end;
    return Part{id, static_cast<std::size_t>(begin % bytes_)};
  }
  void give_back(std::uint32_t id) {
    parts_[id].out = false;
    for (; first_ != last_ && !parts_[first_ % kPartsMax].out; ++first_) begin_ = parts_[first_ % kPartsMax].end;
  }
  /// All parts are back.
  void clear() {
    first_ = last_;
    begin_ = end_;
  }

 private:
  static constexpr std::size_t kLine = 64;
  struct Entry {
    std::uint64_t end = 0;
    bool out = false;
  };

  std::size_t bytes_ = 0;  // whole lines
  // Numbers and places of parts only grow.
  std::uint64_t first_ = 0;  // the oldest that is out
  std::uint64_t last_ = 0;   // the next one
  std::uint64_t begin_ = 0;  // where the oldest one may begin
  std::uint64_t end_ = 0;
  std::array<Entry, kPartsMax> parts_{};
};

}  // namespace hocket
