#!/usr/bin/env python3
"""Plans with several algorithms and runs the plans in the lab, a table per size (root): see docs/lab.md.

    bench/lab/lab.py --topo torus:4x4 --link 50Mb/s,20us --size 1MiB,8MiB --algo ring,multitree,auto

Flags that are not listed below go to `hocket run --lab`: --repeat 5, --timeout 120s, ...
Exit status: the worst of hocket's; 1 when data were wrong or bytes were not the schedule's, 2 for bad usage.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

SEGMENT_HEADER_BYTES = 48 + 66  # of hocket's frame; of TCP with time stamps, IP and Ethernet


class LabError(Exception):
    """A command of hocket that failed; it has said why itself."""


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topo", required=True, help="as hocket's --lab")
    parser.add_argument("--link", required=True, help="rate and latency of a link, 50Mb/s,20us")
    parser.add_argument("--break", dest="breaks", action="append", default=[], help="as hocket's")
    parser.add_argument("--scale", action="append", default=[], help="as hocket's")
    parser.add_argument("--collective", default="all_reduce")
    parser.add_argument("--size", default="8MiB", help="of the whole vector, with commas between for several")
    parser.add_argument("--algo", default="auto", help="algorithms with commas between")
    parser.add_argument("--segment", help="bytes that move at once [the best by simulation]")
    parser.add_argument("--hocket", default="build/release/hocket", help="the program")
    parser.add_argument("--json", action="store_true")
    return parser.parse_known_args()


def hocket(flags, *arguments):
    done = subprocess.run([flags.hocket, *arguments, "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise LabError(done.returncode)
    return json.loads(done.stdout)


def plan_files(flags, changes, size, folder):
    """A file per algorithm; `auto` is the one that the planner chooses. Every segment carries headers."""
    rate = hocket(flags, "topo", flags.topo, *changes)["links"][0]["bandwidth_Bps"]
    overhead = f"{SEGMENT_HEADER_BYTES / rate * 1e9:.0f}ns"
    files = []
    for algorithm in flags.algo.split(","):
        files.append(os.path.join(folder, f"{algorithm}-{size}.hkt"))
        hocket(flags, "plan", flags.collective, "--topo", flags.topo, *changes, "--message-overhead", overhead,
               "--size", size, "--algo", algorithm, "--spread", "-o", files[-1])
    return files


def main():
    flags, passed_on = parse()
    changes = ["--link", flags.link]
    for name, values in (("--break", flags.breaks), ("--scale", flags.scale)):
        for value in values:
            changes += [name, value]
    if flags.segment:
        passed_on += ["--segment", flags.segment]
    worst, documents = 0, []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for size in flags.size.split(","):
                files = plan_files(flags, changes, size, folder)
                run = [flags.hocket, "run", *files, "--lab", flags.topo, *changes, "--size", size, *passed_on]
                done = subprocess.run(run + ["--json"] * flags.json, text=True,
                                      stdout=subprocess.PIPE if flags.json else None)
                worst = max(worst, done.returncode)
                if flags.json and done.stdout:
                    documents.append(json.loads(done.stdout))
        except LabError as error:
            return error.args[0]
    if flags.json:
        print(json.dumps(documents, indent=2))
    return worst


if __name__ == "__main__":
    sys.exit(main())
