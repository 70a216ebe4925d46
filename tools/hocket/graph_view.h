// What `hocket sim FILE --platform P` does with a workload from a file: its task graph on a platform with each of the
// endpoints asked for, side by side, as text, JSON and a timeline, after what was read and what was lost of the file.
// Ownership: none. Threading: prints to stdout, one owner. Refuses: what load_platform(), load_graph() and
// simulate_graph() do, flags that only built-in workloads have.
#pragma once

#include <string>
#include <vector>

#include "exchange/imported_graph.h"
#include "step_view.h"

namespace hocket {

/// Where the work comes from and where else it goes.
struct GraphFlags {
  std::string file;                 // a workload, or
  std::vector<std::string> chakra;  // traces, or their prefix
  std::string groups;
  std::string copy;  // FILE.yaml, or the prefix of traces
  std::string timeline;
  bool json = false;

  void declare(CLI::App& app);
  /// The workload is in files, or a built-in one is to be written as such.
  [[nodiscard]] bool wanted() const;
  [[nodiscard]] bool is_file() const;
};

/// The workload as a task graph: from its file, or a built-in one spread over `layout.ranks`.
[[nodiscard]] Result<ImportedGraph> load_work(const GraphFlags& flags, const StepFlags& step, const Platform& platform,
                                              const RankLayout& layout);

/// `csv`: a file for every figure; empty: none. 1 when the workload says that it does not fit, otherwise 0.
[[nodiscard]] Result<int> simulate_file(const GraphFlags& flags, const StepFlags& step, const std::string& csv);

}  // namespace hocket
