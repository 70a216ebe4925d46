"""The style checks must fail on what the style forbids and stay silent on what it allows."""

import pathlib
import tempfile
import textwrap
import unittest

import check_layers
import check_names
import check_size
import cpp_scan

HEADER = "#pragma once\n\n// One.\n// Two.\n// Three.\n"


def functions(text):
    return cpp_scan.scan(textwrap.dedent(text))[0]


class Tree(unittest.TestCase):
    """A scratch repository with the real layers.txt and atomics.txt."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        here = pathlib.Path(__file__).resolve().parent
        for name in ("layers.txt", "atomics.txt"):
            self.write(f"tools/{name}", (here / name).read_text())

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def assert_offence(self, module, part):
        found = list(module.check(self.root))
        self.assertTrue(any(part in offence for offence in found), f"'{part}' not in {found}")

    def assert_clean(self, module):
        self.assertEqual(list(module.check(self.root)), [])


class Scanner(unittest.TestCase):
    def test_finds_functions_and_their_lines(self):
        found = functions('''\
            namespace hocket {
            int one() { return 1; }
            template <typename T, int N = 3>
            auto two(const std::map<T, int>& m, T t = {}) -> int
            {
              return m.at(t);
            }
            }  // namespace hocket
            ''')
        self.assertEqual([(f.name, f.first, f.last, f.parameters) for f in found], [("one", 2, 2, 0), ("two", 3, 7, 2)])

    def test_is_not_confused_by_literals_and_comments(self):
        found = functions('''\
            const char* a = "{ \\" {"; // {
            const char* b = R"x(} " { )" )x";
            /* { */ char c = '{'; int d = 1'000'000;
            void f() {}
            ''')
        self.assertEqual([(f.name, f.first) for f in found], [("f", 4)])

    def test_constructor_with_initialisers_is_one_function(self):
        found = functions('''\
            struct A : B<int> {
              explicit A(int x, int y) noexcept : B{x}, y_{y}, z_([y] { return y; }()) {
                if (x) {
                }
              }
              int y_{3}, z_;
            };
            ''')
        self.assertEqual([(f.name, f.last, f.parameters) for f in found], [("lambda", 2, 0), ("A", 5, 2)])

    def test_macros_operators_and_lambdas(self):
        found = functions('''\
            TEST(Suite, Name) { run([&](int a, int b) mutable -> int { return a + b; }, 3); }
            bool A::operator()(int a) const { return a < 3 && b > 2; }
            auto operator<=>(const A&, const A&) = default;
            const Record record_x{.run = [](Span<int, 3> s) { return s[0]; }};
            ''')
        self.assertEqual([(f.name, f.parameters) for f in found],
                         [("TEST", 2), ("lambda", 2), ("operator()", 1), ("<=>", 2), ("lambda", 1)])

    def test_only_the_first_branch_of_a_conditional_counts(self):
        found = functions('''\
            #if A
            void f(int a) {
            #elif B
            void f(int a, int b) {
            #else
            void f(int a, int b, int c) {
            #endif
            }
            void g() {}
            ''')
        self.assertEqual([(f.name, f.parameters) for f in found], [("f", 1), ("g", 0)])

    def test_depth_counts_blocks_not_braces(self):
        found = functions('''\
            void f() {
              for (auto& [a, b] : m) {
                if (a) {
                  x = {1, {2, {3, {4}}}};
                } else if (b) {
                  switch (a) { case 1: { y(); } default: break; }
                }
              }
            }
            ''')
        self.assertEqual([f.depth for f in found], [4])


class Size(Tree):
    def test_clean(self):
        self.write("src/base/a.cpp", "int f(int a, int b, int c, int d, int e) {\n" + "  g();\n" * 68 + "}\n")
        self.assert_clean(check_size)

    def test_long_function(self):
        self.write("src/base/a.cpp", "void f() {\n" + "  g();\n" * 69 + "}\n")
        self.assert_offence(check_size, "src/base/a.cpp:1: f has 71 lines")

    def test_many_parameters(self):
        self.write("src/base/a.h", "struct A {\n  void f(int a, int b, int c, int d, int e, int g);\n};\n")
        self.assert_offence(check_size, "src/base/a.h:2: f takes 6")

    def test_deep_nesting(self):
        self.write("tests/unit/a.cpp", "TEST(A, B) { if (a) { if (b) { for (;;) { while (c) { if (d) { } } } } } }\n")
        self.assert_offence(check_size, "nests 5 deep")

    def test_nesting_through_a_lambda(self):
        self.write("bench/a.cpp", "void f() { if (a) { if (b) { g([] { if (c) { if (d) { } } }); } } }\n")
        self.assert_offence(check_size, "f nests 5 deep")

    def test_wide_line(self):
        self.write("leaf/cuda/a.cu", "//" + "x" * 119 + "\n")
        self.assert_offence(check_size, "leaf/cuda/a.cu:1: line of 121")

    def test_long_file(self):
        self.write("src/base/a.cpp", "\n" * 601)
        self.assert_offence(check_size, "file of 601 lines, limit 600")

    def test_long_public_header(self):
        self.write("include/hocket/a.h", "\n" * 401)
        self.assert_offence(check_size, "public header of 401 lines")

    def test_too_many_large_files(self):
        for i in range(19):
            self.write(f"src/base/small{i}.cpp", "\n")
        self.write("src/base/large1.cpp", "\n" * 401)
        self.assert_clean(check_size)
        self.write("src/base/large2.cpp", "\n" * 500)
        self.assert_offence(check_size, "large1.cpp:1: file of 401 lines; only 1 of 21")


class Layers(Tree):
    def test_clean(self):
        self.write("src/schedule/a.cpp", '#include "schedule/a.h"\n#include "base/b.h"\n// #include "engine/x.h"\n')
        self.write("src/api/a.cpp", '#include "hocket/version.h"\n#include "planner/p.h"\n')
        self.write("tools/hocket/verb.h")
        self.write("tools/hocket/verbs/plan.cpp", '#include "verb.h"\n#include "api/a.h"\n')
        self.write("tests/unit/a.cpp", '#include "engine/a.h"\n#include "simulator/a.h"\n')
        self.write("leaf/torch/a.cpp", "#include <torch/extension.h>\n")
        self.assert_clean(check_layers)

    def test_upwards(self):
        self.write("src/algorithms/ring.cpp", '\n#include "engine/a.h"\n')
        self.assert_offence(check_layers, "src/algorithms/ring.cpp:2: algorithms may not include engine/a.h")

    def test_same_row(self):
        self.write("src/schedule/a.h", '#include "topology/topology.h"\n')
        self.assert_offence(check_layers, "same row and not listed")

    def test_unknown_folder(self):
        self.write("src/extras/a.h", '#include "base/a.h"\n')
        self.assert_offence(check_layers, "folder extras has no row")

    def test_cycle(self):
        self.write("tools/layers.txt", "base\none two\none -> two/*\ntwo -> one/*\n")
        self.write("src/one/a.h", '#include "two/a.h"\n')
        self.write("src/two/a.h", '#include "one/b.h"\n')
        self.assert_offence(check_layers, "cycle of folders: one -> two -> one")

    def test_foreign_runtime(self):
        self.write("src/transport/a.cpp", "int a;\n#ifdef HOCKET_CUDA\n#endif\n")
        self.assert_offence(check_layers, "src/transport/a.cpp:2: only leaf/ may name cuda")
        self.write("src/transport/a.cpp", "#include <ucx/api.h>\n")
        self.assert_offence(check_layers, "only leaf/ may name ucx")


class Names(Tree):
    def test_clean(self):
        self.write("tools/hocket/verbs/info.cpp", "namespace info {}\nstruct Row { int data; };\n")
        self.write("src/base/a.h", HEADER + 'struct DataType {};\nconst char* kText = "volatile std::atomic";\n')
        self.write("src/engine/a.cpp", "#include <atomic>\nstd::atomic<int> a;\n")
        self.assert_clean(check_names)

    def test_banned_names(self):
        self.write("src/base/string_utils.cpp")
        self.assert_offence(check_names, "src/base/string_utils.cpp:1: file name with the banned word 'utils'")
        self.write("src/base/a.cpp", "\nclass LinkManager final : Base {};\nenum class NodeInfo { kA };\n")
        self.assert_offence(check_names, "src/base/a.cpp:2: type LinkManager")
        self.assert_offence(check_names, "src/base/a.cpp:3: type NodeInfo")

    def test_opening_comment(self):
        self.write("src/base/a.h", "#pragma once\n\n// Too short.\n#include <span>\n// a\n// b\n")
        self.assert_offence(check_names, "opens with 1 lines")
        self.write("src/base/a.h", "#pragma once\n" + "// Too long.\n" * 11)
        self.assert_offence(check_names, "opens with 11 lines")
        self.write("src/base/a.h", "// One.\n// Two.\n// Three.\n")
        self.assert_offence(check_names, "without #pragma once")

    def test_banned_code(self):
        cases = {
            "auto s = std::format(a);": "std::format",
            "#include <expected>": "std::expected",
            "volatile int x;": "volatile",
            "thread.detach();": "detached",
            "thread_local int x;": "thread-local",
            "fmt::print(stderr, text);": "stderr",
            "std::cerr << text;": "stderr",
            "std::atomic<int> x;": "atomic",
            "std::atomic_ref r(x);": "atomic",
            "// TODO later": "unfinished",
        }
        for code, part in cases.items():
            with self.subTest(code):
                self.write("src/base/a.cpp", "\n" + code + "\n")
                self.assert_offence(check_names, part)
                self.assert_offence(check_names, "src/base/a.cpp:2:")


if __name__ == "__main__":
    unittest.main()
