"""The page in headless Chromium: what it shows, how it answers to pointer and keys, and that it fetches nothing.

Needs the program as HOCKET_BINARY. Exits with 77, which CTest reports as skipped, when there is no browser.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import chromium

BINARY = os.environ.get("HOCKET_BINARY", "build/release/hocket")
PROBES = (pathlib.Path(__file__).parent / "probes.js").read_text()
HOSTILE = ["</script><script>window.hacked=1</script>", '"><img src=x onerror="window.hacked=2">', "a&b'c<d>",
           "<!--<script>"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = chromium.Page(chromium.find())

    @classmethod
    def tearDownClass(cls):
        cls.page.close()
        cls.folder.cleanup()

    def setUp(self):
        self.page.errors.clear()
        self.page.requests.clear()

    def tearDown(self):
        self.assertEqual(self.page.errors, [])
        for url in self.page.requests:
            self.assertRegex(url, r"^(file:///|data:)", "the page fetched something")

    def report(self, *words):
        """Writes the page for these arguments, once."""
        path = pathlib.Path(self.folder.name) / ("_".join(words).replace("/", "_").replace(":", "_") + ".html")
        if not path.exists():
            subprocess.run([BINARY, "report", *words, "-o", str(path)], check=True, capture_output=True)
        return path

    def open(self, *words, **how):
        self.page.mouse("mouseMoved", 0, 0)
        self.page.open(self.report(*words), **how)
        self.page.run(PROBES)
        return self.page

    def text(self, selector):
        return self.page.run(f"document.querySelector({selector!r}).innerText")

    def click(self, selector):
        self.page.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        box = self.page.run(f"document.querySelector({selector!r}).getBoundingClientRect().toJSON()")
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self.page.mouse(kind, **place, button="left", clickCount=1)
        self.page.frame()


class Summary(PageTest):
    def test_comes_first_and_says_it_in_words(self):
        self.open("torus:4x4")
        words = self.text(".collective > .card")
        best = self.page.run("document.querySelector('table.sortable tbody tr :is(th, td)').innerText")
        for part in ("16 processors each hold 64 MiB", best + " is the fastest", "times as fast", "Whatever the plan",
                     "in use"):
            self.assertIn(part, words)
        self.assertLess(self.page.run("document.querySelector('.answers').getBoundingClientRect().top"), 900)

    def test_works_without_script(self):
        self.page.open(self.report("torus:4x4"), script=False)
        for selector in (".answers", "table.sortable tbody tr", "svg.network .links path title", ".bars"):
            self.assertGreater(self.page.run(f"document.querySelectorAll({selector!r}).length"), 0, selector)
        self.assertGreater(self.page.run("document.querySelector('svg.network').getBoundingClientRect().height"), 200)
        self.assertEqual(self.page.run("[...document.querySelectorAll('.scripted')].filter((e) => "
                                       "e.checkVisibility()).length"), 0)

    def test_names_from_files_stay_text(self):
        path = pathlib.Path(self.folder.name) / "hostile.csv"
        rows = [f"{quoted(HOSTILE[i])},{quoted(HOSTILE[i - 1])},1GB/s,1us" for i in range(4)]
        path.write_text("from,to,bandwidth,latency\n" + "".join(f"vertex,{quoted(n)},npu\n" for n in HOSTILE) +
                        "\n".join(rows) + "\n")
        self.open(str(path))
        self.assertIsNone(self.page.run("window.hacked"))
        self.assertEqual(self.page.run("document.querySelectorAll('img').length"), 0)
        titles = self.page.run("document.querySelector('.vertices').textContent")
        for name in HOSTILE:
            self.assertIn(name, titles)


class Document(PageTest):
    def test_json_has_the_figures_of_the_page(self):
        path = pathlib.Path(self.folder.name) / "json.html"
        run = subprocess.run([BINARY, "report", "torus:4x4", "ring:4", "-o", str(path), "--json"], check=True,
                             capture_output=True)
        document = json.loads(run.stdout)
        self.assertEqual((document["verb"], document["schema"]), ("report", 1))
        self.assertIn("hocket", document)
        self.assertEqual(document["page_bytes"], path.stat().st_size)
        self.page.open(path)
        for index, network in enumerate(document["networks"]):
            figures = self.page.run(f"JSON.parse(document.querySelectorAll('script.figures')[{index}].textContent)")
            self.assertEqual(network["chosen"], figures["plans"][figures["chosen"]]["name"])
            for row, plan in zip(network["plans"], figures["plans"], strict=True):
                self.assertEqual(row["algorithm"], plan["name"])
                self.assertAlmostEqual(row["time_s"], plan["time_ps"] * 1e-12, places=15)
                self.assertGreaterEqual(row["time_s"], row["bound_s"] * (1 - 1e-9))


class Looks(PageTest):
    def test_fits_narrow_and_wide_windows(self):
        for width in (320, 390, 768, 1280, 1920):
            for words in (("torus:4x4",), ("torus:8x8",), ("torus:4x4", "fattree:4x4")):
                self.open(*words, width=width)
                self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), width, words)

    def test_text_has_contrast_in_both_schemes(self):
        for dark in (False, True):
            self.open("torus:4x4", dark=dark)
            self.page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            self.assertEqual(self.page.run("probes.weak_text(4.5)"), [])

    def test_theme_follows_the_system_and_the_button(self):
        background = "getComputedStyle(document.body).backgroundColor"
        self.open("torus:4x4", dark=True)
        dark = self.page.run(background)
        self.open("torus:4x4")
        light = self.page.run(background)
        self.assertNotEqual(dark, light)
        self.click("button.theme")
        self.assertEqual(self.page.run(background), dark)
        self.click("button.theme")
        self.assertEqual(self.page.run(background), light)
        self.page.run("localStorage.clear()")

    def test_prints_light_and_without_controls(self):
        self.open("torus:4x4", dark=True)
        self.page.send("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.page.run("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertFalse(self.page.run("document.querySelector('[data-do=play]').checkVisibility()"))
        paper = self.page.send("Page.printToPDF", printBackground=True)["data"]
        self.page.send("Emulation.setEmulatedMedia", media="")
        self.assertGreater(len(paper), 10000)


class Interaction(PageTest):
    def test_table_sorts_by_every_column(self):
        self.open("torus:4x4")
        heads = self.page.run("document.querySelector('table.sortable').tHead.rows[0].cells.length")
        for column in range(1, heads - 1):
            button = f".collective > .card + .card table th:nth-child({column + 1}) button"
            orders = []
            for _ in range(2):
                self.click(button)
                values = self.page.run(f"probes.column('.card + .card table', {column})")
                order = self.page.run(f"document.querySelector({button!r}).parentElement.ariaSort")
                self.assertEqual(values, sorted(values, reverse=order == "descending"), column)
                orders.append(order)
            self.assertEqual(sorted(orders), ["ascending", "descending"])

    def test_links_are_read_out_and_follow_the_plan(self):
        self.open("torus:4x4")
        self.page.run("document.querySelector('.loads svg.network').focus()")
        self.page.key("ArrowRight")
        self.assertRegex(self.text(".loads .reading"), r"0 . 1: [\d.]+ MB of at most [\d.]+ MB, in use [\d.]+ %")
        before = self.page.run("document.querySelectorAll('.loads .links .load0').length")
        self.page.run("(() => { const s = document.querySelector('[data-choose=loads]'); s.selectedIndex = "
                      "[...s.options].findIndex((o) => o.text === 'ring'); s.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.page.run("document.querySelectorAll('.loads .links .load0').length"), 48)
        self.assertEqual(before, 0)

    def test_moves_step_play_and_change_tree(self):
        self.open("torus:4x4")
        first = self.text(".moves .reading")
        steps = re.match(r"Step 1 of (\d+)", first).group(1)
        self.click(".moves [data-do=next]")
        self.assertIn("Step 2 of " + steps, self.text(".moves .reading"))
        self.assertGreater(self.page.run("document.querySelectorAll('.moves path.adds').length"), 0)
        self.click(".moves [data-do=back]")
        self.assertEqual(self.text(".moves .reading"), first)
        self.page.run("document.querySelector('.moves svg.network').focus()")
        self.page.key("ArrowDown")
        self.assertRegex(self.page.run("document.querySelector('[data-choose=share]').selectedOptions[0].text"),
                         r"^2 of \d+")
        self.page.key(" ")
        self.assertIn("Pause", self.text(".moves [data-do=play]"))
        self.page.key(" ")
        self.assertIn("Play", self.text(".moves [data-do=play]"))
        # A tree of 16 ranks has 15 edges, each taken once to collect and once to hand out.
        edges = self.page.run("JSON.parse(document.querySelector('script.figures').textContent).plans.find((p) => "
                              "p.name === 'multitree').shares.map((s) => s.sends.length)")
        self.assertEqual(edges, [30] * 16)

    def test_timeline_walks_zooms_and_moves(self):
        self.open("torus:4x4")
        self.page.run("document.querySelector('.lanes').focus()")
        self.page.key("ArrowRight")
        self.assertRegex(self.text(".timeline .reading"), r"transfer of [\d.]+ [kM]?B from rank \d+ to rank \d+")
        whole = self.page.run("document.querySelector('.timeline[data-side=right] canvas').dataset.drawn")
        for _ in range(4):
            self.page.key("+")
        near = self.page.run("document.querySelector('.timeline[data-side=right] canvas').dataset.drawn")
        self.assertLess(int(near), int(whole), "both sides follow one view")
        self.page.key("ArrowDown")
        self.assertIn("1 \u2192 0", self.text(".timeline .reading"))
        self.page.key("0")
        again = self.page.run("document.querySelector('.timeline[data-side=right] canvas').dataset.drawn")
        self.assertEqual(again, whole)

    def test_ten_thousand_bars_move(self):
        self.open("torus:8x8")
        bars = int(self.page.run("document.querySelector('canvas').dataset.bars"))
        self.assertGreaterEqual(bars, 10000)
        box = self.page.run("(() => { const l = document.querySelector('.lanes'); l.scrollIntoView({block: 'center'}); "
                            "return l.getBoundingClientRect().toJSON(); })()")
        before = self.page.run("document.querySelector('canvas').toDataURL()")
        frames = self.page.run(
            "probes.frames(120, (i) => { const lanes = document.querySelector('.lanes'); lanes.scrollTop = 3 * i; "
            "lanes.dispatchEvent(new WheelEvent('wheel', { ctrlKey: true, deltaY: i % 60 < 30 ? -1 : 1, "
            f"cancelable: true, clientX: {box['x'] + 300}, clientY: {box['y'] + 60} }})); }})")
        self.assertNotEqual(self.page.run("document.querySelector('canvas').toDataURL()"), before)
        drawn = self.page.run("document.querySelector('canvas').dataset.drawn")
        print(f"{bars} bars, {drawn} painted in the last frame; 120 frames of zooming and scrolling: mean "
              f"{frames['mean_ms']:.1f} ms, longest {frames['longest_ms']:.1f} ms")


class Keyboard(PageTest):
    def test_everything_is_reached_in_order_and_seen(self):
        self.open("torus:4x4")
        self.assertEqual(self.page.run("probes.nameless()"), [])
        walk = []
        for _ in range(120):
            self.page.key("Tab")
            walk.append(self.page.run("probes.focused()"))
            if walk[-1]["tag"] == "body" or (len(walk) > 1 and walk[-1]["name"] == walk[0]["name"]):
                walk.pop()
                break
        for stop in walk:
            self.assertTrue(stop["seen"], f"no visible focus: {stop}")
        self.assertEqual(walk[0]["name"], "Skip to the summary")
        names = [stop["name"] for stop in walk]
        order = ["Skip to the summary", "Dark colours", "Table of plans",
                 "Network; the arrow keys read one link after another", "Previous share", "Play", "Step", "Zoom in",
                 "Timeline, links as rows", "What the words mean"]
        self.assertEqual([name for name in names if name in order],
                         order[:8] + ["Timeline, links as rows"] * 2 + order[9:])
        controls = "button, select, input, a, summary, [tabindex='0']"
        reachable = self.page.run(f'[...document.querySelectorAll("{controls}")].filter((e) => '
                                  "e.checkVisibility()).length")
        self.assertEqual(len(walk), reachable)
        for stop in walk:
            print(f"  {stop['tag']:8} {stop['name']}")

    def test_enter_sorts_and_skips(self):
        self.open("torus:4x4")
        self.page.key("Tab")
        self.page.key("Enter")
        self.assertEqual(self.page.run("document.activeElement.id"), "main")
        self.page.run("document.querySelector('table.sortable button').focus()")
        self.page.key("Enter")
        self.assertEqual(self.page.run("document.querySelector('table.sortable th').ariaSort"), "ascending")


if __name__ == "__main__":
    if chromium.find() is None:
        print("skipped: no Chromium here (scripts/setup.sh ci installs the package chromium)")
        sys.exit(77)
    unittest.main(verbosity=2)
