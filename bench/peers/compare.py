#!/usr/bin/env python3
"""All-reduce of hocket and of MPI libraries on one host, in turns, as ratios.

In every round each contestant runs once per size, one after another, so that all see the same load of the machine; a
ratio is taken within a round. Printed: the median ratio of hocket's time to the peer's, the least and the most, and
median times. Peers are what is installed of Open MPI and MPICH; nothing here is needed by the build or the tests."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

PEERS = {
    "openmpi": ("mpicc.openmpi", "mpirun.openmpi",
                ["--allow-run-as-root", "--mca", "btl", "self,vader"]),
    "mpich": ("mpicc.mpich", "mpirun.mpich", []),
}
SOURCE = pathlib.Path(__file__).with_name("mpi_all_reduce.c")


def iterations_for(size, wish):
    """About the same time for every size: many calls of few bytes, few of many."""
    return wish or max(5, min(5000, (64 << 20) // max(size, 1)))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


class Contest:
    def __init__(self, args, folder):
        self.args = args
        self.mpi = {}
        for name, (compiler, launcher, flags) in PEERS.items():
            if not shutil.which(compiler) or not shutil.which(launcher):
                continue
            binary = pathlib.Path(folder) / name
            if subprocess.run([compiler, "-O2", "-o", str(binary), str(SOURCE)], check=False).returncode != 0:
                print(f"{name}: {compiler} cannot build {SOURCE.name}: left out")
                continue
            if name == "openmpi" and args.ranks > len(os.sched_getaffinity(0)):
                flags = [*flags, "--oversubscribe", "--bind-to", "none"]
            self.mpi[name] = [launcher, *flags, "-n", str(args.ranks), *self.weighed(), str(binary)]
        self.ours = {f"hocket {t}": t for t in args.transports.split(",")}

    def weighed(self):
        """Launchers may give their ranks a session, and so a scheduler group, of their own."""
        if self.args.autogroup is None:
            return []
        return ["sh", "-c", f'echo {self.args.autogroup} > /proc/self/autogroup; exec "$0" "$@"']

    def time_us(self, name, size):
        n = iterations_for(size, self.args.iterations)
        warmup = max(2, n // 10)
        if name in self.mpi:
            return float(run([*self.mpi[name], str(size), str(n), str(warmup)]).split()[-1])
        words = [self.args.hocket, "bench", "all_reduce", "--ranks", str(self.args.ranks), "-b", str(size), "-e",
                 str(size), "-n", str(n), "-w", str(warmup), "--transport", self.ours[name], "--json"]
        row = json.loads(run(words + self.args.more.split()))["rows"][0]
        if row["out_of_place"]["wrong"] or row["in_place"]["wrong"]:
            sys.exit(f"{name}: wrong data")
        return row["out_of_place"]["time_s"] * 1e6

    def size(self, size):
        names = [*self.ours, *self.mpi]
        times = {name: [] for name in names}
        for turn in range(self.args.rounds):
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                times[name].append(self.time_us(name, size))
        words = ", ".join(f"{name} {statistics.median(times[name]):.1f}" for name in names)
        print(f"{size} B, {self.args.ranks} ranks: {words} us")
        first = next(iter(self.ours))
        for name in names[1:]:
            ratios = [a / b for a, b in zip(times[first], times[name])]
            print(f"  {first} / {name}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hocket", default="build/release/hocket")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="8,32768,1048576,8388608,67108864", help="bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=0, help="of every measurement [by size]")
    parser.add_argument("--transports", default="shm,tcp", help="of hocket; the first is compared with all others")
    parser.add_argument("--autogroup", type=int, help="nice value of the scheduler group of MPI's ranks; root")
    parser.add_argument("--more", default="", help="more flags of hocket bench")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        contest = Contest(args, folder)
        for size in args.sizes.split(","):
            contest.size(int(size))


if __name__ == "__main__":
    main()
