# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench study seismic`: the study of snapshots behind one computing process, scaled down."""

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import h5py

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.rehearsal import MIB, Account, read_run
from tailrace.console import EXIT_RUN_FAILED, CommandError
from tailrace.programs import LaunchInfo, launch_info
from tailrace.strategies import dedicated_ranks, name_of, spawned_processes
from tailrace.units import bytes_text, duration_text
from tailrace_bench.study_results import BLOCKING, COMPUTE, ours, results
from tailrace_bench.study_seismic_findings import DEVICES, SOURCE, Device, summary, ways
from tailrace_bench.throttle import Throttle, find_throttle, writing_processes
from tailrace_bench.warm import warm_page_cache

PROGRAM = "tailrace-seismic"
DATASET = "snapshots/values"
# Of the study: points of the absorbing layer on both sides, steps from one snapshot to the next, points per
# second of its processor.
LAYERS, STEPS_PER_SNAPSHOT, STUDY_SAMPLES_S = 32, 10, 800e6
VALUE_BYTES = 4
MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
CASE = """[case]
simulation = "seismic"
[domain]
cells = [{cells}, {cells}, {cells}]
spacing_m = [12.5, 12.5, 12.5]
[time]
dt_s = 0.001
steps = {steps}
[model]
equations = "tti"
vp_m_s = 3000.0
epsilon = 0.24
delta = 0.1
dip_rad = 0.7853981633974483
azimuth_rad = 1.0
sigma = 0.75
[source]
fcut_hz = 40.0
cell = [{middle}, {middle}, {middle}]
"""
OUTPUT = """[[output]]
name = "snapshots"
quantity = "p"
every = {every}
initial = true
"""


@dataclass(frozen=True)
class Request:
    grids: tuple[int, ...]
    """Points per axis, as the study counts them: without the layers."""
    outputs: int
    pairs: int
    ranks: int
    """That compute; the study has one."""
    threads: int
    directory: Path | None = None


