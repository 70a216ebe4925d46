// Frames as a peer might send them: raw bytes through decode(), then well-summed frames with any header through an
// endpoint that has a real plan. Nothing may crash, be read beyond its end, or make the engine's events exceed the
// plan. Like the engine, the listener ends its rank at an event that does not fit the direction of the op.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "transport/simulated_endpoint.h"

namespace {

using namespace hocket;

constexpr std::uint32_t kSegments = 4;
constexpr std::size_t kRecordBytes = 8;

struct Counter final : TransportEvents {
  void arrived(OpId receive, std::uint32_t segments) override {
    HOCKET_ASSERT(receive <= 1, "not an op of ours");
    refused = refused || receive != 1;
    if (refused) return;
    total += segments;
    HOCKET_ASSERT(total <= kSegments, "more segments than the op has");
  }
  void acknowledged(OpId send, std::uint32_t) override { HOCKET_ASSERT(send <= 1, "not an op of ours"); }
  void failed(const Error& error) override { HOCKET_ASSERT(!error.text.empty(), "an error without words"); }
  std::uint32_t total = 0;
  bool refused = false;
};

void check_codec(std::span<const std::byte> bytes) {
  const auto frame = decode(bytes);
  if (!frame) return;
  const auto again = encode(frame->header, frame->bytes);
  HOCKET_ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()), "a frame has two spellings");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_codec(bytes);
  SimulatedWorld world(2, {});
  const Cut cut(16, 4, kSegments);
  const SimulatedProgram program{.fingerprint = {1, 2}, .ends = {{0, 3, 1, 0, cut}, {1, 2, 1, 0, cut}}};
  SimulatedEndpoint endpoint(world, 0, program);
  Counter counter;
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i + kRecordBytes <= size; i += kRecordBytes) {
    const std::uint8_t* record = data + i;
    FrameHeader header{.kind = static_cast<FrameKind>(record[0] % kFrameKinds), .op = record[1], .segment = record[2]};
    header.sequence = record[3] < 200 ? sequence : record[3];
    header.fingerprint = {1, record[4] < 250 ? 2U : 3U};
    const std::size_t length = std::min<std::size_t>(record[5] % 24, size - i);
    endpoint.receive(1, encode(header, bytes.subspan(i, length)));
    if (header.kind != FrameKind::kReceipt && header.sequence == sequence) ++sequence;
    endpoint.poll(counter);
    if (counter.refused) return 0;
    if (counter.total == 0) continue;
    const std::byte* last = endpoint.bytes(program.ends[1], counter.total - 1);
    HOCKET_ASSERT(last != nullptr && std::to_integer<int>(last[3]) >= 0, "an arrived segment lacks its bytes");
  }
  return 0;
}
