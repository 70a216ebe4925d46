#!/usr/bin/env python3
"""Runs plans of hocket on a network of Linux network namespaces and compares with what the simulator says (root).

    bench/lab/lab.py --topo torus:4x4 --link 50Mb/s,20us --size 8MiB --algo ring,dimension_rings,multitree,auto

For every algorithm: hocket plans for exactly this topology at the goodput of a link (measured first), one process per
rank executes the plan in its namespace with one connection per cable or way between two ranks, the result is checked,
the bytes that each link's device has sent are compared with the schedule's, and the time with the predicted one.
Prints a table or, with --json, a document. Exit status: 0; 1 when data were wrong or bytes were not the schedule's;
2 for bad usage.
"""

import argparse
import json
import os
import pathlib
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile

from network import LabError, Network

HEADERS_MAX = 1.04  # frames of 16 KiB with their headers, acknowledgements, signs of life
SEGMENT_HEADER_BYTES = 48 + 66  # of hocket's frame; of TCP with time stamps, IP and Ethernet
SMALL_BYTES = 65536  # of a link: below, control messages weigh more than that


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topo", required=True, help="as hocket's --topo")
    parser.add_argument("--link", required=True, help="rate and latency of a link, 50Mb/s,20us")
    parser.add_argument("--break", dest="breaks", action="append", default=[], help="as hocket's")
    parser.add_argument("--scale", action="append", default=[], help="as hocket's")
    parser.add_argument("--collective", default="all_reduce")
    parser.add_argument("--size", default="8MiB", help="of the whole vector, with commas between for several")
    parser.add_argument("--algo", default="auto", help="algorithms with commas between")
    parser.add_argument("--segment", help="bytes that move at once [as planned]")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the median counts")
    parser.add_argument("--timeout", default="120s", help="of one run")
    parser.add_argument("--hocket", default="build/release/hocket", help="the program")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


