// Graphviz DOT of the trees of a schedule, written only: one cluster a tree, solid where values are added on their way
// to the root, dashed where they are spread; the label is the step. `dot -Tsvg plan.dot`.
#include <set>

#include "exchange/piece_trees.h"
#include "exchange/schedule_format.h"

namespace hocket {
namespace {

std::string cluster_of(const PieceTree& tree, std::size_t index, const Schedule& schedule) {
  std::string out = fmt::format("  subgraph cluster_{} {{\n    label=\"{}\";\n", index, tree.title(schedule));
  std::set<std::uint32_t> ranks;
  for (const PieceMove& move : tree.moves) ranks.insert({move.from, move.to});
  for (const std::uint32_t rank : ranks) out += fmt::format("    t{}_{} [label=\"{}\"];\n", index, rank, rank);
  for (const PieceMove& move : tree.moves) {
    out += fmt::format("    t{0}_{1} -> t{0}_{2} [label=\"{3}\"{4}];\n", index, move.from, move.to, move.step,
                       move.reduces ? "" : ", style=dashed, color=\"#a86a00\"");
  }
  return out + "  }\n";
}

Result<std::string> write(const Schedule& schedule) {
  HOCKET_TRY_ASSIGN(const std::vector<PieceTree> trees, piece_trees(schedule));
  std::string name;
  for (const char c : schedule.algorithm()) {
    const bool plain = c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' ';
    name += plain ? c : '_';
  }
  std::string out = fmt::format("digraph \"{} by {}\" {{\n", name_of(schedule.collective().kind), name);
  out += "  node [shape=circle, fontsize=10];\n  edge [color=\"#1f5fa8\", fontsize=9];\n";
  for (std::size_t i = 0; i < trees.size() && i < kTreesDrawnMax; ++i) out += cluster_of(trees[i], i, schedule);
  return out + "}\n";
}

}  // namespace

extern const ScheduleFormat schedule_format_dot{
    .name = "trees-dot",
    .extension = ".dot",
    .description = "Graphviz DOT of the trees (written only)",
    .recognise = nullptr,
    .read = nullptr,
    .write = write,
    .write_losses = losses_of_drawing,
};

}  // namespace hocket
