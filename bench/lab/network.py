"""A topology made of Linux network namespaces, for root: one namespace per rank, one veth pair per cable with a /31 of
its own, the rate of each direction set by a token bucket.

A token bucket lets frames through whole only when they fit its burst, so gso_max_size stays below it: otherwise the
kernel cuts every frame into packets and the machine, not the link, is the limit. Ranks also have an unshaped port on
a bridge for their rendezvous and for signs of life. Network is a context manager: whatever happens, the namespaces go.
"""

import collections
import ctypes
import os
import subprocess
import threading
import socket
import time

GSO_BYTES = 16384
BURST_BYTES = 20480
QUEUE_TIME = "10ms"
CLONE_NEWNET = 0x40000000
SYSCTLS = ("net.ipv6.conf.all.disable_ipv6=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0",
           "net.ipv4.tcp_no_metrics_save=1")


class LabError(Exception):
    """What the lab cannot do, in one line."""


Cable = collections.namedtuple("Cable", "a b rate_ab rate_ba address_a address_b")


def command(arguments, text=None):
    done = subprocess.run(arguments, input=text, text=True, capture_output=True)
    if done.returncode != 0:
        words = done.stderr.strip().splitlines() or ["failed"]
        raise LabError(f"{' '.join(arguments[:6])}: {words[-1]}")
    return done.stdout


def ip_batch(lines, namespace=None):
    within = ["-n", namespace] if namespace else []
    command(["ip", *within, "-batch", "-"], "\n".join(lines) + "\n")


def cables_of(topology):
    """One per pair of ranks, from the document of `hocket topo --json`."""
    number = {vertex["name"]: i for i, vertex in enumerate(topology["vertices"])}
    for vertex in topology["vertices"]:
        if vertex["kind"] != "npu":
            raise LabError(f"vertex '{vertex['name']}' is a {vertex['kind']}: the lab has cables between ranks only")
    rates = {}
    for link in topology["links"]:
        pair = (number[link["from"]], number[link["to"]])
        if pair in rates or link.get("parallel", 1) > 1:
            raise LabError(f"two links from {link['from']} to {link['to']}: two ranks have one connection in the lab")
        rates[pair] = link["bandwidth_Bps"]
    cables = []
    for (a, b), rate in sorted(rates.items()):
        if (b, a) not in rates:
            raise LabError(f"link {a} -> {b} has none back: a cable carries both ways")
        if a < b:
            k = len(cables)
            base = f"10.200.{k // 128}.{k % 128 * 2}"
            cables.append(Cable(a, b, rate, rates[b, a], base, f"10.200.{k // 128}.{k % 128 * 2 + 1}"))
    return cables


