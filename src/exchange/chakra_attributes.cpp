#include "exchange/chakra_attributes.h"

namespace hocket {
namespace {

constexpr std::uint32_t kInt32 = 7;
constexpr std::uint32_t kInt64 = 9;
constexpr std::uint32_t kUint64 = 13;
constexpr std::uint32_t kBool = 27;
constexpr std::uint32_t kBoolList = 28;
constexpr std::uint32_t kString = 29;

/// Varint members: int32, int64, uint32, uint64, sint, bool, in the order of the schema.
bool is_number(const ChakraAttribute& a) { return a.type == WireType::kVarint; }

tl::unexpected<Error> wrong_type(const ChakraNode& node, std::string_view name, std::string_view wanted) {
  return fail(Code::kMalformed, "node {}: attribute '{}' is no {}", node.id, name, wanted);
}

}  // namespace

Result<std::optional<std::uint64_t>> chakra_number(const ChakraNode& node, std::string_view name) {
  const ChakraAttribute* const a = node.attribute(name);
  if (a == nullptr) return std::optional<std::uint64_t>();
  // A member that has its default value may be left out.
  if (a->field == 0) return std::optional<std::uint64_t>(0);
  if (!is_number(*a) && a->type != WireType::kFixed64 && a->type != WireType::kFixed32)
    return wrong_type(node, name, "whole number");
  if (a->field < kInt32) return wrong_type(node, name, "whole number");  // double and float
  return std::optional(a->value);
}

Result<std::optional<std::string>> chakra_text(const ChakraNode& node, std::string_view name) {
  const ChakraAttribute* const a = node.attribute(name);
  if (a == nullptr) return std::optional<std::string>();
  if (is_number(*a) && a->field != 0) return std::optional(fmt::format("{}", a->value));
  if (a->field != kString && a->field != 0) return wrong_type(node, name, "text");
  return std::optional(a->bytes);
}

Result<std::optional<std::vector<bool>>> chakra_flags(const ChakraNode& node, std::string_view name) {
  const ChakraAttribute* const a = node.attribute(name);
  if (a == nullptr) return std::optional<std::vector<bool>>();
  if (a->field != kBoolList || a->type != WireType::kBytes) return wrong_type(node, name, "list of yes and no");
  std::vector<bool> flags;
  WireReader list(a->bytes);
  while (!list.at_end()) {
    const auto field = list.field();
    if (!field) return fail(Code::kMalformed, "node {}: attribute '{}': {}", node.id, name, field.error().text);
    if (field->number != 1) continue;
    if (field->type == WireType::kVarint) {
      flags.push_back(field->value != 0);
      continue;
    }
    for (const char c : field->bytes) flags.push_back(c != 0);
  }
  return std::optional(std::move(flags));
}

ChakraAttribute chakra_int64(std::string name, std::uint64_t value) {
  return {std::move(name), {}, kInt64, WireType::kVarint, value, {}};
}
ChakraAttribute chakra_int32(std::string name, std::uint64_t value) {
  return {std::move(name), {}, kInt32, WireType::kVarint, value, {}};
}
ChakraAttribute chakra_uint64(std::string name, std::uint64_t value) {
  return {std::move(name), {}, kUint64, WireType::kVarint, value, {}};
}
ChakraAttribute chakra_bool(std::string name, bool value) {
  return {std::move(name), {}, kBool, WireType::kVarint, value ? 1U : 0U, {}};
}
ChakraAttribute chakra_string(std::string name, std::string value) {
  return {std::move(name), {}, kString, WireType::kBytes, 0, std::move(value)};
}

}  // namespace hocket
