#!/usr/bin/env python3
"""All-reduce of hocket and of other libraries on one host, in turns, as ratios.

    bench/peers/install.sh peers && bench/peers/compare.py --peers peers --over shm --ranks 2

In every round each contestant runs once per size, one after another, so that all see the same load of the machine; a
ratio is taken within a round. Printed: median times, and the median ratio of hocket's time to each peer's with the
least and the most; last the best peer's. Over memory two floors of the machine stand beside, with all buffers mapped
and with private ones. What is not installed is named and left out; nothing here is needed by the build or the tests."""

import argparse
import statistics
import sys
import tempfile

from contestants import Failed, contestants


def iterations_for(size, wish):
    """About the same time for every size: many calls of few bytes, few of many."""
    return wish or max(5, min(5000, (64 << 20) // max(size, 1)))


def ratio_text(ours, theirs):
    ratios = [a / b for a, b in zip(ours, theirs)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def compare(found, size, args):
    names = list(found)
    times = {name: [] for name in names}
    n = iterations_for(size, args.iterations)
    for turn in range(args.rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            if name not in found:
                continue
            try:
                times[name].append(found[name].time_us(size, n, max(2, n // 10)))
            except Failed as reason:
                print(f"{name}: out: {reason}", file=sys.stderr)
                del found[name]
    names = list(found)
    words = ", ".join(f"{name} {statistics.median(times[name]):.1f}" for name in names)
    print(f"{size} B, {args.ranks} ranks: {words} us")
    ours = [name for name in names if name.startswith("hocket")]
    peers = [name for name in names if name not in ours and not name.endswith("floor")]
    for mine in ours:
        for name in names:
            if name not in ours:
                print(f"  {mine} / {name}: {ratio_text(times[mine], times[name])}")
    for mine in ours if peers else []:
        best = min(peers, key=lambda name: statistics.median(times[name]))
        print(f"  {mine} / the best peer, {best}: {ratio_text(times[mine], times[best])}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hocket", default="build/release/hocket")
    parser.add_argument("--peers", help="the folder of install.sh [the distribution's peers only]")
    parser.add_argument("--over", choices=("shm", "tcp"), default="shm")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="8,1048576,8388608,268435456", help="bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=0, help="of every measurement [by size]")
    parser.add_argument("--autogroup", type=int, help="nice value of the scheduler group of peers' ranks; root")
    parser.add_argument("--more", default="", help="more flags of hocket bench")
    parser.add_argument("--without", default="", help="names to leave out, with commas between")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = contestants(args, folder)
        for name in filter(None, args.without.split(",")):
            if found.pop(name, None) is None:
                parser.error(f"--without {name}: takes no part: {', '.join(found)}")
        for size in args.sizes.split(","):
            compare(found, int(size), args)


if __name__ == "__main__":
    main()
