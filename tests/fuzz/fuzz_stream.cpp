// Bytes as a peer might send them on a stream: raw, and as frames with good checksums and any header, in parts of any
// size, to a rank in a call with a real plan of messages. Nothing may crash, be written outside its place, or make the
// engine's events exceed the plan; the stream ends in a failure or goes on.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "transport/stream_rank.h"

namespace {

using namespace hocket;

constexpr std::uint32_t kSegments = 4;
constexpr std::int64_t kBytes = 16;
constexpr std::size_t kRecordBytes = 8;

class FuzzRank final : public StreamRank {
 public:
  FuzzRank() : StreamRank(0, {"rank 0", "rank 1"}) { set_bounce_memory({area_.size(), 0}); }
  bool poll(TransportEvents& events) override { return report_failure(events); }
  void rest(SteadyTime) override {}
  void interrupt() override {}
  [[nodiscard]] bool borrows() const override { return true; }
  [[nodiscard]] std::byte* bounce_memory(std::uint32_t /*rank*/) override { return area_.data(); }
  using StreamRank::readable;
  using StreamRank::received;
  using StreamRank::room;

  void feed(std::span<const std::byte> bytes, TransportEvents& events) {
    while (!bytes.empty() && readable(1) && !failure()) {
      std::size_t moved = 0;
      for (const std::span<std::byte> place : room(1)) {
        const std::size_t part = std::min(place.size(), bytes.size());
        std::copy_n(bytes.begin(), part, place.begin());
        bytes = bytes.subspan(part);
        moved += part;
      }
      if (moved == 0) return;
      received(1, moved, &events, {});
    }
  }

 private:
  std::array<std::byte, 256> area_{};
};

struct Counter final : TransportEvents {
  void arrived(OpId receive, std::uint32_t segments) override {
    HOCKET_ASSERT(receive == 1, "not a receive of ours");
    total += segments;
    HOCKET_ASSERT(total <= kSegments, "more segments than the op has");
  }
  void acknowledged(OpId, std::uint32_t) override { HOCKET_ASSERT(false, "nothing was offered"); }
  void failed(const Error& error) override { HOCKET_ASSERT(!error.text.empty(), "an error without words"); }
  std::byte* landing(OpId, std::uint32_t segment) override {
    return segment % 2 == 0 ? nullptr : result.data() + segment * kBytes / kSegments;
  }
  std::uint32_t total = 0;
  std::array<std::byte, kBytes> result{};
};

MessageProgram program() {
  const Cut cut(kBytes, 4, kSegments);
  MessageProgram made{{1, 2}, {{CollectiveKind::kAllReduce, 2, 0}, 4, DataType::kF32, ReduceOp::kSum}, 0, {}};
  made.ops.push_back({MessageOp::Role::kSend, {0, 3, 1, 0, cut}});
  made.ops.push_back({MessageOp::Role::kReceive, {1, 2, 1, 0, cut}});
  return made;
}

/// A good frame whose header the record chooses.
std::vector<std::byte> frame_of(const std::uint8_t* record, std::span<const std::byte> payload, Fingerprint good) {
  FrameHeader header{.kind = static_cast<FrameKind>(record[0] % kFrameKinds), .op = record[1], .segment = record[2]};
  header.sequence = record[3] < 230 ? 1 : record[3];
  header.fingerprint = record[4] < 240 ? good : Fingerprint{record[4], 0};
  header.length = static_cast<std::uint32_t>(payload.size());
  std::vector<std::byte> wire(kFrameHeaderBytes + payload.size());
  encode_header(header, HeaderBytes(wire.data(), kFrameHeaderBytes));
  std::copy(payload.begin(), payload.end(), wire.begin() + kFrameHeaderBytes);
  return wire;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  Counter counter;
  {
    FuzzRank rank;
    const auto loaded = rank.load(program()).value();
    rank.begin(*loaded);
    rank.feed(bytes, counter);
  }
  counter = {};
  FuzzRank rank;
  const auto loaded = rank.load(program()).value();
  rank.begin(*loaded);
  const CallNotice call{1, program().what, program().plan};
  for (std::size_t i = 0; i + kRecordBytes <= size; i += kRecordBytes) {
    const std::uint8_t* record = data + i;
    std::array<std::byte, kCallBytes> hello{};
    CallNotice said = call;
    if (record[5] > 200) said.what.count = record[6];
    encode_call(said, hello);
    const bool greets = record[0] % kFrameKinds == 0;
    const std::size_t length = record[5] % 2 == 0 ? 4 : std::min<std::size_t>(record[5] % 24, size - i);
    const auto payload = greets ? std::span<const std::byte>(hello) : bytes.subspan(i, length);
    rank.feed(frame_of(record, payload, call.fingerprint()), counter);
    rank.poll(counter);
    if (rank.failure()) return 0;
  }
  return 0;
}
