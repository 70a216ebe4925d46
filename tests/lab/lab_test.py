#!/usr/bin/env python3
"""The lab with real namespaces: right data, every link's bytes are the schedule's, nothing is left behind, and what it
cannot build is named. No times are judged. Without root or namespaces the test is skipped, with the reason (status 77).
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

SKIPPED = 77


def reason_to_skip():
    if os.geteuid() != 0:
        return "needs root"
    for program in ("ip", "tc", "sysctl"):
        if shutil.which(program) is None:
            return f"needs the program '{program}'"
    name = f"hocketlab{os.getpid()}x"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return "" if made.returncode == 0 else f"no network namespaces here: {made.stderr.strip()}"


class Test:
    def __init__(self, lab, binary):
        self.start = [sys.executable, "-B", lab, "--hocket", binary]
        self.wrong = []

    def expect(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def run(self, *arguments):
        return subprocess.run([*self.start, *arguments], capture_output=True, text=True, timeout=120)

    def namespaces_left(self, pid):
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
        return f"hocketlab{pid}" in listed

    def data_and_bytes(self, topology, algorithms):
        """Ways of several links, several cables between two ranks and switches too: every link has its bytes."""
        done = self.run("--topo", topology, "--link", "100Mb/s,20us", "--size", "1MiB", "--algo", algorithms,
                        "--repeat", "1", "--json")
        self.expect(done.returncode == 0, f"{topology}: status {done.returncode}: {done.stderr}")
        rows = json.loads(done.stdout)["rows"] if done.stdout else []
        self.expect([row["algorithm"] for row in rows] == algorithms.split(","), f"{topology}: rows: {done.stdout}")
        for row in rows:
            name = f"{topology}, {row['algorithm']}"
            self.expect(row["correct"], f"{name}: wrong data")
            least, most = row["bytes_over_schedule"]
            self.expect(1 <= least <= most < 1.04, f"{name}: bytes {least} to {most} of the schedule's")

    def refusals(self):
        for topology, words in (("ring:300", "300 vertices"), ("nothing:4", "nothing")):
            done = self.run("--topo", topology, "--link", "100Mb/s,20us")
            self.expect(done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1,
                        f"{topology}: status {done.returncode}: {done.stderr}")

    def interrupted(self):
        running = subprocess.Popen([*self.start, "--topo", "mesh:2x2", "--link", "1Mb/s,20us", "--size", "16MiB"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not self.namespaces_left(running.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.expect(self.namespaces_left(running.pid), "no namespaces were made")
        time.sleep(1)
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=60)
        self.expect(not self.namespaces_left(running.pid), "namespaces left after SIGTERM")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lab", required=True)
    parser.add_argument("--binary", required=True)
    flags = parser.parse_args()
    reason = reason_to_skip()
    if reason:
        print("lab test skipped:", reason)
        return SKIPPED
    test = Test(str(pathlib.Path(flags.lab).resolve()), flags.binary)
    test.data_and_bytes("mesh:2x3", "ring,packed_trees,dimension_rings")
    test.data_and_bytes("torus:2x2", "packed_trees,swing")
    test.data_and_bytes("switch:3", "ring")
    test.refusals()
    test.interrupted()
    for what in test.wrong:
        print("wrong:", what)
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
