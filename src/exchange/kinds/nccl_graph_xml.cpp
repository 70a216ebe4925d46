// NCCL graph XML (NCCL_GRAPH_DUMP_FILE): the rings and trees NCCL chose. Described, and written back for
// NCCL_GRAPH_FILE. Inside one machine exchange/schedule/nccl_graph_xml.cpp makes a schedule of them; how those of
// several machines join is decided when NCCL runs.
#include "exchange/file_kind.h"
#include "exchange/nccl_graph.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

bool recognise(std::string_view bytes) { return root_element(bytes) == "graphs"; }

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const NcclGraphs graphs, read_nccl_graphs(bytes, file_name));
  Examination result;
  result.contents = describe(graphs);
  result.losses = graphs.losses;
  result.losses.assumed("", "speeds in decimal GB/s", "what NCCL writes");
  HOCKET_TRY_ASSIGN(const NcclGraphs again, read_nccl_graphs(write_nccl_graphs(graphs), file_name));
  result.round_trip = again.graphs == graphs.graphs ? RoundTrip::kSame : RoundTrip::kDiffers;
  result.round_trip_text = "written as NCCL graph XML and read again: attributes, channels, order of devices";
  return result;
}

}  // namespace

extern const FileKind file_kind_nccl_graph_xml{
    .name = "nccl-graph-xml",
    .description = "an NCCL graph XML (channels NCCL found)",
    .not_a_topology = "; the topology is what NCCL_TOPO_DUMP_FILE writes",
    .recognise = recognise,
    .examine = examine,
};

}  // namespace hocket
