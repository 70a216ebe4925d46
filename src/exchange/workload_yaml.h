// hocket's own workload file: task graphs of all ranks as YAML that people can write (docs/workloads.md).
//   ranks: 2
//   programs: [{ranks: all, tasks: [{flops: 1e12, memory: 64MiB}, {all_reduce: 16MiB, group: tp, after: [0]}]}]
// `memory:` says what the rank holds that needs most. Tasks are numbered from 0 in their program. Reading is strict;
// what is written reads back as the same graph. Ownership: returns values. Threading: pure functions. Refuses: unknown
// and doubled keys, wrong units, ranks without a program or with two, unknown groups: with file, line, column and the
// values.
#pragma once

#include <string>
#include <string_view>

#include "exchange/imported_graph.h"

namespace hocket {

[[nodiscard]] bool looks_like_workload_yaml(std::string_view text);
[[nodiscard]] Result<TaskGraph> read_workload_yaml(std::string_view text, std::string_view file_name);
[[nodiscard]] Result<std::string> write_workload_yaml(const TaskGraph& graph);

}  // namespace hocket
