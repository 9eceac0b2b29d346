# SPDX-License-Identifier: BSD-3-Clause
"""Small runs of every program that are stopped or killed and resumed, and what they come to."""

import contextlib
import os
import signal
from functools import partial
from pathlib import Path

import numpy as np

import jobs
from kwave_input import small_input
from molecules_cases import RESTLESS, mixture, output, table
from shared import Shared

STEPS = 40
EVERY = 7

# The state, a series, sums and extremes over time, points of several ranks.
SEISMIC = f"""
[case]
simulation = "seismic"
[domain]
cells = [15, 14, 13]
spacing_m = [10, 11, 12]
[time]
dt_s = 0.001
steps = {STEPS}
[model]
equations = "tti"
vp_m_s = 2500
epsilon = 0.2
delta = 0.1
dip_rad = 0.5
azimuth_rad = 0.3
[source]
wavelet = "ricker"
fcut_hz = 40
cells = [[7, 6, 6], [0, 12, 3]]
amplitudes = [1, -2.5]
[boundary]
kind = "random"
width = 3
[[output]]
name = "series"
quantity = "q"
every = 3
[[output]]
name = "loud"
quantity = "p"
reduce = "max"
[[output]]
name = "rms"
quantity = "p"
reduce = "rms"
first = 5
type = "float64"
[[output]]
name = "mean"
quantity = "q"
reduce = "mean"
select = {{points = [[14, 13, 12], [0, 0, 0], [7, 6, 6], [0, 0, 0]]}}
[checkpoint]
every = {EVERY}
"""

REHEARSAL = f"""
[case]
simulation = "rehearse"
[domain]
cells = [16]
[rehearse]
select = ["whole", "boxes:5", "points:9"]
[time]
steps = {STEPS}
[[output]]
name = "rms"
quantity = "v"
reduce = "rms"
[[output]]
name = "least"
quantity = "v"
reduce = "min"
first = 9
[checkpoint]
every = {EVERY}
keep = 3
"""

# Particles that cross the parts of all ranks, most of them on few; ranks beyond the planes own nothing.
PARTICLES = f"""
[case]
simulation = "rehearse"
[domain]
cells = [9, 8, 5]
[rehearse]
select = ["points:20"]
particles = 1000
clustering = 3
drift = 0.7
verify = true
[time]
steps = {STEPS}
[checkpoint]
every = {EVERY}
"""

ULTRASOUND = f"""
[case]
simulation = "ultrasound"
[input]
file = "input.h5"
[time]
steps = {STEPS}
[record]
p_raw = true
p_max = true
p_rms = true
u_min = true
p_max_all = true
p_final = true
[[output]]
name = "mean"
quantity = "p"
reduce = "mean"
type = "float64"
[checkpoint]
every = {EVERY}
"""

MOLECULES = mixture(
    output("energy", "total_energy", every=3),
    output("mean", "mean_pressure", every=4),
    output("highest", "temperature", reduce="max"),
    output("places", "position", every=10, type="float64"),
    output("turns", "orientation", reduce="final", type="float64"),
    output("slabs", "density", bins=[2, 1, 4], reduce="mean", type="float64"),
    table("checkpoint", every=EVERY),
)

# Blocks that do not fit the parts of the ranks, more of them than ranks, with the state of each method.
POISSON = f"""
[case]
simulation = "poisson"
[domain]
cells = [14, 12, 6]
sides = ["dirichlet", "periodic", "dirichlet"]
[problem]
rhs = "smooth"
[solver]
method = "cg"
blocks = [5, 4, 4]
[time]
steps = {STEPS}
[[output]]
name = "series"
quantity = "u"
every = 3
[[output]]
name = "mean"
quantity = "residual"
reduce = "mean"
select = {{points = [[13, 11, 5], [0, 0, 0], [7, 6, 3]]}}
[[output]]
name = "rms"
quantity = "u"
reduce = "rms"
first = 5
type = "float64"
[checkpoint]
every = {EVERY}
"""

# Elements that follow the ball, sampled in a plane, at points and as extremes; adapted beside checkpoints.
HEAT = f"""
[case]
simulation = "heat"
[heat]
class = "S"
[domain]
cells = [14, 13, 12]
[time]
steps = {STEPS}
[[output]]
name = "plane"
quantity = "temperature"
select = {{plane = {{z = 4}}}}
every = 3
[[output]]
name = "levels"
quantity = "level"
every = 10
[[output]]
name = "highest"
quantity = "temperature"
reduce = "max"
[[output]]
name = "mean"
quantity = "source"
reduce = "mean"
select = {{points = [[13, 12, 11], [0, 0, 0], [7, 6, 5]]}}
type = "float64"
[checkpoint]
every = {EVERY}
"""

