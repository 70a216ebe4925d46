// SmallCall: one call of any operation on a few ranks, with buffers of its own and the result that is right: element i
// of rank r holds 100 r + i, the root is 0, messages go from rank 0 to rank 1. Tests change the call before they make
// it. Ownership: the buffers, so it stays where it is. Threading: one owner. Refuses: nothing.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hocket/communicator.h"

namespace hocket::test {

inline constexpr std::array kOperations{Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather,
                                        Operation::kBroadcast, Operation::kReduce,        Operation::kAllToAll,
                                        Operation::kGather,    Operation::kScatter,       Operation::kAllGatherV,
                                        Operation::kAllToAllV, Operation::kSend,          Operation::kReceive,
                                        Operation::kBarrier};

[[nodiscard]] std::string name_of(Operation operation);
/// Broadcast, reduce, gather, scatter.
[[nodiscard]] bool has_root(Operation operation);

class SmallCall {
 public:
  SmallCall(Operation operation, std::uint32_t rank, std::uint32_t ranks, std::int64_t count = 4);
  SmallCall(const SmallCall&) = delete;
  SmallCall& operator=(const SmallCall&) = delete;

  [[nodiscard]] Call& call() { return call_; }
  [[nodiscard]] std::vector<std::int64_t>& sent() { return sent_; }
  [[nodiscard]] std::vector<std::int64_t>& received() { return received_; }
  /// Send and receive: does this rank take part? On rank 0 it is the send, on rank 1 the receive.
  [[nodiscard]] bool takes_part() const;
  /// The output holds the result, and what is nobody's output is untouched.
  [[nodiscard]] bool right() const;

 private:
  [[nodiscard]] std::vector<float> expected() const;

  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::int64_t count_;
  Call call_;
  std::vector<std::int64_t> sent_;
  std::vector<std::int64_t> received_;
  std::vector<std::int64_t> offsets_;
  std::vector<float> input_;
  std::vector<float> output_;
};

}  // namespace hocket::test
