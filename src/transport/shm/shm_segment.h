// ShmSegment: the memory through which the ranks of one host talk: a doorbell, a state, a bounce memory and a place on
// the board per rank, a ring per ordered pair. It is a memfd without a name, so that nothing is left whichever process
// is killed when; sealed, so that nobody can shrink it under the others. Another process maps it through /proc/PID/fd
// and compares its token. Ownership: this mapping; the memory goes with the last one. Threading: what is shared inside
// is atomic. Refuses: systems without memfd, more ranks than kRanksMax, and memory that is not the job's (an Error
// each).
#pragma once

#include <array>
#include <memory>
#include <string>

#include "net/descriptor.h"
#include "net/secret.h"
#include "transport/board.h"
#include "transport/shm/byte_ring.h"
#include "transport/shm/doorbell.h"
#include "transport/shm/peer_memory.h"

namespace hocket {

class ShmSegment {
 public:
  static constexpr std::uint32_t kRanksMax = 256;
  /// Messages have a segment for every two ranks and direction, which may be many: it is short, and takes memory only
  /// where it is written.
  enum class Use : std::uint8_t { kCollectives, kMessages };

  [[nodiscard]] static Result<std::shared_ptr<ShmSegment>> create(std::uint32_t ranks, Use use = Use::kCollectives);
  /// What create() made in another process, by where() and token() there.
  [[nodiscard]] static Result<std::shared_ptr<ShmSegment>> map(const std::string& where, const Nonce& token,
                                                               std::uint32_t ranks, Use use = Use::kCollectives);
  ~ShmSegment();
  ShmSegment(const ShmSegment&) = delete;
  ShmSegment& operator=(const ShmSegment&) = delete;

  /// While this process lives and has not called close_door().
  [[nodiscard]] std::string where() const;
  [[nodiscard]] const Nonce& token() const;
  void close_door() { file_.reset(); }

  /// Why a rank's communicator has failed, for peers that have not read what lies in their ring.
  struct LastWords {
    std::uint32_t code = 0;
    std::uint32_t length = 0;
    std::uint64_t call = 0;  // in which it failed; those before were over for it
    std::array<char, 2048> text{};
  };
  /// What every rank shows the others.
  struct RankState {
    Doorbell bell;
    std::atomic<std::uint32_t> failed{0};  // its communicator has failed: its memory means nothing any more
    LastWords words;                       // from then on
    std::atomic<std::int64_t> process{0};
    std::atomic<std::uint64_t> token_address{0};  // a copy of token() in its own memory, for trying to read that
    SharedRanges ranges;                          // of its memory that others may map
  };
  [[nodiscard]] RankState& state(std::uint32_t rank) { return states()[rank]; }

  struct Ring {
    RingPositions positions;
    std::atomic<std::uint32_t> reads_memory{0};  // the reader has read the writer's own memory
  };
  /// Where ranks show each other short messages.
  [[nodiscard]] std::span<BoardSlots> board() const {
    return {reinterpret_cast<BoardSlots*>(base_ + board_begin_), ranks_};
  }
  [[nodiscard]] Ring& ring(std::uint32_t from, std::uint32_t to) { return rings()[pair(from, to)]; }
  [[nodiscard]] std::span<std::byte> ring_bytes(std::uint32_t from, std::uint32_t to) {
    return {base_ + bytes_begin_ + pair(from, to) * ring_size_, ring_size_};
  }
  /// Has the system give the memory that a rank will write now and not, page by page, in its first calls. Where it does
  /// not do so nothing is lost but that time.
  void touch(std::uint32_t rank);
  /// For what a rank copies once so that others can read it.
  [[nodiscard]] std::byte* bounce_memory(std::uint32_t rank) { return base_ + bounce_begin_ + rank * bounce_bytes_; }
  [[nodiscard]] std::size_t bounce_bytes() const { return bounce_bytes_; }

 private:
  struct Head;
  ShmSegment(std::uint32_t ranks, Use use);
  [[nodiscard]] Result<void> attach();
  [[nodiscard]] Head& head() const;
  [[nodiscard]] RankState* states() const;
  [[nodiscard]] Ring* rings() const;
  [[nodiscard]] std::size_t pair(std::uint32_t from, std::uint32_t to) const { return std::size_t{from} * ranks_ + to; }

  std::uint32_t ranks_;
  Descriptor file_;
  Use use_;
  std::size_t ring_size_;
  std::size_t bounce_bytes_;
  std::size_t states_begin_;
  std::size_t board_begin_;
  std::size_t rings_begin_;
  std::size_t bytes_begin_;
  std::size_t bounce_begin_;
  std::size_t size_;
  std::byte* base_ = nullptr;
};

}  // namespace hocket
