// AstraGroups: which division of the ranks each collective of a text workload runs in. Tensor-parallel ranks are
// neighbours, data-parallel ones follow with the stride of the tensor groups, experts are neighbours among those, and
// stages of a pipeline are the outermost. Policies without such groups use all ranks, or the dimensions of the network.
// Ownership: collects the divisions it was asked for. Threading: one owner.
// Refuses: sizes that do not divide the ranks, words whose sizes the file does not state.
#pragma once

#include "exchange/astra_workload.h"

namespace hocket {

class AstraGroups {
 public:
  AstraGroups(const AstraWorkload& workload, std::string_view file_name, const RankLayout& layout)
      : workload_(workload), file_name_(file_name), layout_(layout) {}

  /// Unknown policies, sizes that do not fit the ranks.
  [[nodiscard]] Result<void> check() const;
  /// The number of the division for a collective of a pass under a policy; nothing when that policy sends nothing
  /// in that pass.
  [[nodiscard]] Result<std::optional<std::uint32_t>> division(const AstraRow& row, std::size_t pass,
                                                              std::string_view policy);
  [[nodiscard]] std::vector<RankDivision> take_divisions() { return std::move(divisions_); }
  [[nodiscard]] std::size_t group_size(std::uint32_t division) const {
    return divisions_[division].groups.front().size();
  }

 private:
  enum class Ranks : std::uint8_t { kAll, kTensor, kData, kExpert, kDataOfExperts, kFirstDimension, kOtherDimensions };

  [[nodiscard]] tl::unexpected<Error> unknown_policy(std::size_t line, std::string_view policy) const;
  [[nodiscard]] std::uint64_t key(const std::string& name) const;
  [[nodiscard]] std::uint64_t tensor() const { return key("model_parallel_NPU_group"); }
  [[nodiscard]] std::uint64_t data() const { return layout_.ranks / (tensor() * key("pp")); }
  [[nodiscard]] static std::optional<std::optional<Ranks>> usual(std::string_view policy, std::size_t pass);
  [[nodiscard]] Result<Ranks> named(const AstraRow& row, const AstraCollective& collective) const;
  std::uint32_t add(Ranks ranks);
  [[nodiscard]] std::uint64_t group_of(Ranks ranks, std::uint64_t rank) const;

  const AstraWorkload& workload_;
  std::string_view file_name_;
  const RankLayout& layout_;
  std::map<Ranks, std::uint32_t> known_;
  std::vector<RankDivision> divisions_;
};

}  // namespace hocket
