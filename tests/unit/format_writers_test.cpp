// hocket's own YAML, DOT and SVG.
#include <gtest/gtest.h>

#include "exchange/load_topology.h"
#include "support/corpus.h"

namespace hocket {
namespace {

const TopologyFormat& yaml() { return **find_topology_format("hocket-yaml"); }

std::string written(std::string_view format, const std::string& words) {
  const auto topology = topology_from_spec(words, {});
  const auto text = (*find_topology_format(format))->write(*topology);
  return text.has_value() ? *text : text.error().text;
}

TEST(HocketYaml, EveryFamilyComesBackTheSameWithNamesAndCoordinates) {
  for (const TopologyFamily* family : topology_families()) {
    const auto t =
        topology_from_spec(family->example, {.links = {LinkRate{BytesPerSecond{12.3456e9}, Seconds{1.23e-7}}}});
    const auto text = yaml().write(*t);
    ASSERT_TRUE(text.has_value()) << text.error().text;
    EXPECT_TRUE(yaml().recognise(*text));
    const auto again = yaml().load(*text, "again.yaml");
    ASSERT_TRUE(again.has_value()) << again.error().text;
    EXPECT_EQ(again->fingerprint(), t->fingerprint()) << family->name;
    EXPECT_EQ(again->name(), t->name());
    EXPECT_EQ(again->family(), t->family());
    EXPECT_TRUE(std::equal(t->extents().begin(), t->extents().end(), again->extents().begin(), again->extents().end()));
    for (VertexId v = 0; v < t->vertices().size(); ++v) {
      EXPECT_EQ(again->vertices()[v].name, t->vertices()[v].name);
      EXPECT_EQ(again->vertices()[v].coordinates, t->vertices()[v].coordinates);
    }
  }
}

TEST(HocketYaml, GoldenText) {
  EXPECT_EQ(written("hocket-yaml", "line:2"),
            "hocket: topology\nname: \"line:2\"\nfamily: \"line\"\nextents: [2]\nnotes:\n"
            "  - \"no --link given: 16GB/s,150ns each way assumed\"\n"
            "vertices:\n  - {name: \"0\", kind: npu, at: [0]}\n  - {name: \"1\", kind: npu, at: [1]}\n"
            "links:\n  - {from: \"0\", to: \"1\", bandwidth: 16GB/s, latency: 150ns, count: 1, duplex: full}\n");
}

TEST(HocketYaml, RefusalsCarryLineAndColumn) {
  const std::string head = "hocket: topology\nvertices: [{name: a}, {name: b}]\nlinks:\n";
  const auto error_of = [&](const std::string& text) {
    const auto read = yaml().read(text, "y.yaml");
    return read.has_value() ? "" : read.error().text;
  };
  EXPECT_EQ(error_of(head + "  - {from: a, to: c, bandwidth: 1GB/s, latency: 1ns}\n"),
            "y.yaml:4:5: no vertex is called 'c'");
  EXPECT_EQ(error_of(head + "  - {from: a, to: b, bandwidth: 1, latency: 1ns}\n").substr(0, 12), "y.yaml:4:5: ");
  EXPECT_EQ(error_of(head + "  - {from: a, to: b, bandwidth: 1GB/s, latency: 1ns, count: 0}\n"),
            "y.yaml:4:5: count '0' is not 1 to 16777216");
  EXPECT_EQ(error_of("hocket: topology\nvertices: [{name: a}, {name: a}]\n"), "y.yaml:2:23: vertex 'a' stands twice");
  EXPECT_EQ(error_of("hocket: topology\nhocket: topology\n"), "y.yaml:2:1: key 'hocket' stands twice");
  EXPECT_EQ(error_of("hocket: topology\n"), "y.yaml: no list 'vertices'");
  const auto alias = yaml().read(corpus_text("topology_yaml/alias"), "y.yaml");
  ASSERT_TRUE(alias.has_value()) << alias.error().text;
  EXPECT_EQ(alias->losses.count(LossKind::kRepaired), 1U);  // a link of a vertex to itself
  EXPECT_EQ(alias->losses.count(LossKind::kIgnored), 1U);
}

TEST(HocketYaml, NamesMayHoldAnythingPrintable) {
  TopologyBuilder builder{"odd", "file"};
  builder.add_vertex(std::string(80, '['), VertexKind::kNpu);
  builder.add_vertex("a \"b\" \\ # : {\xC3\xA9}", VertexKind::kNpu);
  builder.add_cable(0, 1, BytesPerSecond{1e9}, Seconds{0});
  const auto t = std::move(builder).build();
  ASSERT_TRUE(t.has_value());
  const auto again = yaml().load(*yaml().write(*t), "y.yaml");
  ASSERT_TRUE(again.has_value()) << again.error().text;
  EXPECT_EQ(again->vertices()[0].name, t->vertices()[0].name);
  EXPECT_EQ(again->vertices()[1].name, t->vertices()[1].name);
  for (const char* name : {"a\nb", "\x1b[0m", "\xff", "\xC2\x85", "\xED\xA0\x80"}) {
    TopologyBuilder other{"odd", "file"};
    other.add_vertex(name, VertexKind::kNpu);
    const auto single = std::move(other).build();
    ASSERT_TRUE(single.has_value());
    EXPECT_FALSE(yaml().write(*single).has_value()) << name;
  }
  EXPECT_FALSE(yaml().read("hocket: " + std::string(100'000, '['), "y.yaml").has_value());
}

TEST(Drawings, DotIsGolden) {
  EXPECT_EQ(written("dot", "switch:2"),
            "digraph \"switch:2\" {\n  edge [dir=none, fontsize=9];\n  node [fontsize=10];\n"
            "  v0 [label=\"0\\nrank 0\", shape=box, pos=\"36,0\"];\n"
            "  v1 [label=\"1\\nrank 1\", shape=box, pos=\"108,0\"];\n"
            "  v2 [label=\"switch\", shape=diamond, pos=\"72,108\"];\n"
            "  v0 -> v2 [label=\"16 GB/s\"];\n  v1 -> v2 [label=\"16 GB/s\"];\n}\n");
}

TEST(Drawings, SvgHasEveryVertexAndCableOnceAndIsDeterministic) {
  for (const char* words : {"torus:4x4", "fattree:2x4", "dgx1", "torus:2x3x4", "ring:5"}) {
    const std::string text = written("svg", words);
    EXPECT_EQ(text, written("svg", words));
    const auto t = topology_from_spec(words, {});
    std::size_t texts = 0;
    for (std::size_t at = text.find("<text"); at != std::string::npos; at = text.find("<text", at + 1)) ++texts;
    EXPECT_EQ(texts, t->vertices().size()) << words;
    EXPECT_EQ(text.find("\"nan"), std::string::npos);
    EXPECT_EQ(text.find("http", text.find("xmlns") + 12), std::string::npos) << "no network";
  }
}

TEST(Drawings, TheExtensionChoosesTheFormat) {
  EXPECT_EQ((*topology_format_for_path("a/b.c/x.svg"))->name, "svg");
  EXPECT_EQ((*topology_format_for_path("x.yml"))->name, "hocket-yaml");
  EXPECT_EQ((*topology_format_for_path("x.csv"))->name, "link-csv");
  EXPECT_EQ((*topology_format_for_path("x.xml"))->name, "nccl-xml");
  EXPECT_EQ((*topology_format_for_path("x.gv"))->name, "dot");
  for (const char* path : {"x", "x.", "x.txt", "a.svg/x", ""}) EXPECT_FALSE(topology_format_for_path(path).has_value());
}

}  // namespace
}  // namespace hocket
