#include "exchange/load_graph.h"

#include <filesystem>

#include "exchange/astra_workload.h"
#include "exchange/chakra_graph.h"
#include "exchange/file_kind.h"
#include "exchange/file_text.h"
#include "exchange/rank_files.h"
#include "exchange/text_place.h"
#include "exchange/workload_yaml.h"

namespace hocket {
namespace {

/// The name without its folders, for places in messages and tables.
std::string short_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<RankTrace> load_trace(const std::string& path, LossReport& losses) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kWorkloadBytesMax));
  losses.append(text.losses);
  if (looks_like_chakra_json(text.bytes)) {
    HOCKET_TRY_ASSIGN(ChakraTrace trace, read_chakra_json(text.bytes, path));
    return RankTrace{short_name(path), std::move(trace)};
  }
  if (!looks_like_chakra(text.bytes)) {
    const FileKind* const kind = recognise_kind(text.bytes);
    return fail(Code::kMalformed, "{}: {}, not a Chakra trace", path,
                kind != nullptr ? kind->description : "something else");
  }
  HOCKET_TRY_ASSIGN(ChakraTrace trace, read_chakra(text.bytes, path));
  return RankTrace{short_name(path), std::move(trace)};
}

Result<ImportedGraph> load_traces(const WorkloadFiles& files, const RankLayout& layout) {
  HOCKET_TRY_ASSIGN(const RankFiles found, rank_files(files.names, layout.ranks));
  ChakraReading reading{layout, {}, files.compute};
  std::string groups = files.groups;
  std::error_code error;
  if (groups.empty() && !found.prefix.empty() && std::filesystem::exists(found.prefix + ".groups.json", error))
    groups = found.prefix + ".groups.json";
  if (!groups.empty()) {
    HOCKET_TRY_ASSIGN(const FileText text, read_file_text(groups, kWorkloadBytesMax));
    HOCKET_TRY_ASSIGN(reading.groups, with_printable_error(read_chakra_groups(text.bytes, groups)));
  }
  LossReport losses;
  std::vector<RankTrace> traces;
  traces.reserve(found.paths.size());
  for (const std::string& path : found.paths) {
    HOCKET_TRY_ASSIGN(RankTrace trace, with_printable_error(load_trace(path, losses)));
    traces.push_back(std::move(trace));
  }
  HOCKET_TRY_ASSIGN(ImportedGraph imported, with_printable_error(graph_of(traces, reading)));
  if (!found.prefix.empty()) imported.graph.name = short_name(found.prefix);
  if (!groups.empty()) imported.counts.push_back(fmt::format("groups from {}", short_name(groups)));
  losses.append(imported.losses);
  imported.losses = std::move(losses);
  return imported;
}

Result<ImportedGraph> read_graph(const std::string& path, std::string_view bytes, const RankLayout& layout) {
  const FileKind* const kind = recognise_kind(bytes);
  const std::string name = short_name(path);
  if (kind != nullptr && kind->name == "simai-workload") {
    HOCKET_TRY_ASSIGN(const AstraWorkload workload, parse_astra_workload(bytes, name));
    return graph_of(workload, name, layout);
  }
  if (kind != nullptr && kind->name == "hocket-workload") {
    ImportedGraph imported;
    HOCKET_TRY_ASSIGN(imported.graph, read_workload_yaml(bytes, name));
    std::size_t tasks = 0;
    for (const TaskProgram& program : imported.graph.programs) tasks += program.tasks.size();
    imported.counts = {fmt::format("tasks: {} read, {} kept", tasks, tasks)};
    return imported;
  }
  if (kind != nullptr) return fail(Code::kMalformed, "{}: {}, not a workload", path, kind->description);
  return fail(Code::kMalformed, "{}: no workload of a format known; hocket doctor says what it is", path);
}

bool is_trace(std::string_view bytes) { return looks_like_chakra_json(bytes) || looks_like_chakra(bytes); }

}  // namespace

Result<ImportedGraph> load_graph(const WorkloadFiles& files, const RankLayout& layout) {
  if (files.chakra) return load_traces(files, layout);
  const std::string& path = files.names.front();
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kWorkloadBytesMax));
  if (is_trace(text.bytes)) return load_traces(files, layout);
  if (!files.groups.empty()) return fail(Code::kInvalidArgument, "--groups: {} is no Chakra trace", path);
  HOCKET_TRY_ASSIGN(ImportedGraph imported, with_printable_error(read_graph(path, text.bytes, layout)));
  LossReport losses = text.losses;
  losses.append(imported.losses);
  imported.losses = std::move(losses);
  return imported;
}

}  // namespace hocket
