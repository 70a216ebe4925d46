#include "exchange/chakra.h"

#include <algorithm>
#include <array>

namespace hocket {
namespace {

constexpr std::size_t kNodesMax = std::size_t{1} << 24;

/// A varint field may come alone or packed in bytes.
Result<void> append_numbers(const WireField& field, std::vector<std::uint64_t>& numbers) {
  if (field.type == WireType::kVarint) {
    numbers.push_back(field.value);
    return {};
  }
  if (field.type != WireType::kBytes)
    return fail(Code::kMalformed, "byte {}: a dependency is no varint", field.bytes_at);
  WireReader packed(field.bytes, field.bytes_at);
  while (!packed.at_end()) {
    HOCKET_TRY_ASSIGN(const std::uint64_t number, packed.varint());
    numbers.push_back(number);
  }
  return {};
}

Result<ChakraAttribute> read_attribute(const WireField& outer) {
  if (outer.type != WireType::kBytes)
    return fail(Code::kMalformed, "byte {}: an attribute is no message", outer.bytes_at);
  WireReader reader(outer.bytes, outer.bytes_at);
  ChakraAttribute attribute;
  while (!reader.at_end()) {
    HOCKET_TRY_ASSIGN(const WireField field, reader.field());
    if (field.number == 1 && field.type == WireType::kBytes) {
      attribute.name = field.bytes;
    } else if (field.number == 2 && field.type == WireType::kBytes) {
      attribute.documentation = field.bytes;
    } else {
      attribute.field = field.number;
      attribute.type = field.type;
      attribute.value = field.value;
      attribute.bytes = field.bytes;
    }
  }
  return attribute;
}

Result<void> take_field(const WireField& field, ChakraNode& node) {
  const bool is_number = field.type == WireType::kVarint;
  if (field.number == 1 && is_number) {
    node.id = field.value;
  } else if (field.number == 2 && field.type == WireType::kBytes) {
    node.name = field.bytes;
  } else if (field.number == 3 && is_number) {
    if (field.value > 7) return fail(Code::kMalformed, "node {}: type {} is unknown", node.id, field.value);
    node.type = static_cast<ChakraNodeType>(field.value);
  } else if (field.number == 4) {
    return append_numbers(field, node.control_dependencies);
  } else if (field.number == 5) {
    return append_numbers(field, node.data_dependencies);
  } else if (field.number == 6 && is_number) {
    node.start_us = field.value;
  } else if (field.number == 7 && is_number) {
    node.duration_us = field.value;
  } else if (field.number == 10) {
    HOCKET_TRY_ASSIGN(ChakraAttribute attribute, read_attribute(field));
    node.attributes.push_back(std::move(attribute));
  } else {
    node.others += field.raw;
  }
  return {};
}

Result<ChakraTrace> read_trace(std::string_view bytes) {
  WireReader file(bytes);
  ChakraTrace trace;
  HOCKET_TRY_ASSIGN(WireReader metadata, file.message());
  while (!metadata.at_end()) {
    HOCKET_TRY_ASSIGN(const WireField field, metadata.field());
    if (field.number == 1 && field.type == WireType::kBytes) {
      trace.version = field.bytes;
    } else {
      trace.metadata_others += field.raw;
    }
  }
  while (!file.at_end()) {
    HOCKET_TRY_ASSIGN(WireReader message, file.message());
    if (trace.nodes.size() == kNodesMax) return fail(Code::kResourceExhausted, "more than {} nodes", kNodesMax);
    ChakraNode node;
    while (!message.at_end()) {
      HOCKET_TRY_ASSIGN(const WireField field, message.field());
      HOCKET_TRY(take_field(field, node));
    }
    trace.nodes.push_back(std::move(node));
  }
  return trace;
}

void append_number(std::string& out, std::uint32_t number, std::uint64_t value) {
  if (value == 0) return;
  append_tag(out, number, WireType::kVarint);
  append_varint(out, value);
}

void append_packed(std::string& out, std::uint32_t number, const std::vector<std::uint64_t>& values) {
  if (values.empty()) return;
  std::string packed;
  for (const std::uint64_t value : values) append_varint(packed, value);
  append_bytes(out, number, packed);
}

std::string attribute_text(const ChakraAttribute& attribute) {
  std::string out;
  if (!attribute.name.empty()) append_bytes(out, 1, attribute.name);
  if (!attribute.documentation.empty()) append_bytes(out, 2, attribute.documentation);
  if (attribute.field == 0) return out;
  if (attribute.type == WireType::kBytes) {
    append_bytes(out, attribute.field, attribute.bytes);
    return out;
  }
  append_tag(out, attribute.field, attribute.type);
  if (attribute.type == WireType::kVarint) {
    append_varint(out, attribute.value);
    return out;
  }
  const unsigned width = attribute.type == WireType::kFixed64 ? 8 : 4;
  for (unsigned i = 0; i < width; ++i) out += static_cast<char>(attribute.value >> (8 * i));
  return out;
}

std::string node_text(const ChakraNode& node) {
  std::string out;
  append_number(out, 1, node.id);
  if (!node.name.empty()) append_bytes(out, 2, node.name);
  append_number(out, 3, static_cast<std::uint64_t>(node.type));
  append_packed(out, 4, node.control_dependencies);
  append_packed(out, 5, node.data_dependencies);
  append_number(out, 6, node.start_us);
  append_number(out, 7, node.duration_us);
  out += node.others;
  for (const ChakraAttribute& attribute : node.attributes) append_bytes(out, 10, attribute_text(attribute));
  return out;
}

bool is_version(std::string_view text) {
  return !text.empty() && text.size() < 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
  });
}

}  // namespace

