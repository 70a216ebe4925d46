// Beside the traces themselves: the groups file and the feeder's JSON twin of a trace.
#include <algorithm>

#include "exchange/chakra_attributes.h"
#include "exchange/chakra_graph.h"
#include "exchange/json_text.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kRankMax = std::uint64_t{1} << 22;

Result<std::uint64_t> json_number(const Json& value, std::string_view where, std::string_view key) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_boolean()) return value.get<bool>() ? 1U : 0U;
  return fail(Code::kMalformed, "{}: key '{}' is no whole number from 0", where, key);
}

Result<void> add_dependencies(const Json& value, std::string_view where, std::string_view key,
                              std::vector<std::uint64_t>& list) {
  if (!value.is_array()) return fail(Code::kMalformed, "{}: key '{}' is no list", where, key);
  for (const Json& id : value) {
    HOCKET_TRY_ASSIGN(const std::uint64_t number, json_number(id, where, key));
    list.push_back(number);
  }
  return {};
}

Result<void> take_key(const std::string& key, const Json& value, std::string_view where, ChakraNode& node) {
  if (key == "ctrlDeps" || key == "ctrl_deps") return add_dependencies(value, where, key, node.control_dependencies);
  if (key == "data_deps" || key == "dataDeps") return add_dependencies(value, where, key, node.data_dependencies);
  if (key == "Name" || key == "name" || key == "pg_name") {
    if (!value.is_string()) return fail(Code::kMalformed, "{}: key '{}' is no text", where, key);
    if (key == "pg_name") {
      node.attributes.push_back(chakra_string(key, value.get<std::string>()));
    } else {
      node.name = value.get<std::string>();
    }
    return {};
  }
  const bool known = key == "Id" || key == "id" || key == "NodeType" || key == "runtime" || key == "is_cpu_op" ||
                     key == "num_ops" || key == "tensor_size" || key.starts_with("comm_");
  if (!known) return {};
  HOCKET_TRY_ASSIGN(const std::uint64_t number, json_number(value, where, key));
  if (key == "Id" || key == "id") {
    node.id = number;
  } else if (key == "runtime") {
    node.duration_us = number;
  } else if (key == "NodeType") {
    if (number > 7) return fail(Code::kMalformed, "{}: NodeType {} is unknown", where, number);
    node.type = static_cast<ChakraNodeType>(number);
  } else {
    node.attributes.push_back(chakra_uint64(key, number));
  }
  return {};
}

}  // namespace

bool looks_like_chakra_json(std::string_view text) { return has_json_key(text, "workload_graph"); }

Result<ChakraTrace> read_chakra_json(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const Json root, parse_json(text, file_name, std::size_t{256} << 20));
  const auto graph = root.is_object() ? root.find("workload_graph") : root.end();
  if (!root.is_object() || graph == root.end() || !graph->is_array())
    return fail(Code::kMalformed, "{}: no list 'workload_graph'", file_name);
  ChakraTrace trace{.version = "json", .metadata_others = {}, .nodes = {}};
  trace.nodes.reserve(graph->size());
  for (const Json& entry : *graph) {
    const std::string where = fmt::format("{}: node number {}", file_name, trace.nodes.size());
    if (!entry.is_object()) return fail(Code::kMalformed, "{}: not an object", where);
    ChakraNode node;
    for (const auto& item : entry.items()) HOCKET_TRY(take_key(item.key(), item.value(), where, node));
    trace.nodes.push_back(std::move(node));
  }
  return trace;
}

Result<ChakraGroups> read_chakra_groups(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const Json root, parse_json(text, file_name));
  if (!root.is_object()) return fail(Code::kMalformed, "{}: not an object of lists of ranks", file_name);
  ChakraGroups groups;
  for (const auto& item : root.items()) {
    const std::string where = fmt::format("{}: group '{}'", file_name, printable(item.key().substr(0, 80)));
    if (!item.value().is_array() || item.value().empty())
      return fail(Code::kMalformed, "{}: not a list of ranks", where);
    std::vector<std::uint32_t>& ranks = groups[item.key()];
    for (const Json& entry : item.value()) {
      HOCKET_TRY_ASSIGN(const std::uint64_t rank, json_number(entry, where, "rank"));
      if (rank > kRankMax) return fail(Code::kMalformed, "{}: rank {}, at most {}", where, rank, kRankMax);
      ranks.push_back(static_cast<std::uint32_t>(rank));
    }
    std::sort(ranks.begin(), ranks.end());
    const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
    if (twice != ranks.end()) return fail(Code::kMalformed, "{}: rank {} stands twice", where, *twice);
  }
  return groups;
}

}  // namespace hocket
