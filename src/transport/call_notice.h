// CallNotice: what a rank says about a collective before its first message: its number, what is asked for, and the
// plan. Ranks that disagree find the first difference in words. Sent as kCallBytes little-endian bytes. Threading:
// plain values. Refuses: wire bytes of unknown kind, dtype or operator (nothing comes back).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/hash.h"
#include "schedule/collective.h"

namespace hocket {

/// As all ranks call it; to users it is none.
[[nodiscard]] constexpr BoundCollective barrier_of(std::uint32_t ranks) {
  return {{CollectiveKind::kAllReduce, ranks, 0}, 0, DataType::kU8, ReduceOp::kMax};
}
/// "all_reduce of 1024 f32 sum", or "barrier".
[[nodiscard]] std::string text_of(const BoundCollective& what);

/// What ranks with different plans may have been given differently.
inline constexpr std::string_view kPlanSources =
    "were they given different topologies, plan files or transports (HOCKET_TOPO_FILE, HOCKET_PLAN_FILE, "
    "HOCKET_TRANSPORT)?";

struct CallNotice {
  std::uint64_t number = 0;  // of this communicator, from 1
  BoundCollective what;
  Fingerprint plan;

  [[nodiscard]] Fingerprint fingerprint() const { return fingerprint_of(number, subject()); }
  /// What does not change when the call is made again.
  [[nodiscard]] Fingerprint subject() const;
  [[nodiscard]] static Fingerprint fingerprint_of(std::uint64_t number, const Fingerprint& subject) {
    return Hasher().add(subject.high ^ number).add(subject.low).finish();
  }
  [[nodiscard]] std::string text() const;          // "call 7, all_reduce of 1024 f32 sum", "call 8, barrier"
  [[nodiscard]] std::string message_text() const;  // "message 7 of 1024 f32", which is a broadcast to users of none
};

inline constexpr std::size_t kCallBytes = 64;

void encode_call(const CallNotice& call, std::span<std::byte, kCallBytes> wire);
[[nodiscard]] std::optional<CallNotice> decode_call(std::span<const std::byte, kCallBytes> wire);

/// The first thing that differs: "count 409600 here, 409598 there"; empty when nothing does.
[[nodiscard]] std::string difference(const CallNotice& here, const CallNotice& there);

}  // namespace hocket
