"""Who takes part in compare.py: hocket, the floor of the machine, and what is installed of the peers. A contestant is
built once and then gives the microseconds of one all-reduce of so many bytes."""

import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TIMEOUT_S = 120
REGISTERED = "hocket, registered"


class Failed(Exception):
    """A contestant that gave no time, with the reason in one line."""


def run(command, **variables):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **variables})
    except subprocess.TimeoutExpired:
        raise Failed(f"no end within {TIMEOUT_S} s") from None
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {(done.stderr.strip().splitlines() or ['no words'])[-1]}")
    return done.stdout


def build(command, program, **variables):
    """None when it cannot be built, with the reason on stderr."""
    done = subprocess.run([*command, "-O2", "-o", str(program)], capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})
    if done.returncode == 0:
        return str(program)
    print(f"{program.name}: left out: {(done.stderr.strip().splitlines() or ['cannot be built'])[-1]}", file=sys.stderr)
    return None


def weighed(autogroup):
    """Launchers may give their ranks a session, and so a scheduler group, of their own."""
    if autogroup is None:
        return []
    return ["sh", "-c", f'echo {autogroup} > /proc/self/autogroup; exec "$0" "$@"']


class Hocket:
    def __init__(self, args, transport, registered=0):
        self.args = args
        self.transport = transport
        self.registered = registered

    def time_us(self, size, n, warmup):
        words = [self.args.hocket, "bench", "all_reduce", "--ranks", str(self.args.ranks), "-b", str(size), "-e",
                 str(size), "-n", str(n), "-w", str(warmup), "--transport", self.transport, "-R", str(self.registered),
                 "--json"]
        row = json.loads(run(words + self.args.more.split()))["rows"][0]
        if row["out_of_place"]["wrong"] or row["in_place"]["wrong"]:
            raise Failed("wrong data")
        return row["out_of_place"]["time_s"] * 1e6


class Launched:
    """A program that a launcher starts once per rank."""

    def __init__(self, command, variables):
        self.command = command
        self.variables = variables

    def time_us(self, size, n, warmup):
        return float(run([*self.command, str(size), str(n), str(warmup)], **self.variables).split()[-1])


