// SVG of the trees of a schedule, written only: one panel a tree, ranks below the one they get the result from; solid
// where values are added on their way to the root, dashed where they are spread; every line has its step as a title.
#include <algorithm>
#include <map>

#include "exchange/piece_trees.h"
#include "exchange/schedule_format.h"

namespace hocket {
namespace {

constexpr double kApart = 40, kDown = 52, kMargin = 28, kHead = 30, kRowWidth = 1200, kBow = 7;

constexpr std::string_view kStyle = R"(<style>
  svg { background: #fff; font: 11px sans-serif; }
  path { fill: none; stroke: #1f5fa8; stroke-width: 1.5; } .spread { stroke: #a86a00; stroke-dasharray: 4 3; }
  circle { fill: #d7e8fb; stroke: #1f5fa8; }
  text { fill: #111; text-anchor: middle; dominant-baseline: central; } .title { text-anchor: start; }
  @media (prefers-color-scheme: dark) {
    svg { background: #15181c; } text { fill: #eee; } circle { fill: #1c3a5c; }
  }
</style>
)";

struct Place {
  double x = 0, y = 0;
};

struct Panel {
  std::map<std::uint32_t, Place> places;  // by rank
  double width = 0, height = 0;
};

/// Who hangs below whom: along the spreading moves where there are any, else against the reducing ones.
std::map<std::uint32_t, std::vector<std::uint32_t>> children_of(const PieceTree& tree,
                                                                std::map<std::uint32_t, bool>& has_parent) {
  const bool spreads = std::any_of(tree.moves.begin(), tree.moves.end(), [](const PieceMove& m) { return !m.reduces; });
  std::map<std::uint32_t, std::vector<std::uint32_t>> children;
  for (const PieceMove& move : tree.moves) {
    has_parent.try_emplace(move.from, false);
    has_parent.try_emplace(move.to, false);
    if (spreads && move.reduces) continue;
    const std::uint32_t above = spreads ? move.from : move.to;
    const std::uint32_t below = spreads ? move.to : move.from;
    bool& hangs = has_parent[below];
    if (hangs || above == below) continue;
    hangs = true;
    children[above].push_back(below);
  }
  return children;
}

Panel panel_of(const PieceTree& tree) {
  std::map<std::uint32_t, bool> has_parent;
  auto children = children_of(tree, has_parent);
  Panel panel;
  std::vector<std::uint32_t> level;
  for (const auto& [rank, hangs] : has_parent) {
    if (!hangs) level.push_back(rank);
  }
  // Ranks on a cycle without a root stand where the first of them is taken for one.
  if (level.empty() && !has_parent.empty()) level.push_back(has_parent.begin()->first);
  double y = kHead + kMargin;
  while (!level.empty()) {
    std::vector<std::uint32_t> next;
    double x = kMargin;
    for (const std::uint32_t rank : level) {
      if (!panel.places.try_emplace(rank, Place{x, y}).second) continue;
      x += kApart;
      next.insert(next.end(), children[rank].begin(), children[rank].end());
    }
    panel.width = std::max(panel.width, x - kApart + kMargin);
    panel.height = y + kMargin;
    y += kDown;
    level = std::move(next);
  }
  return panel;
}

std::string line_of(const PieceMove& move, Place from, Place to) {
  const double side = move.reduces ? kBow : -kBow;
  return fmt::format(
      R"(<path{} d="M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}"><title>step {}: {} to {}, {}</title></path>)"
      "\n",
      move.reduces ? "" : R"( class="spread")", from.x, from.y, (from.x + to.x) / 2 + side, (from.y + to.y) / 2, to.x,
      to.y, move.step, move.from, move.to, move.reduces ? "added" : "spread");
}

std::string drawing_of(const PieceTree& tree, const Panel& panel, const Schedule& schedule) {
  std::string out = fmt::format("<text class=\"title\" x=\"6\" y=\"14\">{}</text>\n", tree.title(schedule));
  for (const PieceMove& move : tree.moves) {
    const auto from = panel.places.find(move.from);
    const auto to = panel.places.find(move.to);
    if (from != panel.places.end() && to != panel.places.end()) out += line_of(move, from->second, to->second);
  }
  for (const auto& [rank, at] : panel.places) {
    out += fmt::format("<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"12\"/><text x=\"{0:.1f}\" y=\"{1:.1f}\">{2}</text>\n",
                       at.x, at.y, rank);
  }
  return out;
}

Result<std::string> write(const Schedule& schedule) {
  constexpr double kTitleWidth = 190;
  HOCKET_TRY_ASSIGN(const std::vector<PieceTree> trees, piece_trees(schedule));
  std::string body;
  double x = 0, y = 0, row = 0, width = 0;
  for (std::size_t i = 0; i < trees.size() && i < kTreesDrawnMax; ++i) {
    const Panel panel = panel_of(trees[i]);
    const double wide = std::max(panel.width, kTitleWidth);
    if (x > 0 && x + wide > kRowWidth) {
      x = 0;
      y += row;
      row = 0;
    }
    body += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n{}</g>\n", x, y,
                        drawing_of(trees[i], panel, schedule));
    x += wide;
    width = std::max(width, x);
    row = std::max(row, panel.height);
  }
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\">\n{}{}</svg>\n",
                     std::max(width, kTitleWidth), std::max(y + row, kHead), kStyle, body);
}

}  // namespace

extern const ScheduleFormat schedule_format_svg{
    .name = "trees-svg",
    .extension = ".svg",
    .description = "SVG drawing of the trees (written only)",
    .recognise = nullptr,
    .read = nullptr,
    .write = write,
    .write_losses = losses_of_drawing,
};

}  // namespace hocket