class Network:
    def __init__(self, topology):
        self.ranks = len(topology["vertices"])
        if self.ranks > 250:
            raise LabError(f"{self.ranks} ranks: the lab has addresses for 250")
        self.cables = cables_of(topology)
        self.prefix = f"hocketlab{os.getpid()}"
        self.made = []

    def name(self, rank):
        return f"{self.prefix}r{rank}"

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def build(self):
        middle = f"{self.prefix}m"
        for name in [middle] + [self.name(r) for r in range(self.ranks)]:
            command(["ip", "netns", "add", name])
            self.made.append(name)
        ip_batch(["link add bridge type bridge", "link set bridge up"], middle)
        ip_batch([f"link add p{r} netns {middle} type veth peer name port netns {self.name(r)}"
                  for r in range(self.ranks)])
        ip_batch([line for r in range(self.ranks) for line in (f"link set p{r} master bridge", f"link set p{r} up")],
                 middle)
        ip_batch([f"link add c{c.b} netns {self.name(c.a)} type veth peer name c{c.a} netns {self.name(c.b)}"
                  for c in self.cables])
        for rank in range(self.ranks):
            self.furnish(rank)

    def furnish(self, rank):
        ends = []  # device, address, bytes per second
        for c in self.cables:
            if c.a == rank:
                ends.append((f"c{c.b}", c.address_a, c.rate_ab))
            if c.b == rank:
                ends.append((f"c{c.a}", c.address_b, c.rate_ba))
        lines = ["link set lo up", f"addr add 10.254.0.{rank + 1}/24 dev port", "link set port up"]
        shapes = []
        for device, address, rate in ends:
            lines += [f"addr add {address}/31 dev {device}",
                      f"link set {device} gso_max_size {GSO_BYTES}", f"link set {device} up"]
            shapes.append(f"qdisc replace dev {device} root tbf rate {round(rate * 8)}bit burst {BURST_BYTES} "
                          f"latency {QUEUE_TIME}")
        ip_batch(lines, self.name(rank))
        inside = ["ip", "netns", "exec", self.name(rank)]
        command([*inside, "tc", "-batch", "-"], "\n".join(shapes) + "\n")
        command([*inside, "sysctl", "-qw", *SYSCTLS])

    def remove(self):
        for name in reversed(self.made):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.made = []

    def address_table(self):
        """The lines of hocket's --cables file."""
        lines = []
        for c in self.cables:
            lines.append(f"{c.a} {c.b} {c.address_a} {c.address_b}")
            lines.append(f"{c.b} {c.a} {c.address_b} {c.address_a}")
        return "\n".join(lines) + "\n"

    def bytes_sent(self):
        """Per directed link (from, to): what its device has sent so far, headers included."""
        sent = {}
        for rank in range(self.ranks):
            script = "for d in /sys/class/net/c*; do echo ${d##*/c} $(cat $d/statistics/tx_bytes); done"
            for line in command(["ip", "netns", "exec", self.name(rank), "sh", "-c", script]).splitlines():
                peer, count = line.split()
                sent[rank, int(peer)] = int(count)
        return sent

    def goodput(self, seconds=2.0):
        """Payload bytes per second over nominal rate of the first cable, both directions loaded at once."""
        c = self.cables[0]
        shares = [None, None]
        ways = ((c.a, c.b, c.address_b, c.rate_ab), (c.b, c.a, c.address_a, c.rate_ba))
        threads = [threading.Thread(target=self.measure_way, args=(way, seconds, shares, i))
                   for i, way in enumerate(ways)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if None in shares:
            raise LabError("the first cable carries no data")
        return sum(shares) / 2

    def measure_way(self, way, seconds, shares, place):
        source, target, address, rate = way
        listener = self.socket_in(target)
        listener.bind((address, 0))
        listener.listen(1)
        listener.settimeout(seconds + 5)
        sender = self.socket_in(source)
        sender.settimeout(seconds + 5)
        sender.connect(listener.getsockname())
        receiver, _ = listener.accept()
        receiver.settimeout(seconds + 5)
        end = time.monotonic() + seconds

        def pour():
            block = bytes(65536)
            while time.monotonic() < end:
                sender.send(block)
            sender.close()

        pouring = threading.Thread(target=pour)
        pouring.start()
        # The first tenth fills the queue and spends the bucket's credit.
        first = None
        count = 0
        while block := receiver.recv(1 << 20):
            now = time.monotonic()
            if first is None and now > end - 0.9 * seconds:
                first, count = now, 0
                continue
            count += len(block)
            last = now
        pouring.join()
        shares[place] = count / (last - first) / rate

    def socket_in(self, rank):
        """A socket stays in the namespace in which it was made; the thread comes back."""
        libc = ctypes.CDLL(None, use_errno=True)
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.name(rank)}", os.O_RDONLY)
        try:
            if libc.setns(there, CLONE_NEWNET) != 0:
                raise LabError(f"cannot enter {self.name(rank)}: {os.strerror(ctypes.get_errno())}")
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            for control in (b"cubic", b"reno"):  # as hocket's own sockets; one that paces would be slower
                try:
                    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
                    break
                except OSError:
                    continue
            return made
        finally:
            libc.setns(home, CLONE_NEWNET)
            os.close(there)
            os.close(home)