CASES = {
    "poisson": (POISSON, jobs.POISSON),
    "poisson-jacobi": (POISSON.replace('"cg"', '"jacobi"'), jobs.POISSON),
    "poisson-gauss-seidel": (POISSON.replace('"cg"', '"gauss-seidel"'), jobs.POISSON),
    "seismic": (SEISMIC, jobs.SEISMIC),
    "rehearse": (REHEARSAL, jobs.REHEARSE),
    "particles": (PARTICLES, jobs.REHEARSE),
    "ultrasound": (ULTRASOUND, jobs.PROGRAM),
    "molecules": (MOLECULES, jobs.MOLECULES),
    "molecules-kd": (MOLECULES + table("decomposition", **RESTLESS), jobs.MOLECULES),
}
if jobs.HEAT is not None:  # built where p4est is
    CASES["heat"] = (HEAT, jobs.HEAT)
# Those whose sums have another order on other numbers of ranks: how far off values may be after so few steps.
ROUNDED = {"molecules": 1e-9, "molecules-kd": 1e-9}


class Computation:
    """A run directory and the segments that lead to its end."""

    def __init__(self, simulation: str, directory: Path, *settings: str) -> None:
        text, self.program = CASES[simulation]
        self.simulation = simulation
        directory.mkdir(parents=True, exist_ok=True)
        if simulation == "ultrasound":
            small_input().write(directory / "input.h5")
        self.case, self.run_dir = directory / "case.toml", directory / "run"
        self.case.write_text(text)
        self.settings = [word for setting in settings for word in ("--set", setting)]

    def start(self, *options, ranks: int = 1) -> jobs.Job:
        words = ["--case", self.case, "--out", self.run_dir, *self.settings, "--quiet", *options]
        self.progress_before = self.progress()
        return jobs.Job(words, ranks, command=[str(self.program)])

    def computes(self) -> bool:
        """Whether this segment has come to its steps."""
        return self.progress() not in (None, self.progress_before)

    def progress(self) -> tuple[int, int] | None:
        """What distinguishes one progress.json from another; an earlier segment's stays until the state is
        restored.
        """
        try:
            reported = (self.run_dir / "progress.json").stat()
        except FileNotFoundError:
            return None
        return reported.st_ino, reported.st_mtime_ns

    def steps_saved(self) -> list[int]:
        names = [path.name for path in (self.run_dir / "checkpoints").glob("step-*[0-9]")]
        return sorted(int(name.removeprefix("step-")) for name in names)

    def datasets(self) -> dict[str, np.ndarray]:
        return jobs.read_datasets(self.run_dir / "output.h5")


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert set(found) == set(expected)
    different = [
        name
        for name in found
        if name != "tailrace_record" and found[name].tobytes() != expected[name].tobytes()
    ]
    assert not different, different


def assert_close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], limit: float) -> None:
    assert set(found) == set(expected)
    different = [
        name
        for name in found
        if name != "tailrace_record" and not np.allclose(found[name], expected[name], rtol=limit, atol=limit)
    ]
    assert not different, different


class Whole:
    """What runs write that nobody stops, each made when it is asked for."""

    def __init__(self, once: Shared) -> None:
        self.once = once

    def of(self, simulation: str, ranks: int) -> dict[str, np.ndarray]:
        return self.once(f"whole {simulation} on {ranks}", partial(run_whole, simulation, ranks))

    def assert_reached(self, simulation: str, found: dict[str, np.ndarray], ranks: int | None = None) -> None:
        """Bit for bit, if all segments had these ranks or the numbers of ranks make no difference."""
        if simulation not in ROUNDED:
            assert_same(found, self.of(simulation, 1))
        elif ranks is not None:
            assert_same(found, self.of(simulation, ranks))
        else:
            assert_close(found, self.of(simulation, 1), ROUNDED[simulation])


def run_whole(simulation: str, ranks: int, directory: Path) -> dict[str, np.ndarray]:
    computation = Computation(simulation, directory)
    ended = computation.start(ranks=ranks).wait()
    assert ended.status == 0, ended
    return computation.datasets()


def kill(job: jobs.Job, processes: list[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    ended = job.wait()
    assert ended.status != 0, ended


def kill_three_times(computation: Computation, ranks: int, *options: str) -> None:
    """Kills the process that writes in the middle of it; all at once, when steps are recorded behind the
    checkpoint; and the launcher as soon as the run continues. Then the run comes to its end.
    """
    output = computation.run_dir / "output.h5"
    paced = [*options, "--pace", "latency=10ms", "--fault", "kill:step=12"]
    ended = computation.start(*paced, ranks=ranks).wait()
    assert ended.status != 0, ended
    first = computation.steps_saved()
    slow = [*options, "--pace", "latency=40ms"]  # what watches the run is late on a busy machine
    job = computation.start("--resume" if first else "--overwrite", *slow, ranks=ranks)
    job.wait_for(lambda: computation.computes() and jobs.recorded_steps(output) >= 20, "recorded step")
    kill(job, job.processes())
    second = computation.steps_saved()
    assert second and second[-1] >= 9, second
    job = computation.start("--resume", *slow, ranks=ranks % 3 + 1)
    job.wait_for(computation.computes, "step")
    kill(job, job.processes()[:1])
    third = computation.steps_saved()
    assert third[-1] >= second[-1], third
    ended = computation.start("--resume", *options, ranks=ranks).wait()
    assert ended.status == 0, ended
    assert jobs.account(computation.run_dir)["resumed_from"] == third[-1]


OFTEN = "checkpoint.every=3"
