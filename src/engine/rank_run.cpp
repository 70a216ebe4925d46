#include "engine/rank_run.h"

#include <cstring>
#include <new>

#include "base/units.h"

namespace hocket {
namespace {

/// Left uninitialised; null for no bytes.
std::unique_ptr<std::byte[]> allocate(std::int64_t bytes) {
  return std::unique_ptr<std::byte[]>(bytes == 0 ? nullptr : new std::byte[static_cast<std::size_t>(bytes)]);
}

struct Extent {
  std::uintptr_t begin;
  std::uintptr_t end;
};
Extent extent_of(const void* at, hocket::Bytes bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  return {begin, begin + static_cast<std::uintptr_t>(bytes.count)};
}

}  // namespace

RankRun::RankRun(const Plan& plan, std::uint32_t rank, Transport& transport)
    : program_(plan, rank),
      engine_(program_, transport),
      scratch_(allocate(plan.scratch_bytes().count)),
      stage_(allocate(program_.stage_bytes())) {}

Result<void> RankRun::bind(const RankBuffers& buffers) {
  const Plan& plan = program_.plan();
  const std::uint32_t r = program_.rank();
  const BufferUse uses = program_.uses();
  if (uses.input && buffers.input == nullptr) return fail(Code::kInvalidArgument, "rank {}: no input buffer", r);
  if (uses.output && buffers.output == nullptr) return fail(Code::kInvalidArgument, "rank {}: no output buffer", r);
  memory_ = {static_cast<const std::byte*>(buffers.input), static_cast<std::byte*>(buffers.output), scratch_.get(),
             stage_.get()};
  if (!uses.input || !uses.output) return {};
  const Extent in = extent_of(buffers.input, plan.input_bytes());
  const Extent out = extent_of(buffers.output, plan.output_bytes());
  if (in.begin >= out.end || out.begin >= in.end) return {};
  const bool same_place = in.begin - static_cast<std::uintptr_t>(plan.input_base(r)) ==
                          out.begin - static_cast<std::uintptr_t>(plan.output_base(r));
  if (same_place && plan.verified().in_place()) return {};
  try {
    if (!aside_) aside_ = allocate(plan.input_bytes().count);
  } catch (const std::bad_alloc&) {
    return fail(Code::kResourceExhausted, "rank {}: no memory for a copy of the input, {}", r,
                format_bytes(plan.input_bytes()));
  }
  std::memcpy(aside_.get(), buffers.input, static_cast<std::size_t>(plan.input_bytes().count));
  memory_.input = aside_.get();
  return {};
}

}  // namespace hocket
