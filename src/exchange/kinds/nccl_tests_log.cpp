// What nccl-tests, rccl-tests and `hocket bench` print, or write with -J: measured times of a collective by size.
#include <algorithm>

#include "exchange/file_kind.h"
#include "exchange/nccl_log.h"

namespace hocket {
namespace {

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(NcclLog log, read_nccl_log(bytes, file_name));
  const auto [least, most] = std::minmax_element(log.times.begin(), log.times.end(),
                                                 [](const auto& a, const auto& b) { return a.size < b.size; });
  Examination result;
  result.contents.push_back(fmt::format("{} on {} ranks, {} rows of {} to {}", name_of(log.kind), log.ranks, log.rows,
                                        format_bytes(least->size), format_bytes(most->size)));
  result.losses = std::move(log.losses);
  result.round_trip_text = "read only";
  result.ranks = log.ranks;
  return result;
}

}  // namespace

extern const FileKind file_kind_nccl_tests_log{
    .name = "nccl-tests-log",
    .description = "a log of nccl-tests",
    .not_a_topology = "; `hocket info fit` takes a platform's network figures from it",
    .recognise = looks_like_nccl_log,
    .examine = examine,
};

}  // namespace hocket
