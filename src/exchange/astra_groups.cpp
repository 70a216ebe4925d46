#include "exchange/astra_groups.h"

#include <numeric>

namespace hocket {
namespace {

constexpr std::size_t kWeights = 2;  // the pass of weight gradients

}  // namespace

std::uint64_t AstraGroups::key(const std::string& name) const {
  const auto found = workload_.keys.find(name);
  return found == workload_.keys.end() ? 1 : found->second;
}

tl::unexpected<Error> AstraGroups::unknown_policy(std::size_t line, std::string_view policy) const {
  return fail(Code::kUnsupported,
              "{}:{}: policy '{}' is unknown; known: DATA, MODEL, MICRO, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, "
              "HYBRID_TRANSFORMER, HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_DLRM, HYBRID_DLRM_ENHANCED, "
              "HYBRID_CUSTOMIZED, DISTRIBUTED_INFERENCE",
              file_name_, line, policy);
}

Result<void> AstraGroups::check() const {
  if (workload_.policy != "HYBRID_CUSTOMIZED" && !usual(workload_.policy, 0))
    return unknown_policy(1, workload_.policy);
  if (workload_.keys.contains("all_gpus") && key("all_gpus") != layout_.ranks) {
    return fail(Code::kMismatch, "{}:1: all_gpus {}, the platform has {} ranks", file_name_, key("all_gpus"),
                layout_.ranks);
  }
  for (const std::string name : {"model_parallel_NPU_group", "pp", "ep"}) {
    if (key(name) >= 1 && key(name) <= layout_.ranks) continue;
    return fail(Code::kMismatch, "{}:1: {} {} with {} ranks", file_name_, name, key(name), layout_.ranks);
  }
  if (layout_.ranks % (tensor() * key("pp")) != 0) {
    return fail(Code::kMismatch, "{}:1: model_parallel_NPU_group {} and pp {} do not divide {} ranks", file_name_,
                tensor(), key("pp"), layout_.ranks);
  }
  if (data() % key("ep") == 0) return {};
  return fail(Code::kMismatch, "{}:1: ep {} does not divide the {} ranks of a data-parallel group", file_name_,
              key("ep"), data());
}

/// Nothing for unknown policies; an empty inner value where the policy sends nothing in that pass.
std::optional<std::optional<AstraGroups::Ranks>> AstraGroups::usual(std::string_view policy, std::size_t pass) {
  using Meant = std::optional<Ranks>;
  const bool weights = pass == kWeights;
  if (policy == "DATA" || policy == "MICRO") return weights ? Meant(Ranks::kAll) : Meant();
  if (policy == "MODEL" || policy == "DISTRIBUTED_INFERENCE") return weights ? Meant() : Meant(Ranks::kAll);
  if (policy == "HYBRID_DLRM" || policy == "HYBRID_DLRM_ENHANCED") return Meant(Ranks::kAll);
  if (policy == "HYBRID_DATA_MODEL") return Meant(weights ? Ranks::kOtherDimensions : Ranks::kFirstDimension);
  if (policy == "HYBRID_MODEL_DATA") return Meant(weights ? Ranks::kFirstDimension : Ranks::kOtherDimensions);
  if (policy == "HYBRID_TRANSFORMER" || policy == "HYBRID_TRANSFORMER_FWD_IN_BCKWD")
    return Meant(weights ? Ranks::kData : Ranks::kTensor);
  return std::nullopt;
}

/// The group that a suffix names; the file must state its size.
Result<AstraGroups::Ranks> AstraGroups::named(const AstraRow& row, const AstraCollective& collective) const {
  const auto need = [&](std::string_view name) -> Result<void> {
    if (workload_.keys.contains(std::string(name))) return {};
    return fail(Code::kMalformed, "{}:{}: '{}' needs key '{}' on line 1", file_name_, row.line, collective.word, name);
  };
  switch (collective.group) {
    case AstraGroup::kExpert:
      HOCKET_TRY(need("ep"));
      return Ranks::kExpert;
    case AstraGroup::kDataOfExperts:
      HOCKET_TRY(need("ep"));
      return Ranks::kDataOfExperts;
    case AstraGroup::kTensor:
      HOCKET_TRY(need("model_parallel_NPU_group"));
      return Ranks::kTensor;
    case AstraGroup::kData:
      HOCKET_TRY(need("model_parallel_NPU_group"));
      return Ranks::kData;
    default:
      return fail(Code::kUnsupported, "{}:{}: '{}': collectives between stages of a pipeline are not simulated",
                  file_name_, row.line, collective.word);
  }
}

Result<std::optional<std::uint32_t>> AstraGroups::division(const AstraRow& row, std::size_t pass,
                                                           std::string_view policy) {
  const AstraCollective& collective = *row.passes[pass].collective;
  const auto meant = usual(policy, pass);
  if (!meant) return unknown_policy(row.line, policy);
  if (!*meant) return std::optional<std::uint32_t>();
  if (collective.group == AstraGroup::kUsual) return std::optional(add(**meant));
  HOCKET_TRY_ASSIGN(const Ranks ranks, named(row, collective));
  return std::optional(add(ranks));
}

/// Ranks with equal numbers are in one group.
std::uint64_t AstraGroups::group_of(Ranks ranks, std::uint64_t rank) const {
  const std::uint64_t stage = layout_.ranks / key("pp");
  const std::uint64_t in_data = rank % stage / tensor();  // place in the data-parallel group
  const std::uint64_t first = layout_.extents.empty() ? layout_.ranks : layout_.extents.front();
  switch (ranks) {
    case Ranks::kAll:
      return 0;
    case Ranks::kTensor:
      return rank / tensor();
    case Ranks::kData:
      return rank / stage * tensor() + rank % tensor();
    case Ranks::kExpert:
      return (rank / stage * tensor() + rank % tensor()) * data() + in_data / key("ep");
    case Ranks::kDataOfExperts:
      return (rank / stage * tensor() + rank % tensor()) * data() + in_data % key("ep");
    case Ranks::kFirstDimension:
      return rank / first;
    case Ranks::kOtherDimensions:
      return rank % first;
  }
  return 0;
}

std::uint32_t AstraGroups::add(Ranks ranks) {
  constexpr std::array<std::string_view, 7> kNames{"all", "tp", "dp", "ep", "dp_ep", "dimension 0", "other dimensions"};
  const auto found = known_.find(ranks);
  if (found != known_.end()) return found->second;
  RankDivision division{std::string(kNames[static_cast<std::size_t>(ranks)]), {}};
  std::map<std::uint64_t, std::size_t> places;
  for (std::uint32_t rank = 0; rank < layout_.ranks; ++rank) {
    const auto [at, is_new] = places.emplace(group_of(ranks, rank), division.groups.size());
    if (is_new) division.groups.emplace_back();
    division.groups[at->second].push_back(rank);
  }
  const auto number = static_cast<std::uint32_t>(divisions_.size());
  divisions_.push_back(std::move(division));
  known_.emplace(ranks, number);
  return number;
}

}  // namespace hocket
