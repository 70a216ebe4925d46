// Topology: vertices and directed links of a network, immutable once built.
// The builder is the only way to make one; it validates (units present, no self link, connected or islands named).
// Parallel links between the same vertices stay separate links. Ranks are the participating npu vertices, in order.
// Threading: immutable, share freely. Refuses: dangling ends, rates that are not positive and finite, > 2^24 links.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/units.h"

namespace hocket {

enum class VertexKind : std::uint8_t { kNpu, kSwitch, kHost, kNic };

[[nodiscard]] std::string_view name_of(VertexKind kind);

using VertexId = std::uint32_t;
using LinkId = std::uint32_t;

inline constexpr std::uint64_t kLinksMax = std::uint64_t{1} << 24;

struct Vertex {
  std::string name;
  VertexKind kind = VertexKind::kNpu;
  std::vector<std::int32_t> coordinates;  // position in the family (torus: one per dimension); may be empty
};

/// One direction of a cable. A full-duplex cable is two links.
struct Link {
  VertexId from = 0;
  VertexId to = 0;
  BytesPerSecond bandwidth;
  Seconds latency;
};

class Topology {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<const Vertex> vertices() const { return vertices_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  [[nodiscard]] const Link& link(LinkId id) const { return links_[id]; }

  /// Links leaving / entering a vertex, ascending by id.
  [[nodiscard]] std::span<const LinkId> outgoing(VertexId v) const { return slice(out_begin_, out_, v); }
  [[nodiscard]] std::span<const LinkId> incoming(VertexId v) const { return slice(in_begin_, in_, v); }

  /// Participating npus: rank r lives on vertex ranks()[r].
  [[nodiscard]] std::uint32_t rank_count() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] std::span<const VertexId> ranks() const { return ranks_; }
  [[nodiscard]] VertexId vertex_of(std::uint32_t rank) const { return ranks_[rank]; }
  /// Rank of a vertex, or -1 for switches and npus that do not take part.
  [[nodiscard]] std::int32_t rank_of(VertexId v) const { return rank_of_[v]; }

  /// Logical extents of a regular family, innermost (fastest) first: torus 4x8 -> {4, 8}; boxes 4 of 8 -> {8, 4}. Ranks
  /// are numbered with dimension 0 fastest. Empty when the topology has no such structure.
  [[nodiscard]] std::span<const std::uint32_t> extents() const { return extents_; }
  /// Family word that made it ("torus", "boxes", "file" ...).
  [[nodiscard]] const std::string& family() const { return family_; }
  /// Things the reader should know: units assumed, repairs, what the file lacked.
  [[nodiscard]] std::span<const std::string> notes() const { return notes_; }

  /// True when every link has a twin in the other direction with equal total bandwidth between the two vertices.
  [[nodiscard]] bool symmetric() const { return symmetric_; }
  [[nodiscard]] bool has_switches() const { return has_switches_; }
  [[nodiscard]] Fingerprint fingerprint() const;
  /// "npu 3 -> switch leaf0 (link 17)".
  [[nodiscard]] std::string describe_link(LinkId id) const;

 private:
  friend class TopologyBuilder;
  friend Topology with_note(Topology topology, std::string note);
  [[nodiscard]] static std::span<const LinkId> slice(const std::vector<std::uint32_t>& begin,
                                                     const std::vector<LinkId>& all, VertexId v) {
    return std::span<const LinkId>(all).subspan(begin[v], begin[v + 1] - begin[v]);
  }

  std::string name_;
  std::string family_;
  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<VertexId> ranks_;
  std::vector<std::int32_t> rank_of_;
  std::vector<std::uint32_t> extents_;
  std::vector<std::string> notes_;
  std::vector<std::uint32_t> out_begin_, in_begin_;
  std::vector<LinkId> out_, in_;
  bool symmetric_ = false;
  bool has_switches_ = false;
};

class TopologyBuilder {
 public:
  explicit TopologyBuilder(std::string name, std::string family = "file");

  VertexId add_vertex(std::string name, VertexKind kind, std::vector<std::int32_t> coordinates = {});
  /// One directed link. Self links are recorded as a note and ignored.
  void add_link(VertexId from, VertexId to, BytesPerSecond bandwidth, Seconds latency);
  /// Two links, one each way.
  void add_cable(VertexId a, VertexId b, BytesPerSecond bandwidth, Seconds latency);
  void set_extents(std::vector<std::uint32_t> extents) { extents_ = std::move(extents); }
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  /// Restricts the ranks to these vertices (a sub-group), in this order. Default: every npu in order of addition.
  void set_ranks(std::vector<VertexId> ranks) { ranks_ = std::move(ranks); }

  [[nodiscard]] std::size_t vertex_count() const { return vertices_.size(); }
  [[nodiscard]] std::span<const Vertex> vertices() const { return vertices_; }

  /// Validates and builds. Disconnected ranks are an error that lists the islands.
  [[nodiscard]] Result<Topology> build() &&;

 private:
  std::string name_, family_;
  std::vector<Vertex> vertices_;
  std::vector<Link> links_;
  std::vector<VertexId> ranks_;
  std::vector<std::uint32_t> extents_;
  std::vector<std::string> notes_;
};

/// Same graph with other ranks (a sub-group of npus) taking part.
[[nodiscard]] Result<Topology> with_ranks(const Topology& topology, std::span<const VertexId> ranks);

/// Same topology with one more note.
[[nodiscard]] Topology with_note(Topology topology, std::string note);

/// The groups of ranks that can reach one another in both directions; one group when connected.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> islands(const Topology& topology);

}  // namespace hocket
