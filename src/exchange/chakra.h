// Chakra execution traces (.et): a sequence of length-prefixed protobuf messages, first the metadata, then the nodes.
// What is not known by name is kept as bytes, so that files in canonical field order come back byte for byte.
// Ownership: owns its bytes. Threading: plain values.
// Refuses: cut or damaged files with the byte where they break, more than 2^24 nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exchange/wire.h"

namespace hocket {

struct ChakraAttribute {
  std::string name, documentation;
  std::uint32_t field = 0;  // which member of the value: 7 int32, 9 int64, 13 uint64, 27 bool, 29 string ...; 0: none
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  // bits of a number
  std::string bytes;        // strings and lists
  bool operator==(const ChakraAttribute&) const = default;
};

enum class ChakraNodeType : std::uint8_t {
  kInvalid = 0,
  kMetadata = 1,
  kMemoryLoad = 2,
  kMemoryStore = 3,
  kCompute = 4,
  kSend = 5,
  kReceive = 6,
  kCollective = 7
};

[[nodiscard]] std::string_view name_of(ChakraNodeType type);

struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraNodeType type = ChakraNodeType::kInvalid;
  std::vector<std::uint64_t> control_dependencies, data_dependencies;
  std::uint64_t start_us = 0, duration_us = 0;
  std::vector<ChakraAttribute> attributes;
  std::string others;  // inputs, outputs and fields unknown here, as they stand
  bool operator==(const ChakraNode&) const = default;

  [[nodiscard]] const ChakraAttribute* attribute(std::string_view name) const;
};

struct ChakraTrace {
  std::string version;
  std::string metadata_others;
  std::vector<ChakraNode> nodes;
  bool operator==(const ChakraTrace&) const = default;
};

/// "all_reduce" for comm_type 0 ...; empty for unknown numbers.
[[nodiscard]] std::string_view chakra_collective(std::uint64_t comm_type);

[[nodiscard]] bool looks_like_chakra(std::string_view bytes);
[[nodiscard]] Result<ChakraTrace> read_chakra(std::string_view bytes, std::string_view file_name);
[[nodiscard]] std::string write_chakra(const ChakraTrace& trace);

}  // namespace hocket
