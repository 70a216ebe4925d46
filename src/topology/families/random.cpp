// random:N,d,seed : a connected random d-regular graph of N npus without parallel cables. It starts as a circulant
// graph and swaps the ends of randomly chosen pairs of cables; then swaps between components until one is left. The
// same numbers give the same graph on every machine. Refuses: d >= N, N*d odd, d = 1 with more than two npus.
#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_set>

#include "base/random.h"
#include "topology/family.h"
#include "topology/grid.h"

namespace hocket {
namespace {

constexpr std::uint64_t kCablesMax = std::uint64_t{1} << 21;
constexpr int kJoinAttemptsMax = 10'000;

struct Sizes {
  std::uint32_t npus, degree;
  std::uint64_t seed;
};

class RegularGraph {
 public:
  using Edge = std::pair<VertexId, VertexId>;

  explicit RegularGraph(const Sizes& sizes) : npus_(sizes.npus), random_(sizes.seed) {
    for (std::uint32_t offset = 1; offset <= sizes.degree / 2; ++offset) {
      for (VertexId v = 0; v < npus_; ++v) add(v, (v + offset) % npus_);
    }
    for (VertexId v = 0; sizes.degree % 2 != 0 && v < npus_ / 2; ++v) add(v, v + npus_ / 2);
    const std::vector<Edge> circulant = edges_;
    for (std::size_t i = 0; i < 10 * edges_.size(); ++i) swap(pick(), pick(), random_.chance(0.5));
    if (!join()) edges_ = circulant;
    std::sort(edges_.begin(), edges_.end());
  }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

 private:
  static std::uint64_t key(VertexId a, VertexId b) { return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b); }
  std::size_t pick() { return random_.below(edges_.size()); }

  void add(VertexId a, VertexId b) {
    edges_.emplace_back(std::min(a, b), std::max(a, b));
    present_.insert(key(a, b));
  }

  /// Replaces a-b, c-d by a-c, b-d (crossed: a-d, b-c) unless that makes a self link or a parallel cable.
  void swap(std::size_t first, std::size_t second, bool crossed) {
    const auto [a, b] = edges_[first];
    auto [c, d] = edges_[second];
    if (crossed) std::swap(c, d);
    if (first == second || a == c || b == d || present_.contains(key(a, c)) || present_.contains(key(b, d))) return;
    present_.erase(key(a, b));
    present_.erase(key(c, d));
    edges_[first] = {std::min(a, c), std::max(a, c)};
    edges_[second] = {std::min(b, d), std::max(b, d)};
    present_.insert(key(a, c));
    present_.insert(key(b, d));
  }

  [[nodiscard]] std::vector<VertexId> components() const {
    std::vector<VertexId> parent(npus_);
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](VertexId v) {
      while (parent[v] != v) v = parent[v] = parent[parent[v]];
      return v;
    };
    for (const auto& [a, b] : edges_) parent[std::max(find(a), find(b))] = std::min(find(a), find(b));
    for (VertexId v = 0; v < npus_; ++v) parent[v] = find(v);
    return parent;
  }

  bool join() {
    for (int attempt = 0; attempt < kJoinAttemptsMax; ++attempt) {
      const std::vector<VertexId> component = components();
      std::vector<std::size_t> outside, inside;
      for (std::size_t e = 0; e < edges_.size(); ++e) (component[edges_[e].first] == 0 ? inside : outside).push_back(e);
      if (outside.empty()) return true;
      swap(inside[random_.below(inside.size())], outside[random_.below(outside.size())], random_.chance(0.5));
    }
    return false;
  }

  VertexId npus_;
  Random random_;
  std::vector<Edge> edges_;
  std::unordered_set<std::uint64_t> present_;  // membership only, never walked
};

Result<Sizes> parse(const FamilyRequest& request) {
  const auto comma = std::min(request.arguments.rfind(','), request.arguments.size());
  HOCKET_TRY_ASSIGN(const std::vector<std::uint32_t> sizes,
                    parse_extents(request.arguments.substr(0, comma), ',', request.spec));
  std::uint64_t seed = 0;
  const std::string_view word = request.arguments.substr(std::min(comma + 1, request.arguments.size()));
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), seed);
  if (sizes.size() != 2 || error != std::errc{} || stop != word.data() + word.size()) {
    return fail(Code::kInvalidArgument, "topology '{}': wanted random:N,d,seed with three whole numbers", request.spec);
  }
  const std::uint64_t npus = sizes[0], degree = sizes[1];
  if (degree >= npus) {
    return fail(Code::kInvalidArgument, "topology '{}': {} cables per npu need more than {} npus", request.spec, degree,
                npus);
  }
  if (npus * degree % 2 != 0) {
    return fail(Code::kInvalidArgument, "topology '{}': {} npus with {} cables each leave half a cable", request.spec,
                npus, degree);
  }
  if (degree == 1 && npus > 2) {
    return fail(Code::kInvalidArgument, "topology '{}': one cable per npu cannot join {} npus", request.spec, npus);
  }
  if (npus * degree / 2 > kCablesMax) {
    return fail(Code::kInvalidArgument, "topology '{}' has more than {} cables", request.spec, kCablesMax);
  }
  return Sizes{sizes[0], sizes[1], seed};
}

Result<Topology> build(const FamilyRequest& request) {
  HOCKET_TRY_ASSIGN(const Sizes sizes, parse(request));
  TopologyBuilder builder{std::string(request.spec), "random"};
  for (std::uint32_t i = 0; i < sizes.npus; ++i) builder.add_vertex(fmt::format("{}", i), VertexKind::kNpu);
  const RegularGraph graph(sizes);
  for (const auto& [a, b] : graph.edges())
    builder.add_cable(a, b, request.links[0].bandwidth, request.links[0].latency);
  return std::move(builder).build();
}

}  // namespace

extern const TopologyFamily family_random{
    .name = "random",
    .grammar = "random:N,d,seed",
    .description = "connected random graph of N npus with d cables each",
    .example = "random:16,4,1",
    .build = build,
};

}  // namespace hocket
