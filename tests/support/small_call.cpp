#include "support/small_call.h"

namespace hocket::test {
namespace {

constexpr float kUntouched = -7;
constexpr std::array<const char*, 13> kNames{
    "all_reduce", "reduce_scatter", "all_gather",   "broadcast", "reduce",  "all_to_all", "gather",
    "scatter",    "all_gather_v",   "all_to_all_v", "send",      "receive", "barrier"};

float value_of(std::uint32_t rank, std::int64_t i) { return 100 * static_cast<float>(rank) + static_cast<float>(i); }

bool is_message(Operation operation) { return operation == Operation::kSend || operation == Operation::kReceive; }

}  // namespace

std::string name_of(Operation operation) { return kNames[static_cast<std::size_t>(operation)]; }

bool has_root(Operation operation) {
  return operation == Operation::kBroadcast || operation == Operation::kReduce || operation == Operation::kGather ||
         operation == Operation::kScatter;
}

SmallCall::SmallCall(Operation operation, std::uint32_t rank, std::uint32_t ranks, std::int64_t count)
    : rank_(rank), ranks_(ranks), count_(count), sent_(ranks), received_(ranks), offsets_(ranks) {
  // Room for a count that is one too large.
  const auto places = static_cast<std::size_t>((count + 1) * ranks);
  input_.resize(places);
  output_.assign(places, kUntouched);
  for (std::size_t i = 0; i < places; ++i) input_[i] = value_of(rank, static_cast<std::int64_t>(i));
  call_ = {.operation = operation, .input = input_.data(), .output = output_.data(), .count = count};
  if (is_message(operation)) {
    call_.operation = rank == 0 ? Operation::kSend : Operation::kReceive;
    call_.root = rank == 0 ? 1 : 0;
  }
  if (operation != Operation::kAllGatherV && operation != Operation::kAllToAllV) return;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    sent_[r] = (rank + r) % (count + 1);
    received_[r] = operation == Operation::kAllToAllV ? sent_[r] : count - r % 2;
    offsets_[r] = r * (count + 1);
  }
  call_.send = {sent_, offsets_};
  call_.receive = {received_, offsets_};
}

bool SmallCall::takes_part() const { return !is_message(call_.operation) || rank_ < 2; }

std::vector<float> SmallCall::expected() const {
  std::vector<float> all(output_.size(), kUntouched);
  const std::int64_t own_block = rank_ * count_;
  const auto put = [&](std::int64_t to, std::int64_t count, auto&& value) {
    for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(to + i)] = value(i);
  };
  const auto from = [](std::uint32_t rank, std::int64_t begin) {
    return [rank, begin](std::int64_t i) { return value_of(rank, begin + i); };
  };
  const auto sum = [&](std::int64_t begin) {
    return [this, begin](std::int64_t i) {
      float total = 0;
      for (std::uint32_t r = 0; r < ranks_; ++r) total += value_of(r, begin + i);
      return total;
    };
  };
  switch (call_.operation) {
    case Operation::kAllReduce:
      put(0, count_, sum(0));
      break;
    case Operation::kReduceScatter:
      put(0, count_, sum(own_block));
      break;
    case Operation::kReduce:
      if (rank_ == 0) put(0, count_, sum(0));
      break;
    case Operation::kBroadcast:
    case Operation::kReceive:
      put(0, count_, from(0, 0));
      break;
    case Operation::kScatter:
      put(0, count_, from(0, own_block));
      break;
    case Operation::kAllGather:
    case Operation::kGather:
    case Operation::kAllToAll: {
      if (call_.operation == Operation::kGather && rank_ != 0) break;
      const std::int64_t begin = call_.operation == Operation::kAllToAll ? own_block : 0;
      for (std::uint32_t r = 0; r < ranks_; ++r) put(r * count_, count_, from(r, begin));
      break;
    }
    case Operation::kAllGatherV:
      for (std::uint32_t r = 0; r < ranks_; ++r) put(offsets_[r], received_[r], from(r, 0));
      break;
    case Operation::kAllToAllV:
      for (std::uint32_t r = 0; r < ranks_; ++r) put(offsets_[r], received_[r], from(r, offsets_[rank_]));
      break;
    case Operation::kSend:
    case Operation::kBarrier:
      break;
  }
  return all;
}

bool SmallCall::right() const { return output_ == expected(); }

}  // namespace hocket::test