class Lab:
    def __init__(self, flags, folder):
        self.flags = flags
        self.folder = folder
        self.program = str(pathlib.Path(flags.hocket).resolve())
        rate, _, latency = flags.link.partition(",")
        self.latency = latency or "20us"
        self.changes = []
        for name, values in (("--break", flags.breaks), ("--scale", flags.scale)):
            for value in values:
                self.changes += [name, value]
        link = ["--link", f"{rate},{self.latency}"]
        self.topology = self.hocket("topo", flags.topo, *self.changes, *link)
        self.rate = self.hocket("topo", flags.topo, *link)["links"][0]["bandwidth_Bps"]
        self.children = []

    def hocket(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--json"], capture_output=True, text=True)
        if done.returncode not in (0, 1) or not done.stdout:
            raise LabError(done.stderr.strip() or f"hocket {arguments[0]} failed")
        return json.loads(done.stdout)

    def at_goodput(self, share):
        """Flags for links as fast as their goodput; every segment also carries its headers."""
        overhead = SEGMENT_HEADER_BYTES / (self.rate * share)
        return ["--topo", self.flags.topo, *self.changes, "--link", f"{self.rate * share:.0f}B/s,{self.latency}",
                "--message-overhead", f"{overhead * 1e9:.0f}ns"]

    def run_once(self, network, plan, size, segment, lanes):
        secret = secrets.token_hex(16)
        cables = os.path.join(self.folder, "cables")
        pathlib.Path(cables).write_text(network.address_table(lanes))
        outputs = []
        for rank in range(network.ranks):
            environment = {**os.environ, "HOCKET_RANK": str(rank), "HOCKET_SIZE": str(network.ranks),
                           "HOCKET_ROOT": "10.254.0.1:29500", "HOCKET_SECRET": secret, "HOCKET_CABLES": cables,
                           "HOCKET_SOCKET_IFNAME": "=port"}
            self.children.append(subprocess.Popen(
                ["ip", "netns", "exec", network.name(rank), self.program, "run", plan, "--transport", "tcp",
                 "--size", size, "--segment", segment, "--timeout", self.flags.timeout, "--json"],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        for child in self.children:
            outputs.append(child.communicate())
        failed = [i for i, child in enumerate(self.children) if child.returncode not in (0, 1)]
        self.children = []
        if failed:
            raise LabError(f"rank {failed[0]}: {outputs[failed[0]][1].strip()}")
        return json.loads(outputs[0][0])

    def stop(self):
        for child in self.children:
            child.kill()

    def study(self, network, share, algorithm, size):
        plan = os.path.join(self.folder, "plan.hkt")
        wished = ["--segment", self.flags.segment] if self.flags.segment else []
        planned = self.hocket("plan", self.flags.collective, *self.at_goodput(share), *wished, "--size", size,
                              "--algo", algorithm, "-o", plan)
        chosen = next(c for c in planned["candidates"] if c["algorithm"] == planned["chosen"])
        segment = f"{chosen['segment_bytes']}B"
        simulated = self.hocket("sim", plan, *self.at_goodput(share), "--size", size, "--segment", segment, "--lanes")
        row = simulated["rows"][0]
        bytes_of = {link["link"]: link["bytes"] for link in simulated["links"]}
        times, ratios, correct = [], [], True
        for _ in range(self.flags.repeat):
            before = network.bytes_sent()
            result = self.run_once(network, plan, size, segment, simulated["lanes"])
            after = network.bytes_sent()
            times.append(result["time_s"])
            correct = correct and result["correct"]
            # A run executes the plan twice: once to warm up, once timed.
            ratios += [(after[link] - before[link]) / (2 * count) for link, count in bytes_of.items()
                       if count >= SMALL_BYTES]
        measured = statistics.median(times)
        return {"algorithm": planned["chosen"], "size_bytes": planned["size_bytes"],
                "segment_bytes": chosen["segment_bytes"], "predicted_s": row["step_time_s"],
                "measured_s": measured, "fastest_s": min(times), "slowest_s": max(times),
                "measured_over_predicted": measured / row["step_time_s"], "bound_s": row["bound_s"],
                "measured_over_bound": measured / row["bound_s"], "correct": correct,
                "bytes_over_schedule": [min(ratios), max(ratios)] if ratios else None}


def print_rows(rows, lab, share):
    print(f"{lab.flags.collective} on {lab.topology['name']}, {lab.topology['ranks']} ranks in namespaces; "
          f"goodput of a link {100 * share:.1f} % of {lab.flags.link.split(',')[0]}")
    print("plans, bounds and predictions are for that goodput; medians of", lab.flags.repeat, "runs\n")
    head = ("algorithm", "bytes", "segment", "bound ms", "predicted ms", "measured ms", "spread ms", "/predicted",
            "/bound", "bytes/plan", "data")
    lines = [head]
    for row in rows:
        sent = row["bytes_over_schedule"]
        lines.append((row["algorithm"], str(row["size_bytes"]), str(row["segment_bytes"]),
                      f"{1e3 * row['bound_s']:.1f}", f"{1e3 * row['predicted_s']:.1f}",
                      f"{1e3 * row['measured_s']:.1f}",
                      f"{1e3 * row['fastest_s']:.1f}-{1e3 * row['slowest_s']:.1f}",
                      f"{row['measured_over_predicted']:.3f}", f"{row['measured_over_bound']:.3f}",
                      f"{sent[0]:.3f}-{sent[1]:.3f}" if sent else "-", "right" if row["correct"] else "WRONG"))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(word.ljust(w) if i == 0 else word.rjust(w) for i, (word, w) in enumerate(zip(line, widths))))


def main():
    flags = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    with tempfile.TemporaryDirectory() as folder:
        try:
            lab = Lab(flags, folder)
            try:
                with Network(lab.topology) as network:
                    share = network.goodput()
                    rows = [lab.study(network, share, algorithm, size)
                            for size in flags.size.split(",") for algorithm in flags.algo.split(",")]
            finally:
                lab.stop()
        except LabError as error:
            print(f"lab: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 130
    if flags.json:
        print(json.dumps({"topology": lab.topology["name"], "goodput_share": share, "rows": rows}, indent=2))
    else:
        print_rows(rows, lab, share)
    good = all(row["correct"] and (row["bytes_over_schedule"] is None or (
        row["bytes_over_schedule"][0] >= 1 and row["bytes_over_schedule"][1] <= HEADERS_MAX)) for row in rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
