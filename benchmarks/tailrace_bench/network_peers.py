# SPDX-License-Identifier: BSD-3-Clause
"""Other people's benchmarks beside ours: NetPIPE, and any program that prints sizes and microseconds."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tailrace.bench.programs import Runner, on_ranks
from tailrace.console import CommandError

NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}
NETPIPE_NAME = "netpipe"
# They call MPI_Init, which asks for no thread support: with more of it, small messages take longer.
BY_MPI_INIT = ("--threads", "single")
Times = dict[int, float]  # seconds of half a round trip, by size
_ROW = re.compile(r"\s*(\d+)\s+([0-9.]+(?:[eE][-+]?\d+)?)\s*(?:\s.*)?")


@dataclass(frozen=True)
class Peer:
    """A program beside ours. `statistic`: what its number is of all that it has timed, as our rows call it:
    NetPIPE prints the best of its repetitions, OSU's and Intel's programs the mean. `words`: with which our
    program does what the peer does.
    """

    name: str
    statistic: str
    times: Callable[[Runner, Sequence[int]], Times]
    words: tuple[str, ...]


def make_peer(text: str, mpi: str, repeats: int) -> Peer:
    """`text` as `check_peers` lets it pass. Raises CommandError where NetPIPE is not installed."""
    if text == NETPIPE_NAME:
        program = find_netpipe(mpi)
        return Peer(
            text,
            "min_s",
            lambda runner, sizes: netpipe(runner, program, sizes, repeats),
            (*BY_MPI_INIT, "--bounced"),
        )
    name, _, command = text.partition("=")
    return Peer(name, "mean_s", lambda runner, _: peer(runner, name, command), BY_MPI_INIT)


def find_netpipe(mpi: str) -> Path:
    program = shutil.which(NETPIPE.get(mpi, ""))
    if program is None:
        raise CommandError(
            f"--peer {NETPIPE_NAME}: {NETPIPE.get(mpi, 'a NetPIPE for ' + mpi)} is not on PATH. Fix: install "
            "it (Debian: netpipe-openmpi, netpipe-mpich2), or leave it out"
        )
    return Path(program)


def netpipe(runner: Runner, program: Path, sizes: Sequence[int], repeats: int) -> Times:
    """Times of the sizes that NetPIPE measures, too; it knows no messages without bytes."""
    known = [size for size in sizes if size > 0]
    with TemporaryDirectory() as folder:
        output = Path(folder) / "np.out"
        words = ["-l", str(min(known)), "-u", str(max(known)), "-n", str(repeats), "-o", str(output)]
        runner.run(on_ranks(program, 2, 1, words))
        return {size: one for size, one in read_netpipe(output.read_text()).items() if size in known}


def read_netpipe(text: str) -> Times:
    """Its file: bytes, megabits per second, seconds."""
    times = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) == 3:
            size, rate = int(parts[0]), float(parts[1])
            # Its seconds have two digits at small sizes; its rate has them all.
            times[size] = size * 8 / (rate * (1 << 20)) if rate > 0 else float(parts[2])
    return times


def check_peers(texts: Iterable[str]) -> None:
    """Raises CommandError for a peer that is neither NetPIPE nor NAME=COMMAND."""
    for text in texts:
        name, _, command = text.partition("=")
        if text != NETPIPE_NAME and not (name and command):
            raise CommandError(f"--peer {text}: give NAME=COMMAND, or {NETPIPE_NAME}.")


def peer(runner: Runner, name: str, command: str) -> Times:
    """A command that prints lines of bytes and microseconds, as OSU's osu_latency does."""
    times = read_latencies(runner.run(shlex.split(command)).output)
    if not times:
        raise CommandError(f"--peer {name}: its output has no lines of bytes and microseconds.")
    return times


def read_latencies(text: str) -> Times:
    """Lines of a size and microseconds; other lines are left out. IMB's have repetitions between the two."""
    times: Times = {}
    repeats_between = "#repetitions" in text
    for line in text.splitlines():
        found = _ROW.fullmatch(line)
        parts = line.split()
        if found is None or (repeats_between and len(parts) < 3):
            continue
        times[int(parts[0])] = float(parts[2] if repeats_between else parts[1]) * 1e-6
    return times
