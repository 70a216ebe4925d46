// Chakra execution trace: nodes by type, collectives with their sizes, dependencies that lead nowhere.
#include <algorithm>
#include <map>
#include <set>

#include "exchange/chakra.h"
#include "exchange/file_kind.h"

namespace hocket {
namespace {

struct Amount {
  std::size_t count = 0;
  std::uint64_t least = UINT64_MAX, most = 0;
};

void describe_collectives(const ChakraTrace& trace, Examination& result) {
  std::map<std::string, Amount> amounts;
  std::size_t untyped = 0;
  for (const ChakraNode& node : trace.nodes) {
    if (node.type != ChakraNodeType::kCollective) continue;
    const ChakraAttribute* const type = node.attribute("comm_type");
    const ChakraAttribute* const size = node.attribute("comm_size");
    if (type == nullptr) {
      ++untyped;
      continue;
    }
    const std::string_view known = chakra_collective(type->value);
    Amount& amount = amounts[known.empty() ? fmt::format("comm_type {}", type->value) : std::string(known)];
    const std::uint64_t bytes = size == nullptr ? 0 : size->value;
    ++amount.count;
    amount.least = std::min(amount.least, bytes);
    amount.most = std::max(amount.most, bytes);
  }
  for (const auto& [name, amount] : amounts) {
    const std::string sizes = amount.least == amount.most ? fmt::format("{} B", amount.least)
                                                          : fmt::format("{} to {} B", amount.least, amount.most);
    result.contents.push_back(fmt::format("{} {}, comm_size {}", amount.count, name, sizes));
  }
  if (amounts.contains("all_gather")) {
    result.losses.assumed("comm_size", "an all_gather's size as one rank's share", "what ASTRA-sim means by it");
  }
  if (untyped > 0) {
    result.losses.ignored("", fmt::format("{} collective node(s) without comm_type", untyped),
                          "the host's side of a collective; the device's side counts");
  }
}

void check_dependencies(const ChakraTrace& trace, Examination& result) {
  std::set<std::uint64_t> ids;
  std::size_t repeated = 0, dangling = 0;
  for (const ChakraNode& node : trace.nodes) repeated += ids.insert(node.id).second ? 0 : 1;
  for (const ChakraNode& node : trace.nodes) {
    for (const auto* list : {&node.control_dependencies, &node.data_dependencies}) {
      for (const std::uint64_t id : *list) dangling += ids.contains(id) ? 0 : 1;
    }
  }
  if (repeated > 0) {
    result.losses.repaired("node ids", fmt::format("{} id(s) that stand twice", repeated), "the first one counts");
  }
  if (dangling > 0) {
    result.losses.repaired("dependencies", fmt::format("{} on nodes that are not in the file", dangling), "dropped");
  }
}

Result<Examination> examine(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const ChakraTrace trace, read_chakra(bytes, file_name));
  Examination result;
  result.contents.push_back(
      fmt::format("schema '{}', {} node(s), {} bytes", trace.version.substr(0, 40), trace.nodes.size(), bytes.size()));
  std::map<std::string_view, std::size_t> types;
  for (const ChakraNode& node : trace.nodes) ++types[name_of(node.type)];
  for (const auto& [type, count] : types) result.contents.push_back(fmt::format("{} {}", count, type));
  describe_collectives(trace, result);
  check_dependencies(trace, result);
  const std::string written = write_chakra(trace);
  HOCKET_TRY_ASSIGN(const ChakraTrace again, read_chakra(written, file_name));
  result.round_trip = again == trace ? RoundTrip::kSame : RoundTrip::kDiffers;
  result.round_trip_text =
      written == bytes ? "written byte for byte the same" : "written in canonical field order, read again";
  return result;
}

}  // namespace

extern const FileKind file_kind_chakra_et{
    .name = "chakra-et",
    .description = "a Chakra execution trace",
    .not_a_topology = "; it says what a rank does, not what joins the ranks",
    .recognise = looks_like_chakra,
    .examine = examine,
};

}  // namespace hocket
