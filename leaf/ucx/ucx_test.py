"""The UCX plug-in with real processes: data of every collective and size, and a rank that is killed.

usage: ucx_test.py HOCKET FOLDER_OF_THE_PLUG_IN
"""

import os
import re
import signal
import subprocess
import sys
import time
import unittest

HOCKET, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all")


def bench(*words, **how):
    environment = dict(os.environ, HOCKET_PLUGIN_PATH=FOLDER)
    return subprocess.Popen([HOCKET, "bench", *words, "--transport", "ucx", "--timeout", "20s"], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


class Ucx(unittest.TestCase):
    def test_every_collective_is_right(self):
        for collective in COLLECTIVES:
            with self.subTest(collective):
                run = bench(collective, "--ranks", "3", "-b", "8", "-e", "2M", "-f", "16", "-n", "5")
                out, errors = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 0, out + errors)
                self.assertIn("transport: ucx", out)
                self.assertRegex(out, r"Out of bounds values : 0 OK")

    def test_four_ranks_on_long_messages(self):
        run = bench("all_reduce", "--ranks", "4", "-b", "32M", "-e", "32M", "-n", "3")
        out, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, out + errors)

    def test_a_killed_rank_is_named(self):
        run = bench("all_reduce", "--ranks", "3", "-b", "1M", "-e", "1M", "-n", "1000000")
        victim = self.child_of(run.pid)
        time.sleep(1)
        os.kill(victim, signal.SIGKILL)
        begun = time.monotonic()
        out, errors = run.communicate(timeout=30)
        took = time.monotonic() - begun
        self.assertEqual(run.returncode, 3, out + errors)
        self.assertTrue(re.search(rf"lost rank \d \(.*pid {victim}\)", errors), errors)
        self.assertLess(took, 2)
        print(f"a killed rank was named after {1000 * took:.0f} ms")

    def test_a_plug_in_that_is_none_is_refused(self):
        run = subprocess.run([HOCKET, "bench", "all_reduce", "--ranks", "2", "--transport", "ucy"], capture_output=True,
                             text=True, timeout=20, env=dict(os.environ, HOCKET_PLUGIN_PATH=FOLDER))
        self.assertEqual(run.returncode, 2)
        self.assertIn("unknown transport 'ucy'; known: auto, shm, tcp, and no plug-in", run.stderr)

    def child_of(self, parent):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
                children = file.read().split()
            if len(children) >= 3:
                return int(children[1])
            time.sleep(0.01)
        self.fail("no ranks were started")


if __name__ == "__main__":
    unittest.main(verbosity=2)
