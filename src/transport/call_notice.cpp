#include "transport/call_notice.h"

#include <array>

namespace hocket {
namespace {

constexpr std::size_t kWords = kCallBytes / 8;

void put_word(std::span<std::byte, kCallBytes> wire, std::size_t index, std::uint64_t word) {
  for (std::size_t i = 0; i < 8; ++i) wire[8 * index + i] = static_cast<std::byte>(word >> (8 * i));
}

std::uint64_t get_word(std::span<const std::byte, kCallBytes> wire, std::size_t index) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(wire[8 * index + i]) << (8 * i);
  return word;
}

std::uint64_t words_packed(const BoundCollective& what) {
  return static_cast<std::uint64_t>(what.collective.kind) | static_cast<std::uint64_t>(what.type) << 8 |
         static_cast<std::uint64_t>(what.op) << 16;
}

bool is_barrier(const BoundCollective& what) { return what == barrier_of(what.collective.ranks); }

std::string_view operation_of(const BoundCollective& what) {
  return is_barrier(what) ? "barrier" : name_of(what.collective.kind);
}

}  // namespace

Fingerprint CallNotice::subject() const {
  Hasher hasher;
  hasher.add(words_packed(what)).add(static_cast<std::uint64_t>(what.count));
  hasher.add(std::uint64_t{what.collective.ranks} << 32 | what.collective.root).add(plan.high).add(plan.low);
  return hasher.finish();
}

std::string text_of(const BoundCollective& what) {
  if (is_barrier(what)) return "barrier";
  const std::string root = is_rooted(what.collective.kind) ? fmt::format(", root {}", what.collective.root) : "";
  const std::string op = reduces(what.collective.kind) ? fmt::format(" {}", name_of(what.op)) : "";
  return fmt::format("{} of {} {}{}{}", name_of(what.collective.kind), what.count, name_of(what.type), op, root);
}

std::string CallNotice::text() const { return fmt::format("call {}, {}", number, text_of(what)); }

std::string CallNotice::message_text() const {
  return fmt::format("message {} of {} {}", number, what.count, name_of(what.type));
}

void encode_call(const CallNotice& call, std::span<std::byte, kCallBytes> wire) {
  const std::array<std::uint64_t, kWords> words{
      call.number,
      words_packed(call.what),
      static_cast<std::uint64_t>(call.what.count),
      std::uint64_t{call.what.collective.ranks} << 32 | call.what.collective.root,
      call.plan.high,
      call.plan.low,
      0,
      0,
  };
  for (std::size_t i = 0; i < kWords; ++i) put_word(wire, i, words[i]);
}

std::optional<CallNotice> decode_call(std::span<const std::byte, kCallBytes> wire) {
  const std::uint64_t packed = get_word(wire, 1);
  const std::uint64_t kind = packed & 0xff;
  const std::uint64_t type = packed >> 8 & 0xff;
  const std::uint64_t op = packed >> 16 & 0xff;
  if (kind >= kCollectiveKinds || type >= kDataTypes || op >= kReduceOps) return std::nullopt;
  const std::uint64_t ranks = get_word(wire, 3);
  CallNotice call;
  call.number = get_word(wire, 0);
  call.what.collective = {static_cast<CollectiveKind>(kind), static_cast<std::uint32_t>(ranks >> 32),
                          static_cast<std::uint32_t>(ranks)};
  call.what.count = static_cast<std::int64_t>(get_word(wire, 2));
  call.what.type = static_cast<DataType>(type);
  call.what.op = static_cast<ReduceOp>(op);
  call.plan = {get_word(wire, 4), get_word(wire, 5)};
  return call;
}

std::string difference(const CallNotice& here, const CallNotice& there) {
  const BoundCollective& a = here.what;
  const BoundCollective& b = there.what;
  const auto differ = [](std::string_view name, const auto& x, const auto& y) {
    return fmt::format("{} {} here, {} there", name, x, y);
  };
  if (here.number != there.number) return differ("call", here.number, there.number);
  if (operation_of(a) != operation_of(b)) return differ("operation", operation_of(a), operation_of(b));
  if (a.collective.ranks != b.collective.ranks) return differ("ranks", a.collective.ranks, b.collective.ranks);
  if (a.count != b.count) return differ("count", a.count, b.count);
  if (a.type != b.type) return differ("dtype", name_of(a.type), name_of(b.type));
  if (a.op != b.op) return differ("operator", name_of(a.op), name_of(b.op));
  if (a.collective.root != b.collective.root) return differ("root", a.collective.root, b.collective.root);
  if (here.plan != there.plan)
    return differ("plan", here.plan.text(), there.plan.text()) + fmt::format(": {}", kPlanSources);
  return {};
}

}  // namespace hocket
