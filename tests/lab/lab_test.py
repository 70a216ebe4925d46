#!/usr/bin/env python3
"""`hocket run --lab` with real namespaces: right data, every link's bytes are the schedule's, latencies and losses act,
nothing is left behind whatever ends it, and what it cannot build is named. Of times only those are judged that no load
of the machine can change. Without root or namespaces the test is skipped, with the reason (status 77).
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
NOBODY = 65534


def reason_to_skip():
    if os.geteuid() != 0:
        return "needs root"
    for program in ("ip", "tc", "unshare"):
        if shutil.which(program) is None:
            return f"needs the program '{program}'"
    made = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
    return "" if made.returncode == 0 else f"no network namespaces here: {made.stderr.strip()}"


def namespaces():
    """Every network namespace that a process is in or holds open."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            for link in [process / "ns/net", *(process / "fd").iterdir()]:
                target = os.readlink(link)
                if target.startswith("net:"):
                    found.add(target)
        except OSError:  # ended meanwhile
            continue
    return found


def within(seconds, holds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


class Test:
    def __init__(self, lab, binary, folder):
        self.lab = [sys.executable, "-B", lab, "--hocket", binary]
        self.binary = binary
        self.folder = pathlib.Path(folder)
        self.wrong = []

    def expect(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def plan(self, topology, algorithm, *changes):
        file = self.folder / f"{topology.replace(':', '-')}-{algorithm}.hkt"
        subprocess.run([self.binary, "plan", "all_reduce", "--topo", topology, *changes, "--size", "1MiB",
                        "--algo", algorithm, "-o", file], check=True, stdout=subprocess.DEVNULL)
        return str(file)

    def run(self, *arguments, **more):
        return subprocess.run([self.binary, "run", *arguments], capture_output=True, text=True, timeout=120, **more)

    def refused(self, done, *words):
        named = all(word in done.stderr for word in words)
        self.expect(done.returncode == 2 and named and done.stderr.count("\n") == 1 and not done.stdout,
                    f"status {done.returncode} instead of a line with {words}: {done.stderr}{done.stdout}")

    def check_rows(self, topology, document, algorithms):
        rows = document["rows"]
        self.expect([row["algorithm"] for row in rows] == algorithms, f"{topology}: rows: {rows}")
        for row in rows:
            name = f"{topology}, {row['algorithm']}"
            self.expect(row["correct"], f"{name}: wrong data")
            least, most = row["bytes_over_schedule"]
            self.expect(1 <= least <= most < 1.04, f"{name}: bytes {least} to {most} of the schedule's")
            self.expect(0 < row["bound_s"] <= row["predicted_s"] < 60 and row["measured_s"] > 0, f"{name}: times {row}")
            used = [link for link in row["links"] if link["schedule_bytes"] >= 65536]
            self.expect(used and all(link["sent_bytes"] >= link["schedule_bytes"] for link in used),
                        f"{name}: links {row['links']}")

    def data_and_bytes(self, topology, *algorithms):
        """Ways of several links, several cables between two ranks and switches too: every link has its bytes."""
        changes = ("--link", "100Mb/s,20us")
        files = [self.plan(topology, algorithm, *changes) for algorithm in algorithms]
        done = self.run(*files, "--lab", topology, *changes, "--size", "1MiB", "--repeat", "1", "--json")
        self.expect(done.returncode == 0, f"{topology}: status {done.returncode}: {done.stderr}")
        if done.stdout:
            self.check_rows(topology, json.loads(done.stdout), list(algorithms))

    def table_of_several(self):
        """The runner plans for each algorithm; its table names them."""
        done = subprocess.run([*self.lab, "--topo", "ring:4", "--link", "100Mb/s,20us", "--size", "256KiB,512KiB",
                               "--algo", "ring,packed_trees", "--break", "0-1", "--repeat", "1"],
                              capture_output=True, text=True, timeout=120)
        self.expect(done.returncode == 0 and done.stdout.count("packed_trees") == 2
                    and done.stdout.count(" right") == 4, f"lab.py: {done.returncode}: {done.stderr}{done.stdout}")

    def refusals(self):
        ring = self.plan("ring:4", "ring")
        large = self.plan("ring:300", "ring")
        here = ("--lab", "ring:4")
        self.refused(self.run(large, "--lab", "ring:300"), "300 vertices")
        self.refused(self.run(ring, "--lab", "nothing:4"), "nothing")
        self.refused(self.run(ring, "--lab", "ring:5"), ring, "4 ranks", "5")
        self.refused(self.run(ring, *here, "--transport", "tcp"), "--transport")
        self.refused(self.run(ring, "--repeat", "2"), "--lab")
        self.refused(self.run(ring, ring), "--lab")
        self.refused(self.run(ring, *here, env={"HOCKET_RANK": "0", "HOCKET_SIZE": "4"}), "HOCKET_RANK", "rank 0 of 4")
        for variable, word, said in (("HOCKET_TRANSPORT", "shm", "HOCKET_TRANSPORT='shm': --lab runs over tcp"),
                                     ("HOCKET_HOSTID", "a,b", "HOCKET_HOSTID='a,b' names the hosts of 2 ranks"),
                                     ("HOCKET_TCP_CONNECTIONS", "99", "HOCKET_TCP_CONNECTIONS='99'")):
            self.refused(self.run(ring, *here, env={variable: word}), said)
        self.refused(self.run(ring, *here, "--segment", "1B"), "--segment 1B: an element of f32 has 4B")
        self.refused(self.run(ring, *here, env={"PATH": str(self.folder)}), "program 'ip'", "iproute2")
        copy = self.folder / "hocket"  # where anybody may run it
        shutil.copy(self.binary, copy)
        self.folder.chmod(0o755)
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.refused(subprocess.run([copy, "run", ring, *here], capture_output=True, text=True, **nobody), "needs root")

    def latency(self):
        """Two messages one after the other take two latencies at least, and far less where links have none."""
        plan = self.plan("ring:2", "ring")
        for latency_ms, least, most in ((0.02, 0, 0.02), (20, 0.04, 60)):
            done = self.run(plan, "--lab", "ring:2", "--link", f"50Mb/s,{latency_ms}ms", "--size", "8B", "--repeat",
                            "5", "--json")
            self.expect(done.returncode == 0, f"latency {latency_ms} ms: status {done.returncode}: {done.stderr}")
            if done.stdout:
                row = json.loads(done.stdout)["rows"][0]
                self.expect(row["correct"] and least <= row["fastest_s"] <= most, f"latency {latency_ms} ms: {row}")
        self.refused(self.run(plan, "--lab", "ring:2", "--link", "50Mb/s,100s", "--size", "8B", "--timeout", "1000s"),
                     "latency of 100 s; the lab's may have 1 s")
        self.refused(self.run(plan, "--lab", "ring:2", "--link", "50Mb/s,100s", "--size", "8B", "--timeout", "5s"),
                     "--timeout 5s: a round trip from rank 0 to rank 1 takes 200 s by the latency of 1 link")
        self.refused(self.run(plan, "--lab", "ring:2", "--link", "1000Tb/s,1us", "--size", "8B"),
                     "ring:2: a link has 125 TB/s, but this host carries ", " over one in the lab: give a lower --link")
        hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/net && exec "$@"', "sh"]
        command = [*hidden, self.binary, "run", plan, "--lab", "ring:2", "--size", "8B", "--link", "50Mb/s,20ms"]
        self.refused(subprocess.run(command, capture_output=True, text=True, timeout=60), "20 ms", "/dev/net/tun")

    def too_fast(self):
        """Links of which this host carries only a part are told of; without bytes no ratio is infinite."""
        plan = self.plan("ring:2", "ring")
        empty = ("--lab", "ring:2", "--size", "0B", "--repeat", "1")
        for rate in ("50Mb/s", "100Gb/s"):
            done = self.run(plan, *empty, "--link", f"{rate},20us", "--json")
            self.expect(done.returncode == 0, f"{rate}: status {done.returncode}: {done.stderr}")
            if done.stdout:
                low = json.loads(done.stdout)["goodput_share"] < 0.9
                told = "lab: a link has " in done.stderr and " over one, " in done.stderr
                self.expect((low or rate == "50Mb/s") and told == low and done.stderr.count("\n") == low,
                            f"{rate}: {done.stderr}{done.stdout}")
        done = self.run(plan, *empty, "--link", "50Mb/s,20us")
        self.expect(done.returncode == 0 and "inf" not in done.stdout and " right" in done.stdout,
                    f"0B: status {done.returncode}: {done.stderr}{done.stdout}")

    def loss(self):
        """Frames are lost on every link, and the data are right all the same."""
        plan = self.plan("ring:3", "ring")
        for share in (0, 0.05):
            done = self.run(plan, "--lab", "ring:3", "--link", "100Mb/s,20us", "--size", "1MiB", "--link-loss",
                            str(share), "--json")
            self.expect(done.returncode == 0, f"loss {share}: status {done.returncode}: {done.stderr}")
            if not done.stdout:
                continue
            row = json.loads(done.stdout)["rows"][0]
            self.expect(row["correct"] and (row["lost_frames"] > 0) == (share > 0), f"loss {share}: {row}")
            used = [link for link in row["links"] if link["schedule_bytes"] > 0]
            self.expect(all((link["lost_frames"] > 0) == (share > 0) for link in used), f"loss {share}: {used}")
        self.refused(self.run(plan, "--lab", "ring:3", "--link-loss", "0.9"), "--link-loss", "0.9")

    def ended_by(self, number, latency, processes):
        """While ranks are under way: they end too, and their namespaces with them."""
        before = namespaces()
        plan = self.plan("mesh:2x2", "ring")  # without routes: for any rate and latency
        running = subprocess.Popen([self.binary, "run", plan, "--lab", "mesh:2x2", "--link", f"1Mb/s,{latency}",
                                    "--size", "16MiB"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        name = signal.Signals(number).name
        self.expect(within(30, lambda: self.ranks_of(running.pid) == processes), f"{name}: no ranks were started")
        self.expect(len(namespaces() - before) >= 5, f"{name}: namespaces {namespaces() - before}")
        running.send_signal(number)
        running.wait(timeout=60)
        self.expect(running.returncode != 0, f"{name}: status 0")
        self.expect(within(10, lambda: self.ranks_of(running.pid) == 0), f"{name}: ranks left")
        self.expect(within(10, lambda: namespaces() <= before), f"{name}: namespaces left: {namespaces() - before}")

    def without_carrier(self):
        """The process that holds frames ends: nobody waits for a deadline, and one line says why."""
        plan = self.plan("mesh:2x2", "ring")
        running = subprocess.Popen([self.binary, "run", plan, "--lab", "mesh:2x2", "--link", "1Mb/s,5ms", "--size",
                                    "16MiB", "--timeout", "1000s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        self.expect(within(30, lambda: self.ranks_of(running.pid) == 5), "carrier: no ranks were started")
        words = [pathlib.Path(f"/proc/{pid}/cmdline") for pid in (running.pid, *self.children_of(running.pid))]
        carrier = next(word.parent.name for word in words[1:] if word.read_text() == words[0].read_text())
        os.kill(int(carrier), signal.SIGKILL)
        try:
            out, err = running.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            running.kill()
            out, err = running.communicate()
        said = err.count("\n") == 1 and f"(pid {carrier}) has ended" in err
        self.expect(running.returncode == 3 and said and not out, f"carrier: status {running.returncode}: {err}{out}")

    @staticmethod
    def children_of(process):
        return pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()

    @staticmethod
    def ranks_of(session):
        """Processes of a session apart from its leader."""
        count = 0
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            count += int(fields[3]) == session and int(process.name) != session and fields[0] != "Z"
        return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lab", required=True)
    parser.add_argument("--binary", required=True)
    flags = parser.parse_args()
    reason = reason_to_skip()
    if reason:
        print("lab test skipped:", reason)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        test = Test(str(pathlib.Path(flags.lab).resolve()), flags.binary, folder)
        test.data_and_bytes("mesh:2x3", "ring", "packed_trees", "dimension_rings")
        test.data_and_bytes("torus:2x2", "packed_trees", "swing")
        test.data_and_bytes("switch:3", "ring")
        test.table_of_several()
        test.refusals()
        test.latency()
        test.too_fast()
        test.loss()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            test.ended_by(number, "20us", 4)
        test.ended_by(signal.SIGKILL, "1ms", 5)  # one moves the frames of slow cables
        test.without_carrier()
    for what in test.wrong:
        print("wrong:", what)
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
