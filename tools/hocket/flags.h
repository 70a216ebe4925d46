// Flags that several verbs share: the topology, and what to do on it.
// Ownership: a verb keeps them in a shared_ptr that its action captures. Threading: one owner.
// Refuses: unknown words and missing units, through the parsers of the library.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/collective.h"
#include "simulator/simulator.h"
#include "topology/topology.h"

namespace hocket {

struct TopologyFlags {
  std::string topology;
  std::vector<std::string> links;
  std::string uplink;
  std::vector<std::string> breaks;
  std::vector<std::string> scales;
  std::string group;
  bool direct_only = false;
  bool strict = false;

  /// With `positional`, the topology is the verb's first argument instead of --topo.
  void declare(CLI::App& app, bool positional, bool required);
  /// Everything but the topology itself: rates and changes.
  void declare_changes(CLI::App& app);
  [[nodiscard]] Result<Topology> load() const;
};

struct CollectiveFlags {
  std::string size = "64MiB";
  std::string type = "f32";
  std::string op = "sum";
  std::optional<std::uint32_t> root;  // 0 when not given

  void declare(CLI::App& app);
  /// The amount for `kind` on `ranks` ranks: --size bytes, cut down to whole elements (and whole blocks).
  [[nodiscard]] Result<BoundCollective> bind(CollectiveKind kind, std::uint32_t ranks) const;
  /// The same for the collective of a file, whose root --root may only repeat.
  [[nodiscard]] Result<BoundCollective> bind(const Collective& collective, const std::string& file) const;
  /// Says where --size was cut down; for verbs that have done their work: an error is the only line.
  void note_cut(const BoundCollective& what) const;
};

struct SimulationFlags {
  std::string model = "message";
  std::string segment;
  std::optional<std::string> payload;  // of packets only
  std::optional<std::string> head;
  std::string overhead = "0s";
  std::string copy_rate;
  std::string reduce_rate;
  bool store_and_forward = false;
  std::string inject = "ready";
  std::string flow_control = "packet";
  std::uint32_t interfaces = 0;

  void declare(CLI::App& app);
  [[nodiscard]] Result<SimulateOptions> options() const;
  /// 0 when not given.
  [[nodiscard]] Result<Bytes> segment_bytes() const;
};

/// --segment: 0 when not given, else an element of each of these types at least.
[[nodiscard]] Result<Bytes> parse_segment(const std::string& words, std::span<const DataType> types = {});

/// `text` in bold when stdout is a terminal that may be coloured (NO_COLOR unset), otherwise as it is.
[[nodiscard]] std::string emphasised(const std::string& text);

/// A document of the given verb with the keys every document has.
[[nodiscard]] nlohmann::ordered_json document(std::string_view verb);
/// Prints a document to stdout.
void print_json(const nlohmann::ordered_json& document);

}  // namespace hocket
