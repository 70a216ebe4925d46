#include "memory_need.h"

#include <optional>
#include <string>

#include "base/available_memory.h"
#include "base/units.h"
#include "engine/reference.h"

namespace hocket {
namespace {

constexpr double kGiB = 1 << 30;

}  // namespace

double buffer_bytes(const BoundCollective& what, std::uint32_t rank) {
  const double elements = static_cast<double>(input_count(what, rank)) + static_cast<double>(output_count(what, rank));
  return elements * static_cast<double>(size_of(what.type));
}

Result<void> check_memory_here(const BoundCollective& what, const Launch& launch, Bytes scratch) {
  const double mine = buffer_bytes(what, launch.rank) + static_cast<double>(scratch.count);
  const std::uint32_t here = launch.local_size == 0 ? 1 : launch.local_size;
  double all = mine * here;
  if (launch.one_host()) {
    all = static_cast<double>(scratch.count) * here;
    for (std::uint32_t rank = 0; rank < launch.size; ++rank) all += buffer_bytes(what, rank);
  }
  const std::optional<AvailableMemory> available = available_memory();
  if (!available || all <= available->bytes) return {};
  return fail(Code::kResourceExhausted,
              "{} of {} on {} ranks needs {:.1f} GiB on rank {}, {:.1f} GiB on the {} of this host, {}",
              name_of(what.collective.kind), format_bytes(what.bytes()), launch.size, mine / kGiB, launch.rank,
              all / kGiB, here, available->text());
}

Result<void> check_own_memory(const BoundCollective& what, std::uint32_t rank, Bytes scratch) {
  Launch alone;
  alone.rank = rank;
  alone.size = what.collective.ranks;
  return check_memory_here(what, alone, scratch);
}

Result<void> check_memory_in_process(const Plan& plan) {
  const BoundCollective& what = plan.what();
  double needed = 0;
  for (std::uint32_t r = 0; r < what.collective.ranks; ++r) {
    needed += buffer_bytes(what, r) + static_cast<double>(output_count(what, r) * size_of(what.type)) +
              static_cast<double>(plan.scratch_bytes().count);
  }
  const std::optional<AvailableMemory> available = available_memory();
  if (!available || needed <= available->bytes) return {};
  return fail(Code::kResourceExhausted, "{} of {} on {} ranks in one process needs {:.1f} GiB, {}",
              name_of(what.collective.kind), format_bytes(what.bytes()), what.collective.ranks, needed / kGiB,
              available->text());
}

}  // namespace hocket
