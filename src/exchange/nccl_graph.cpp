#include "exchange/nccl_graph.h"

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "exchange/csv.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

constexpr std::size_t kGraphsMax = 64, kChannelsMax = 1024, kDevicesMax = 65'536, kAttributesMax = 64;

std::string line_of(std::string_view text, const pugi::xml_node& node) {
  const std::ptrdiff_t offset = node.offset_debug();
  return fmt::format("line {}", place_of(text, offset < 0 ? 0 : static_cast<std::size_t>(offset)).line);
}

std::string attribute_of(const NcclGraphs::Graph& graph, std::string_view name) {
  for (const auto& [key, value] : graph.attributes) {
    if (key == name) return value;
  }
  return "";
}

std::string_view purpose_of(const NcclGraphs::Graph& graph) {
  static const std::map<std::string, std::string_view, std::less<>> kPatterns{
      {"1", "balanced tree"}, {"2", "split tree"}, {"3", "tree"},
      {"4", "ring"},          {"5", "NVLS"},       {"6", "CollNet direct"}};
  const auto found = kPatterns.find(attribute_of(graph, "pattern"));
  return found == kPatterns.end() ? "unknown pattern" : found->second;
}

Result<std::vector<NcclGraphs::Device>> read_channel(const pugi::xml_node& channel, std::string_view text,
                                                     NcclGraphs& result, std::size_t& devices) {
  std::vector<NcclGraphs::Device> order;
  std::set<std::string> seen;
  for (const pugi::xml_node node : channel.children()) {
    if (node.type() != pugi::node_element) continue;
    const std::string_view name = node.name();
    if (name != "gpu" && name != "net") {
      result.losses.ignored(line_of(text, node), fmt::format("<{}>", name.substr(0, 40)), "neither gpu nor net");
      continue;
    }
    if (++devices > kDevicesMax) return fail(Code::kResourceExhausted, "more than {} devices", kDevicesMax);
    const std::string number(std::string_view(node.attribute("dev").value()).substr(0, 40));
    if (!whole_number(number)) {
      return fail(Code::kMalformed, "{}: dev '{}' of <{}> is not a number", line_of(text, node), number, name);
    }
    if (name == "gpu" && !seen.insert(number).second) {
      result.losses.assumed(line_of(text, node), fmt::format("GPU {} a second time in one channel", number),
                            "as the file has it");
    }
    order.push_back({name == "gpu", number});
  }
  return order;
}

}  // namespace

Result<NcclGraphs> read_nccl_graphs(std::string_view text, std::string_view file_name) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    const TextPlace place = place_of(text, parsed.offset < 0 ? 0 : static_cast<std::size_t>(parsed.offset));
    return fail(Code::kMalformed, "{}:{}:{}: XML is malformed: {}", file_name, place.line, place.column,
                parsed.description());
  }
  const pugi::xml_node root = document.child("graphs");
  if (!root) return fail(Code::kMalformed, "{}:1:1: no <graphs> element", file_name);
  NcclGraphs result;
  std::size_t devices = 0;
  for (const pugi::xml_node node : root.children("graph")) {
    if (result.graphs.size() == kGraphsMax)
      return fail(Code::kResourceExhausted, "{}: over {} graphs", file_name, kGraphsMax);
    NcclGraphs::Graph graph;
    for (const pugi::xml_attribute attribute : node.attributes()) {
      if (graph.attributes.size() == kAttributesMax) break;
      graph.attributes.emplace_back(std::string_view(attribute.name()).substr(0, 80),
                                    std::string_view(attribute.value()).substr(0, 80));
    }
    for (const pugi::xml_node channel : node.children("channel")) {
      if (graph.channels.size() == kChannelsMax) {
        return fail(Code::kResourceExhausted, "{}: over {} channels", file_name, kChannelsMax);
      }
      auto order = read_channel(channel, text, result, devices);
      if (!order) return fail(order.error().code, "{}: {}", file_name, order.error().text);
      graph.channels.push_back(std::move(*order));
    }
    const auto stated = whole_number(attribute_of(graph, "nchannels"));
    if (stated && *stated != graph.channels.size()) {
      result.losses.repaired(line_of(text, node), fmt::format("nchannels={}", *stated),
                             fmt::format("{} <channel> elements are there", graph.channels.size()));
    }
    result.graphs.push_back(std::move(graph));
  }
  return result;
}

std::string write_nccl_graphs(const NcclGraphs& graphs) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("graphs");
  root.append_attribute("version") = "1";
  for (const NcclGraphs::Graph& graph : graphs.graphs) {
    pugi::xml_node node = root.append_child("graph");
    for (const auto& [key, value] : graph.attributes) node.append_attribute(key.c_str()) = value.c_str();
    for (const auto& order : graph.channels) {
      pugi::xml_node channel = node.append_child("channel");
      for (const NcclGraphs::Device& device : order) {
        channel.append_child(device.is_gpu ? "gpu" : "net").append_attribute("dev") = device.number.c_str();
      }
    }
  }
  struct Sink : pugi::xml_writer {
    std::string out;
    void write(const void* bytes, std::size_t size) override { out.append(static_cast<const char*>(bytes), size); }
  } sink;
  document.save(sink, "  ", pugi::format_indent | pugi::format_no_declaration, pugi::encoding_utf8);
  return std::move(sink.out);
}

std::vector<std::string> describe(const NcclGraphs& graphs) {
  std::vector<std::string> lines;
  for (const NcclGraphs::Graph& graph : graphs.graphs) {
    const std::string inside = attribute_of(graph, "speedintra"), between = attribute_of(graph, "speedinter");
    lines.push_back(fmt::format("graph {} ({}): {} channel(s), {} GB/s inside a node, {} GB/s between nodes",
                                attribute_of(graph, "id"), purpose_of(graph), graph.channels.size(),
                                inside.empty() ? "?" : inside, between.empty() ? "?" : between));
    for (const auto& order : graph.channels) {
      std::vector<std::string> stops;
      stops.reserve(order.size());
      for (const NcclGraphs::Device& d : order)
        stops.push_back(fmt::format("{} {}", d.is_gpu ? "gpu" : "net", d.number));
      lines.push_back(fmt::format("  {}", fmt::join(stops, " > ")));
    }
  }
  return lines;
}

}  // namespace hocket
