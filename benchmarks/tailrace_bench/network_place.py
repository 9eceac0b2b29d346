# SPDX-License-Identifier: BSD-3-Clause
"""Where the ranks of a network benchmark are: on this machine, on hosts, or at the ends of a link with a
given delay in place of a second node.
"""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tailrace.bench.programs import native_program, on_ranks
from tailrace.console import CommandError
from tailrace.launch import Launcher, find_launcher
from tailrace.programs import checkout_root, launch_info

BUILD = {
    "openmpi": "./tailrace --build programs",
    # The preset is for tests, without benchmarks.
    "mpich": "cmake --preset mpich -DTAILRACE_BENCHMARKS=ON && "
    "cmake --build build-mpich --target tailrace-bench-network",
}
PROGRAM, LINK = "tailrace-bench-network", "tailrace-bench-link"
TUN = Path("/dev/net/tun")
SSH_PORT, ANSWER_S = 22, 5.0
# The address of each end, and the name of its interface and of its network namespace.
ENDS = tuple((f"10.213.91.{end}", f"tail{os.getpid()}-{end}") for end in (1, 2))
# Both MPIs start the rank of the other end by a program that is called like ssh.
AGENT = """#!/bin/sh
# Runs the command of a launcher at the other end of the link, under a host name of its own.
while [ "${1#-}" != "$1" ]; do shift; done
shift
exec ip netns exec SPACE unshare --uts sh -c "hostname SPACE; $*"
"""


@dataclass(frozen=True)
class Place:
    """Where two ranks are. `delay_us`: at the ends of a link that takes so long; `hosts`: there."""

    delay_us: float | None = None
    hosts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        if self.delay_us is not None:
            return f"link + {self.delay_us:g} µs"
        return ", ".join(self.hosts) or "this machine"

    @property
    def one_machine(self) -> bool:
        return self.delay_us is None and not self.hosts


def programs_of(mpi: str) -> Path:
    """The native program of the build with this MPI: openmpi, mpich, or the directory of its programs."""
    if Path(mpi).is_dir():
        return checked(Path(mpi) / PROGRAM, mpi)
    root = checkout_root()
    for info in sorted(root.glob("build*/bin/tailrace-launch.json")) if root else []:
        if json.loads(info.read_text()).get("implementation") == mpi:
            return checked(info.with_name(PROGRAM), mpi)
    raise CommandError(
        f"--mpi {mpi}: no build with it. Fix: {BUILD.get(mpi, 'a build with it')}, or give the directory "
        "of its programs"
    )


def checked(program: Path, mpi: str) -> Path:
    if not os.access(program, os.X_OK):
        raise CommandError(f"--mpi {mpi}: {program} is not there. Fix: build it")
    return program


def reason_against_links() -> str | None:
    """Why this machine cannot have a link of two network namespaces; None if it can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if missing := [name for name in ("ip", "unshare") if shutil.which(name) is None]:
        return f"{' and '.join(missing)} not on PATH (Debian: iproute2, util-linux)"
    if not TUN.exists():
        return f"{TUN} is not there"
    name = f"tailrace-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return made.stderr.strip() or None


def check_hosts(hosts: tuple[str, ...]) -> None:
    """Raises CommandError for a host that does not answer, before a launcher waits for it for minutes."""
    for host in hosts:
        try:
            socket.create_connection((host.partition(":")[0], SSH_PORT), ANSWER_S).close()
        except OSError as error:
            raise CommandError(
                f"--host {host}: does not answer at port {SSH_PORT} (ssh): {error.strerror or error}. "
                "Fix: start ssh there, or leave it out"
            ) from None


@contextmanager
def start_words(program: Path, ranks: int, place: Place) -> Iterator[list[str]]:
    """The command line that starts the program there, without the program's own options. A link lasts as
    long as the context.
    """
    if place.one_machine:
        yield on_ranks(program, ranks, 1, [])
        return
    launcher = find_launcher(launch_info(program), None, ranks)
    if place.hosts:
        yield [*on_hosts(launcher, place.hosts, None), "-n", str(ranks), str(program)]
        return
    with TemporaryDirectory(prefix="tailrace-link-") as folder, link(place.delay_us or 0.0):
        agent = Path(folder) / "agent"
        agent.write_text(AGENT.replace("SPACE", ENDS[1][1]))
        agent.chmod(0o755)
        words = on_hosts(launcher, tuple(address for address, _ in ENDS), agent)
        yield ["ip", "netns", "exec", ENDS[0][1], *words, "-n", str(ranks), str(program)]


def on_hosts(launcher: Launcher, hosts: tuple[str, ...], agent: Path | None) -> list[str]:
    if launcher.kind == "openmpi":
        words = [launcher.path, "--host", ",".join(hosts), "--bind-to", "none", "--map-by", "node"]
        # One-sided operations over TCP are in a component that Debian leaves out.
        over_tcp = {"plm_rsh_agent": str(agent), "pml": "ob1", "btl": "tcp,self", "osc": "pt2pt"}
        return words + [word for one in over_tcp.items() for word in ("--mca", *one)] if agent else words
    if launcher.kind == "mpich":
        words = [launcher.path, "-hosts", ",".join(hosts), "-bind-to", "none", "-ppn", "1"]
        # UCX finds out that both ends are one machine, and would go round the link by its memory.
        over_tcp = ["-genv", "UCX_TLS", "tcp,self", "-launcher", "ssh", "-launcher-exec", str(agent)]
        return [*words, *over_tcp] if agent else words
    raise CommandError(f"hosts with the launcher {launcher.path}: not known how to name them to it.")


@contextmanager
def link(delay_us: float) -> Iterator[None]:
    """Two network namespaces with a link between them that takes so much longer, each way."""
    command = [str(native_program(LINK)), "--delay-us", str(delay_us), *(name for _, name in ENDS)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout is None or process.stdout.readline().strip() != "ready":
            raise CommandError(f"{LINK} did not start.")
        connect_ends()
        yield
    finally:
        if process.stdin:
            process.stdin.close()
        process.wait(10)
        remove_spaces()


def connect_ends() -> None:
    for (address, name), (other, _) in zip(ENDS, reversed(ENDS), strict=True):
        for words in (
            ["netns", "add", name],
            ["link", "set", name, "netns", name],
            ["-n", name, "address", "add", address, "peer", other, "dev", name],
            ["-n", name, "link", "set", "lo", "up"],
            ["-n", name, "link", "set", name, "up"],
        ):
            done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise CommandError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def remove_spaces() -> None:
    for _, name in ENDS:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
