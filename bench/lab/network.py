"""A topology made of Linux network namespaces, for root: one namespace per vertex (ranks and switches), one veth pair
per cable with a /31 of its own, the rate of each direction set by a token bucket. The device l7 in the namespace where
link 7 begins is that link: what it has sent are the link's bytes.

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
           "net.ipv4.ip_forward=1", "net.ipv4.tcp_no_metrics_save=1")


class LabError(Exception):
    """What the lab cannot do, in one line."""


Cable = collections.namedtuple("Cable", "number ends")  # two ends, each sends over one link
End = collections.namedtuple("End", "vertex link device address rate")  # no link: nothing is planned that way
Way = collections.namedtuple("Way", "a b forth back")  # ranks, and the links from a to b and from b to a


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
    """Links between the same two vertices, one there and one back each, from the document of `hocket topo --json`."""
    number = {vertex["name"]: i for i, vertex in enumerate(topology["vertices"])}
    links = collections.defaultdict(list)  # by vertices, (id, rate)
    for i, link in enumerate(topology["links"]):
        if link.get("parallel", 1) > 1:
            raise LabError(f"link {i} stands for {link['parallel']} cables; the lab wants a link for each")
        links[number[link["from"]], number[link["to"]]].append((i, link["bandwidth_Bps"]))
    cables = []
    for u, v in sorted({(min(pair), max(pair)) for pair in links}):
        there, back = links[u, v], links[v, u]
        for k in range(max(len(there), len(back))):
            n = len(cables)
            ends = []
            for vertex, way in ((u, there), (v, back)):
                link, rate = way[k] if k < len(way) else (None, (there + back)[0][1])
                device = f"x{n}" if link is None else f"l{link}"
                ends.append(End(vertex, link, device, f"10.200.{n // 128}.{n % 128 * 2 + len(ends)}", rate))
            cables.append(Cable(n, ends))
    return cables


class Network:
    def __init__(self, topology):
        self.kinds = [vertex["kind"] for vertex in topology["vertices"]]
        self.ranks = topology["ranks"]
        if len(self.kinds) > 250:
            raise LabError(f"{len(self.kinds)} vertices: the lab has addresses for 250")
        if "npu" in self.kinds[self.ranks:] or self.kinds[:self.ranks] != ["npu"] * self.ranks:
            raise LabError("the ranks are not the first vertices of this topology")
        self.cables = cables_of(topology)
        self.over = {end.link: (end, cable.ends[1 - i]) for cable in self.cables for i, end in enumerate(cable.ends)
                     if end.link is not None}  # by link: where it begins and where it ends
        self.prefix = f"hocketlab{os.getpid()}"
        self.made = []
        self.ways = {}  # addresses of a and b

    def name(self, vertex):
        return f"{self.prefix}v{vertex}"

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
        for name in [middle] + [self.name(v) for v in range(len(self.kinds))]:
            command(["ip", "netns", "add", name])
            self.made.append(name)
        ip_batch(["link add bridge type bridge", "link set bridge up"], middle)
        ip_batch([f"link add p{r} netns {middle} type veth peer name port netns {self.name(r)}"
                  for r in range(self.ranks)])
        ip_batch([line for r in range(self.ranks) for line in (f"link set p{r} master bridge", f"link set p{r} up")],
                 middle)
        ip_batch([f"link add {c.ends[0].device} netns {self.name(c.ends[0].vertex)} type veth peer name "
                  f"{c.ends[1].device} netns {self.name(c.ends[1].vertex)}" for c in self.cables])
        for vertex in range(len(self.kinds)):
            self.furnish(vertex)

    def furnish(self, vertex):
        lines = ["link set lo up"]
        if vertex < self.ranks:
            lines += [f"addr add 10.254.0.{vertex + 1}/24 dev port", "link set port up"]
        shapes = []
        for end in (end for cable in self.cables for end in cable.ends if end.vertex == vertex):
            lines += [f"addr add {end.address}/31 dev {end.device}",
                      f"link set {end.device} gso_max_size {GSO_BYTES}", f"link set {end.device} up"]
            shapes.append(f"qdisc replace dev {end.device} root tbf rate {round(end.rate * 8)}bit burst {BURST_BYTES} "
                          f"latency {QUEUE_TIME}")
        ip_batch(lines, self.name(vertex))
        inside = ["ip", "netns", "exec", self.name(vertex)]
        if shapes:
            command([*inside, "tc", "-batch", "-"], "\n".join(shapes) + "\n")
        command([*inside, "sysctl", "-qw", *SYSCTLS])

    def remove(self):
        for name in reversed(self.made):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.made = []

    def address_table(self, lanes):
        """The lines of hocket's --cables file for a plan's lanes, after the ways that they take are laid."""
        by_pair = collections.defaultdict(lambda: ({}, {}))
        for lane in lanes:
            pair = (min(lane["from"], lane["to"]), max(lane["from"], lane["to"]))
            by_pair[pair][lane["from"] > lane["to"]][lane["lane"]] = tuple(lane["links"])
        ways = []
        for (a, b), (forth, back) in sorted(by_pair.items()):
            for k in range(max(len(forth), len(back))):
                # Where one direction has fewer ways than the other, its acknowledgements share the first of them.
                f, g = forth.get(k, forth.get(0)), back.get(k, back.get(0))
                ways.append(Way(a, b, f or self.turned(g), g or self.turned(f)))
        self.lay([way for way in ways if way not in self.ways])
        lines = []
        for way in ways:
            at_a, at_b = self.ways[way]
            lines += [f"{way.a} {way.b} {at_a} {at_b}", f"{way.b} {way.a} {at_b} {at_a}"]
        return "\n".join(lines) + "\n"

    def turned(self, links):
        """The same cables the other way round."""
        return tuple(self.over[link][1].link for link in reversed(links))

    def lay(self, ways):
        """Gives each way a pair of addresses; on a way of several links every vertex learns where they lead."""
        lines = collections.defaultdict(list)
        for way in ways:
            if len(way.forth) == 1 and way.back == self.turned(way.forth):
                self.ways[way] = tuple(end.address for end in self.over[way.forth[0]])
                continue
            n = len(self.ways)
            pair = tuple(f"10.{100 + n // 32768}.{n // 128 % 256}.{n % 128 * 2 + side}" for side in (0, 1))
            self.ways[way] = pair
            for rank, address in zip((way.a, way.b), pair):
                lines[rank].append(f"addr add {address}/32 dev lo")
            for links, address in ((way.forth, pair[1]), (way.back, pair[0])):
                for link in links:
                    begin, end = self.over[link]
                    lines[begin.vertex].append(f"route add {address}/32 via {end.address} dev {begin.device}")
        for vertex, batch in lines.items():
            ip_batch(batch, self.name(vertex))

    def bytes_sent(self):
        """By link: what its device has sent so far, headers included."""
        sent = {}
        script = "for d in /sys/class/net/l[0-9]*; do echo ${d##*/l} $(cat $d/statistics/tx_bytes); done"
        for vertex in {begin.vertex for begin, _ in self.over.values()}:
            for line in command(["ip", "netns", "exec", self.name(vertex), "sh", "-c", script]).splitlines():
                link, count = line.split()
                sent[int(link)] = int(count)
        return sent

    def goodput(self, seconds=2.0):
        """Payload bytes per second over nominal rate of the first cable, both directions loaded at once."""
        first, second = self.cables[0].ends
        shares = [None, None]
        ways = ((first.vertex, second.vertex, second.address, first.rate),
                (second.vertex, first.vertex, first.address, second.rate))
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

    def socket_in(self, vertex):
        """A socket stays in the namespace in which it was made; the thread comes back."""
        libc = ctypes.CDLL(None, use_errno=True)
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.name(vertex)}", os.O_RDONLY)
        try:
            if libc.setns(there, CLONE_NEWNET) != 0:
                raise LabError(f"cannot enter {self.name(vertex)}: {os.strerror(ctypes.get_errno())}")
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
