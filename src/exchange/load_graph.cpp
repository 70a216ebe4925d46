#include "exchange/load_graph.h"

#include "exchange/astra_workload.h"
#include "exchange/file_kind.h"
#include "exchange/file_text.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

/// The name without its folders, for places in messages and tables.
std::string short_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<ImportedGraph> read_graph(const std::string& path, std::string_view bytes, const RankLayout& layout) {
  const FileKind* const kind = recognise_kind(bytes);
  const std::string name = short_name(path);
  if (kind != nullptr && kind->name == "simai-workload") {
    HOCKET_TRY_ASSIGN(const AstraWorkload workload, parse_astra_workload(bytes, name));
    return graph_of(workload, name, layout);
  }
  if (kind != nullptr) return fail(Code::kMalformed, "{}: {}, not a workload of one file", path, kind->description);
  return fail(Code::kMalformed, "{}: no workload of a format known; hocket doctor says what it is", path);
}

}  // namespace

Result<ImportedGraph> load_graph(const std::string& path, const RankLayout& layout) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kWorkloadBytesMax));
  HOCKET_TRY_ASSIGN(ImportedGraph imported, with_printable_error(read_graph(path, text.bytes, layout)));
  LossReport losses = text.losses;
  losses.append(imported.losses);
  imported.losses = std::move(losses);
  return imported;
}

}  // namespace hocket