class SelfMade:
    """Processes that find each other through a file or a folder; each is told its rank."""

    def __init__(self, args, folder, words, more, is_folder):
        self.args, self.folder, self.words, self.more, self.is_folder = args, folder, words, more, is_folder

    def time_us(self, size, n, warmup):
        meeting = pathlib.Path(self.folder) / secrets.token_hex(8)
        if self.is_folder:
            meeting.mkdir()
        start = [*weighed(self.args.autogroup), *self.words]
        ranks = [subprocess.Popen([*start, str(r), str(self.args.ranks), str(meeting), *self.more, str(size), str(n),
                                   str(warmup)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for r in range(self.args.ranks)]
        try:
            ended = [rank.communicate(timeout=TIMEOUT_S) for rank in ranks]
        except subprocess.TimeoutExpired:
            for rank in ranks:
                rank.kill()
            raise Failed(f"no end within {TIMEOUT_S} s") from None
        for rank, (_, words) in zip(ranks, ended):
            if rank.returncode != 0:
                raise Failed(f"exit {rank.returncode}: {(words.strip().splitlines() or ['no words'])[-1]}")
        return float(ended[0][0].split()[-1])


class Floor:
    def __init__(self, program, ranks, *words):
        self.program, self.ranks, self.words = program, ranks, words

    def time_us(self, size, n, warmup):
        return float(run([self.program, str(self.ranks), str(size), str(n), str(warmup), *self.words]))


def mpi_libraries(peers):
    """Name: compiler, launcher, root of the installation or None."""
    found = {"openmpi": ("mpicc.openmpi", "mpirun.openmpi", None), "mpich": ("mpicc.mpich", "mpirun.mpich", None)}
    if peers:
        for name in ("openmpi5", "mpich5", "intelmpi"):
            root = pathlib.Path(peers) / name
            launcher = "mpiexec.hydra" if name == "intelmpi" else "mpirun"
            found[name] = (str(root / "bin/mpicc"), str(root / "bin" / launcher), root)
    return found


def mpi_flags(name, args):
    """Flags of the launcher and variables, over memory or over TCP."""
    tcp = args.over == "tcp"
    if name.startswith("openmpi"):
        shared = "vader" if name == "openmpi" else "sm"
        flags = ["--allow-run-as-root", "--mca", "pml", "ob1", "--mca", "btl", "self,tcp" if tcp else f"self,{shared}"]
        if tcp:
            flags += ["--mca", "btl_tcp_if_include", "lo"]
        if args.ranks > len(os.sched_getaffinity(0)):
            flags += ["--map-by", ":OVERSUBSCRIBE"] if name == "openmpi5" else ["--oversubscribe"]
            flags += ["--bind-to", "none"]
        return flags, {}
    if name == "intelmpi":
        fabric = {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"} if tcp else {"I_MPI_FABRICS": "shm"}
        return ["-launcher", "fork"], fabric
    return [], {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "self,tcp"} if tcp else {}


def contestants(args, folder):
    """By name, in order; the first is compared with all others."""
    found = {f"hocket {args.over}": Hocket(args, args.over)}
    if args.over == "shm":
        found[REGISTERED] = Hocket(args, args.over, 1)
    folder = pathlib.Path(folder)
    cores = len(os.sched_getaffinity(0))
    if args.over == "shm":
        program = build(["c++", "-O3", "-march=native", "-pthread", str(HERE / "shared_floor.cpp")], folder / "floor")
        if program and cores > 1:
            found["floor"] = Floor(program, args.ranks)
            found["private floor"] = Floor(program, args.ranks, "private")
    for name, (compiler, launcher, root) in mpi_libraries(args.peers).items():
        if not shutil.which(compiler) or not shutil.which(launcher):
            print(f"{name}: left out: not installed", file=sys.stderr)
            continue
        places = [] if root is None else [f"-I{root}/include"]
        program = build([compiler, *places, str(HERE / "mpi_all_reduce.c")], folder / name,
                        **({"I_MPI_ROOT": str(root)} if name == "intelmpi" else {}))
        if program:
            flags, variables = mpi_flags(name, args)
            if name == "intelmpi":
                variables["I_MPI_ROOT"] = str(root)
            found[name] = Launched([launcher, *flags, "-n", str(args.ranks), *weighed(args.autogroup), program],
                                   variables)
    add_oneccl(found, args, folder)
    if args.over == "tcp":
        add_gloo(found, args, folder)
    return found


def add_oneccl(found, args, folder):
    root = pathlib.Path(args.peers or "/nowhere") / "oneccl"
    if not (root / "include/oneapi/ccl.hpp").exists():
        print("oneccl: left out: not installed", file=sys.stderr)
        return
    program = build(["c++", "-std=c++17", str(HERE / "oneccl_all_reduce.cpp"), f"-I{root}/include", f"-L{root}/lib",
                     "-lccl", "-lmpi", f"-Wl,-rpath-link,{root}/lib"], folder / "oneccl")
    if program:
        flags, variables = mpi_flags("intelmpi", args)
        variables |= {"CCL_ROOT": str(root), "I_MPI_ROOT": str(root), "CCL_ATL_TRANSPORT": "mpi",
                      "CCL_LOG_LEVEL": "error", "LD_LIBRARY_PATH": f"{root}/lib"}
        found["oneccl"] = Launched([str(root / "bin/mpiexec.hydra"), *flags, "-n", str(args.ranks),
                                    *weighed(args.autogroup), program], variables)


def add_gloo(found, args, folder):
    program = build(["c++", "-std=c++17", str(HERE / "gloo_all_reduce.cpp"), "-lgloo", "-pthread"], folder / "gloo")
    if program:
        for algorithm in ("ring_chunked", "halving_doubling"):
            found[f"gloo {algorithm}"] = SelfMade(args, folder, [program], [algorithm], is_folder=True)
    python = pathlib.Path(args.peers or "/nowhere") / "torch/bin/python"
    if python.exists():
        words = [str(python), str(HERE / "torch_all_reduce.py")]
        found["torch gloo"] = SelfMade(args, folder, words, [], is_folder=False)
    else:
        print("torch: left out: not installed", file=sys.stderr)
