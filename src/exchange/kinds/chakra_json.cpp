// The JSON twin of a Chakra trace, for `hocket doctor`.
#include <map>

#include "exchange/chakra_graph.h"
#include "exchange/file_kind.h"

namespace hocket {
namespace {

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const ChakraTrace trace, read_chakra_json(bytes, file_name));
  Examination result;
  result.contents.push_back(fmt::format("{} node(s)", trace.nodes.size()));
  std::map<std::string_view, std::size_t> types;
  for (const ChakraNode& node : trace.nodes) ++types[name_of(node.type)];
  for (const auto& [type, count] : types) result.contents.push_back(fmt::format("{} {}", count, type));
  result.round_trip_text = "written as protobuf, not as JSON";
  return result;
}

}  // namespace

extern const FileKind file_kind_chakra_json{
    .name = "chakra-json",
    .description = "a Chakra execution trace in JSON",
    .not_a_topology = "; it says what a rank does, not what joins the ranks",
    .recognise = looks_like_chakra_json,
    .examine = examine,
};

}  // namespace hocket