class Study:
    """The program, its files, and the device below them."""

    def __init__(self, request: Request, scratch: Path) -> None:
        self.request = request
        self.scratch = scratch
        self.program = native_program(PROGRAM)
        self.runner = Runner()
        self.throttle = find_throttle(scratch)
        self.samples_s = 0.0
        self.left_out: dict[str, str] = {}

    @property
    def mpi(self) -> LaunchInfo:
        return launch_info(self.program)

    def case_file(self, grid: int, writes: bool) -> Path:
        cells = cells_of(grid)
        text = CASE.format(cells=cells, middle=cells // 2, steps=self.request.outputs * STEPS_PER_SNAPSHOT)
        if writes:
            text += OUTPUT.format(every=STEPS_PER_SNAPSHOT)
        path = self.scratch / f"{'snapshots' if writes else 'none'}-{grid}.toml"
        path.write_text(text)
        return path

    def run(self, grid: int, way: str, device: "Limited | None" = None) -> dict[str, Any]:
        """One run; returns its run.json. Its files stay until the next one."""
        run_dir = self.scratch / "run"
        shutil.rmtree(run_dir, ignore_errors=True)
        warm_page_cache(self.scratch, self.request.outputs + 1, max(1, snapshot_bytes(grid) // MIB))
        strategy = BLOCKING if way == COMPUTE else way
        words = ["--case", str(self.case_file(grid, way != COMPUTE)), "--out", str(run_dir), "--quiet"]
        words += ["-t", str(self.request.threads), "--write", strategy, "--flush", "sample"]
        words += device.words(strategy, self.request.ranks) if device else []
        ranks = self.request.ranks + dedicated_ranks(strategy)
        command = on_ranks(self.program, ranks, self.request.threads, words, spawned_processes(strategy))
        self.runner.run(command, self.request.threads, device.prepare if device else None)
        return read_run(run_dir)

    def digest(self) -> str:
        """Of all the snapshots that the last run has written."""
        found = hashlib.blake2b()
        with h5py.File(self.scratch / "run" / "output.h5") as file:
            for snapshot in file[DATASET]:
                found.update(snapshot.tobytes())
        return found.hexdigest()


@dataclass(frozen=True)
class Limited:
    """A device of a rate: the block layer holds the program to it, or else its writes sleep."""

    bytes_s: float
    prepare: Callable[[], None] | None

    def words(self, strategy: str, ranks: int) -> list[str]:
        if self.prepare is not None:
            return []
        # The pace is that of each process: they share the device.
        return ["--pace", f"bandwidth={self.bytes_s / writing_processes(strategy, ranks):.0f}"]


@contextmanager
def limited(throttle: Throttle | str, bytes_s: float) -> Iterator[Limited]:
    if isinstance(throttle, str):
        yield Limited(bytes_s, None)
        return
    with throttle.limit(bytes_s) as prepare:
        yield Limited(bytes_s, prepare)


def cells_of(grid: int) -> int:
    return grid + LAYERS


def snapshot_bytes(grid: int) -> int:
    return cells_of(grid) ** 3 * VALUE_BYTES


def measure(request: Request) -> dict[str, Any]:
    """The whole study as a document."""
    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="tailrace-study-", dir=request.directory) as name:
        study = Study(request, Path(name))
        study.samples_s = computing_rate(study)
        experiments = measure_devices(study)
    document = make_document("study seismic", asdict(request), watch, study.runner.commands)
    document["settings"] |= {
        "directory": str(request.directory or tempfile.gettempdir()),
        "mpi": mpi_text(study.mpi),
        "throttle": study.throttle if isinstance(study.throttle, str) else "block layer",
    }
    return document | {
        "title": "Asynchronous snapshots: the reference study and ours",
        "subtitle": subtitle(study, document["machine"]),
        "source": SOURCE,
        "samples_s": study.samples_s,
        "left_out": study.left_out,
        "experiments": experiments,
    }


def subtitle(study: Study, machine: dict[str, Any]) -> str:
    throttle, request = study.throttle, study.request
    how = f"slept for ({throttle})" if isinstance(throttle, str) else "kept by the block layer"
    left_out = "".join(f"; {way} left out: {why}" for way, why in study.left_out.items())
    threads = f"{request.threads} thread{'s' * (request.threads > 1)}"
    ranks = f"{request.ranks} rank{'s' * (request.ranks > 1)}"
    return (
        f"{machine['processor']}, {machine['cores']} cores; {mpi_text(study.mpi)}; computed by {ranks} "
        f"with {threads}, {study.samples_s / 1e6:.0f} Msamples/s; {request.outputs + 1} snapshots of the "
        f"whole p, one every {STEPS_PER_SNAPSHOT} steps; flushed: each is on the device before the next is "
        f"written; rates of the devices {how}; {request.pairs} interleaved repetitions{left_out}"
    )


def mpi_text(mpi: LaunchInfo) -> str:
    return f"{MPI_NAMES.get(mpi.implementation, 'MPI')} {mpi.version}".strip()


def computing_rate(study: Study) -> float:
    """Points per second on the smallest grid, the median of three runs."""
    say("computation alone")
    grid = study.request.grids[0]
    samples = cells_of(grid) ** 3 * study.request.outputs * STEPS_PER_SNAPSHOT
    return samples / sorted(Account.of(study.run(grid, COMPUTE)).run_s for _ in range(3))[1]


def measure_devices(study: Study) -> list[dict[str, Any]]:
    started, done = time.monotonic(), 0
    total = len(DEVICES) * sum(cells_of(grid) ** 3 for grid in study.request.grids)
    found = []
    for device in DEVICES:
        rate = device.bytes_s * study.samples_s / STUDY_SAMPLES_S
        points = []
        with limited(study.throttle, rate) as limit:
            for grid in study.request.grids:
                left = (time.monotonic() - started) / done * (total - done) if done else None
                say(f"{device.title}, n = {grid}" + (f", about {duration_text(left)} left" if left else ""))
                points.append(measure_point(study, grid, limit))
                done += cells_of(grid) ** 3
        found.append(experiment(device, rate, points, study.mpi.implementation))
    return found


def experiment(
    device: Device, bytes_s: float, points: list[dict[str, Any]], implementation: str
) -> dict[str, Any]:
    return {
        "key": device.key,
        "title": f"{device.title}: {bytes_text(bytes_s)}/s",
        "bytes_s": bytes_s,
        "finding": device.finding,
        "points": points,
        "ours": ours(points),
        "summary": summary(device, points, bytes_s, implementation),
    }


def measure_point(study: Study, grid: int, limit: Limited) -> dict[str, Any]:
    """All ways one after the other, in another order each time, after a round that is left out of the times
    but whose snapshots must be those of `blocking`.
    """
    check_ways(study, grid, limit)
    chosen = [COMPUTE, *(way for way in ways() if way not in study.left_out)]
    runs: dict[str, list[Account]] = {way: [] for way in chosen}
    for repetition in range(study.request.pairs):
        for number in range(len(chosen)):
            way = chosen[(number + repetition) % len(chosen)]
            runs[way].append(Account.of(study.run(grid, way, limit)))
    return {
        "label": f"n = {grid}",
        "grid": grid,
        "sample_bytes": snapshot_bytes(grid),
        "snapshots": study.request.outputs + 1,
        "ways": results(runs),
    }


def check_ways(study: Study, grid: int, limit: Limited) -> None:
    """Leaves out ways that this machine or this MPI cannot do: another would be measured in their place."""
    digest = ""
    for way in ways():
        if way in study.left_out:
            continue
        reported = study.run(grid, way, limit)
        if why := stands_in(reported, way):
            study.left_out[way] = why
            say(f"{way} is left out: {study.left_out[way]}")
            continue
        found = study.digest()
        digest = digest or found
        if found != digest:
            raise CommandError(
                f"n = {grid}: the snapshots of --write {way} differ from those of {BLOCKING}.",
                EXIT_RUN_FAILED,
            )


def stands_in(reported: dict[str, Any], way: str) -> str:
    """Why a run was not written in the way asked for; empty if it was."""
    if way != "auto" and name_of(reported["strategy"]) != name_of(way):
        # The first line of the run's warning, since an MPI may say many.
        warnings = (text.splitlines()[0] for text in reported["warnings"] if way in text)
        return next(warnings, f"{reported['strategy']} was used")
    wanted, writers = dedicated_ranks(way) + spawned_processes(way), len(reported["writers"])
    return (
        f"{writers} of {wanted} writers: at most one for each rank that computes" if writers < wanted else ""
    )