std::string_view name_of(ChakraNodeType type) {
  constexpr std::array<std::string_view, 8> kNames{"invalid", "metadata", "memory load", "memory store",
                                                   "compute", "send",     "receive",     "collective"};
  return kNames[static_cast<std::size_t>(type) % kNames.size()];
}

std::string_view chakra_collective(std::uint64_t comm_type) {
  constexpr std::array<std::string_view, 10> kNames{
      "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
      "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};
  return comm_type < kNames.size() ? kNames[comm_type] : std::string_view();
}

const ChakraAttribute* ChakraNode::attribute(std::string_view wanted) const {
  for (const ChakraAttribute& a : attributes) {
    if (a.name == wanted) return &a;
  }
  return nullptr;
}

bool looks_like_chakra(std::string_view bytes) {
  WireReader file(bytes);
  auto metadata = file.message();
  if (!metadata) return false;
  bool has_version = false;
  while (!metadata->at_end()) {
    const auto field = metadata->field();
    if (!field || field->number > 2 || field->type != WireType::kBytes) return false;
    has_version = has_version || (field->number == 1 && is_version(field->bytes));
  }
  if (has_version) return true;
  auto node = file.message();
  if (!node || node->at_end()) return false;
  bool has_type = false;
  while (!node->at_end()) {
    const auto field = node->field();
    if (!field || field->number > 10) return false;
    has_type = has_type || (field->number == 3 && field->value >= 1 && field->value <= 7);
  }
  return has_type;
}

Result<ChakraTrace> read_chakra(std::string_view bytes, std::string_view file_name) {
  auto trace = read_trace(bytes);
  if (!trace) return fail(trace.error().code, "{}: {}", file_name, trace.error().text);
  return trace;
}

std::string write_chakra(const ChakraTrace& trace) {
  std::string metadata;
  if (!trace.version.empty()) append_bytes(metadata, 1, trace.version);
  metadata += trace.metadata_others;
  std::string out;
  append_varint(out, metadata.size());
  out += metadata;
  for (const ChakraNode& node : trace.nodes) {
    const std::string text = node_text(node);
    append_varint(out, text.size());
    out += text;
  }
  return out;
}

}  // namespace hocket
