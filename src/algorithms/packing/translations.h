// Translations: the symmetry of tori, rings, hypercubes and complete graphs. Vertices are sums of steps along the
// extents; shifting all of them by any vertex maps every link onto one of the same rate. Links then fall into classes,
// one for each link that leaves vertex 0, and a tree planned for one root serves every root by being shifted.
// Ownership: keeps link numbers of the topology, not the topology. Threading: immutable. Refuses: of() gives nothing
// for networks with switches, grids with borders, damaged or uneven ones: every link is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/topology.h"

namespace hocket {

class Translations {
 public:
  [[nodiscard]] static std::optional<Translations> of(const Topology& topology);

  [[nodiscard]] std::uint32_t vertices() const { return vertices_; }
  [[nodiscard]] std::span<const std::uint32_t> extents() const { return extents_; }
  [[nodiscard]] std::uint32_t classes() const { return static_cast<std::uint32_t>(offsets_.size()); }

  /// Vertex `a` shifted by `b`.
  [[nodiscard]] std::uint32_t sum(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::uint32_t negative(std::uint32_t a) const;

  [[nodiscard]] LinkId link(std::uint32_t vertex, std::uint32_t cls) const { return links_[vertex * classes() + cls]; }
  [[nodiscard]] std::uint32_t head(std::uint32_t vertex, std::uint32_t cls) const { return sum(vertex, offsets_[cls]); }
  [[nodiscard]] std::uint32_t tail(std::uint32_t vertex, std::uint32_t cls) const {
    return sum(vertex, negative(offsets_[cls]));
  }
  [[nodiscard]] double bandwidth(std::uint32_t cls) const { return bandwidths_[cls]; }
  /// The class of the other direction of the same cable.
  [[nodiscard]] std::uint32_t twin(std::uint32_t cls) const { return twins_[cls]; }

 private:
  Translations() = default;
  [[nodiscard]] bool pair_classes();

  std::uint32_t vertices_ = 0;
  std::vector<std::uint32_t> extents_;
  std::vector<std::uint32_t> offsets_;  // per class
  std::vector<std::uint32_t> twins_;
  std::vector<double> bandwidths_;
  std::vector<LinkId> links_;  // vertex * classes + class
};

}  // namespace hocket
