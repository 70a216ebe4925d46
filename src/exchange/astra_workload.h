// Text workloads of ASTRA-sim 1.0 and SimAI: a policy line with `key: value` pairs, a row count, rows of 12 fields.
//   name dep fwd_time fwd_comm fwd_size ig_time ig_comm ig_size wg_time wg_comm wg_size update_time
// Words of collectives carry the group they run in as a suffix (ALLGATHER_DP_EP); an unknown word is an error, never an
// all-reduce. HYBRID_CUSTOMIZED rows have a 13th field, the policy of the row. A row count that differs is a repair.
// Ownership: values own their text. Threading: pure functions. Refuses: malformed rows, unknown words and policies,
// sizes of groups that do not divide the ranks, another number of ranks than the file's: with file and line.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "exchange/imported_graph.h"

namespace hocket {

/// The group of ranks that a word names; kUsual: the one that the policy means.
enum class AstraGroup : std::uint8_t { kUsual, kTensor, kData, kExpert, kDataOfExperts, kPipeline };

struct AstraCollective {
  std::string word;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  AstraGroup group = AstraGroup::kUsual;
  std::uint64_t bytes = 0;
};

/// One pass of a layer: forward, input gradient, weight gradient.
struct AstraPass {
  std::uint64_t time_ns = 0;
  std::optional<AstraCollective> collective;  // nothing for NONE
};

struct AstraRow {
  std::size_t line = 0;
  std::string name;
  std::string dependency;
  std::array<AstraPass, 3> passes;
  std::uint64_t update_time = 0;
  std::string policy;  // of HYBRID_CUSTOMIZED
};

struct AstraWorkload {
  std::string policy;
  std::map<std::string, std::uint64_t> keys;  // of line 1, as numbers
  std::vector<std::uint64_t> checkpoints, checkpoint_initiates;
  std::vector<AstraRow> rows;
  LossReport losses;
};

[[nodiscard]] bool is_astra_policy(std::string_view word);
[[nodiscard]] Result<AstraWorkload> parse_astra_workload(std::string_view text, std::string_view file_name);

/// The training loop of the file's policy on these ranks.
[[nodiscard]] Result<ImportedGraph> graph_of(const AstraWorkload& workload, std::string_view file_name,
                                             const RankLayout& layout);

}  // namespace hocket
