#include "algorithms/packing/symmetric_rings.h"

#include <algorithm>

namespace hocket {
namespace {

constexpr std::uint32_t kNoClass = UINT32_MAX;

struct Dimension {
  std::uint32_t extent = 0;
  std::uint32_t forward = kNoClass;  // the class that leads to the next coordinate
  std::uint32_t backward = kNoClass;
};

Result<std::vector<Dimension>> dimensions_of(const Translations& t) {
  std::vector<Dimension> dimensions;
  std::uint32_t stride = 1;
  for (const std::uint32_t extent : t.extents()) {
    Dimension d{.extent = extent};
    for (std::uint32_t c = t.classes(); c-- > 0;) {
      if (t.head(0, c) == stride) d.forward = c;
      if (t.head(0, c) == (extent - 1) * stride) d.backward = c;
    }
    stride *= extent;
    if (extent == 1) continue;
    if (d.forward == kNoClass || d.backward == kNoClass)
      return fail(Code::kUnsupported, "no rings along dimensions: no link to the next vertex along extent {}", extent);
    dimensions.push_back(d);
  }
  return dimensions;
}

/// One part's trees. Level k is the k-th dimension that it reduces.
class PartTrees {
 public:
  PartTrees(const Translations& t, const std::vector<Dimension>& dimensions, std::size_t part)
      : t_(t), dimensions_(dimensions), part_(part) {}

  /// From the last level to the first. `first_steps`: of every level, in the order of the data's way.
  [[nodiscard]] SymmetricTree tree(bool up, const std::vector<std::uint32_t>& first_steps, std::uint32_t steps) const {
    SymmetricTree tree{.steps = steps, .edges = {}};
    std::vector<std::uint32_t> reached{0};
    for (std::size_t level = dimensions_.size(); level-- > 0;) {
      const Dimension& d = dimensions_[(part_ + level) % dimensions_.size()];
      std::vector<std::uint32_t> ends = reached;
      for (std::uint32_t depth = 0; depth + 1 < d.extent; ++depth) {
        const std::uint32_t step = first_steps[level] + (up ? d.extent - 2 - depth : depth);
        for (std::uint32_t& end : ends) {
          const std::uint32_t cls = up ? d.backward : d.forward;
          const std::uint32_t child = t_.head(end, cls);
          tree.edges.push_back({end, child, cls, up ? steps - 1 - step : step});
          reached.push_back(child);
          end = child;
        }
      }
    }
    return tree;
  }

 private:
  const Translations& t_;
  const std::vector<Dimension>& dimensions_;
  std::size_t part_;
};

}  // namespace

Result<SymmetricRings> symmetric_rings(const Translations& translations) {
  HOCKET_TRY_ASSIGN(const std::vector<Dimension> dimensions, dimensions_of(translations));
  std::uint32_t longest = 0;
  for (const Dimension& d : dimensions) longest = std::max(longest, d.extent);
  SymmetricRings rings;
  // Every level has the steps of the longest ring, as each of the parts is in another dimension meanwhile.
  const auto levels = static_cast<std::uint32_t>(dimensions.size());
  const std::uint32_t of_level = longest > 0 ? longest - 1 : 0;
  rings.steps = levels * of_level;
  std::vector<std::uint32_t> up, down;
  for (std::uint32_t level = 0; level < levels; ++level) {
    up.push_back(level * of_level);
    down.push_back((levels - 1 - level) * of_level);
  }
  for (std::size_t part = 0; part < dimensions.size(); ++part) {
    const PartTrees trees(translations, dimensions, part);
    rings.up.push_back(trees.tree(true, up, rings.steps));
    rings.down.push_back(trees.tree(false, down, rings.steps));
  }
  return rings;
}

}  // namespace hocket
