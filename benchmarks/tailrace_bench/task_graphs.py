# SPDX-License-Identifier: BSD-3-Clause
"""Task graphs by several systems: seconds for tasks of several lengths, the shortest efficient task, the cost
of an empty one.

Patterns, kernels and METG are those of Task Bench (Slaughter et al., SC20); the implementation is our own.
"""

import json
import re
import shlex
from dataclasses import dataclass, field
from math import exp, log
from typing import Any

from tailrace.bench.document import say
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.console import EXIT_RUN_FAILED, CommandError

PROGRAM = "tailrace-bench-graphs"
PATTERNS = ("trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft", "all_to_all")
PATTERNS += ("nearest", "spread", "random_nearest", "random_spread")
KERNELS = ("compute", "memory", "imbalanced", "empty")
# Of the kernel, in a task of the longest and of the shortest row; each row has half of the one before.
LONGEST = {"compute": 1 << 15, "imbalanced": 1 << 15, "memory": 1 << 9, "empty": 0}
SHORTEST = {"compute": 1 << 5, "imbalanced": 1 << 5, "memory": 1, "empty": 0}
PEAK_ITERATIONS, PEAK_REPEATS = {"memory": 1 << 13}, 5
USUAL_PEAK_ITERATIONS = 1 << 19
EFFICIENCY = 0.5
WORDS_OF_PEERS = ("pattern", "kernel", "width", "steps", "radix", "bytes", "graphs", "iterations", "cores")


@dataclass(frozen=True)
class Shape:
    """A load, and the cores that each system has."""

    pattern: str
    kernel: str
    width: int
    steps: int
    radix: int
    bytes: int
    graphs: int
    cores: int

    def words(self) -> list[str]:
        names = ("pattern", "kernel", "width", "steps", "radix", "bytes", "graphs")
        return [word for name in names for word in (f"--{name}", str(getattr(self, name)))]

    @property
    def name(self) -> str:
        return self.pattern if self.kernel == "compute" else f"{self.pattern}, {self.kernel}"


@dataclass(frozen=True)
class System:
    """Who executes graphs. `command`: of another program, with words such as {steps} to be replaced."""

    label: str
    name: str = ""
    ranks: int = 1
    workers: int = 1
    command: str = ""


@dataclass
class Samples:
    """Of each repetition: seconds of each number of iterations."""

    tasks: int = 0
    work: dict[int, float] = field(default_factory=dict)
    seconds: list[dict[int, float]] = field(default_factory=list)


def parse_peer(text: str) -> System:
    """NAME=COMMAND."""
    label, separator, command = text.partition("=")
    if not separator or not label or not command.strip():
        raise CommandError(f"--peer {text}: write NAME=COMMAND.")
    try:
        words = [part for part in re.findall(r"{(\w*)}", command) if part not in WORDS_OF_PEERS]
        shlex.split(command)
    except ValueError as error:
        raise CommandError(f"--peer {text}: the command ends within a quotation.") from error
    if words:
        known = ", ".join(f"{{{word}}}" for word in WORDS_OF_PEERS)
        raise CommandError(f"--peer {text}: {{{words[0]}}} is not known. Known: {known}.")
    if "{iterations}" not in command:
        raise CommandError(f"--peer {text}: without {{iterations}} all tasks have one length. Fix: add it.")
    return System(label, command=command)


def built_in(runner: Runner) -> tuple[str, ...]:
    """The systems that the program was built with."""
    return tuple(json.loads(runner.run([str(native_program(PROGRAM)), "--list"]).output))


def systems_on(cores: int, names: tuple[str, ...]) -> list[System]:
    """Each on all cores: as ranks where it can, and as threads where it can."""
    found = []
    for name in names:
        if name in ("fragments", "mpi"):
            found.append(System(f"{name}, {cores} x 1", name, ranks=cores))
        if name != "mpi" and cores > 1:
            found.append(System(f"{name}, 1 x {cores}", name, workers=cores))
    return found


def iterations_of(kernel: str, factor: int) -> list[int]:
    """From long tasks to short ones, and empty ones."""
    found, here = [], LONGEST[kernel]
    while here >= max(1, SHORTEST[kernel]):
        found.append(here)
        here //= factor
    return [*found, 0]


def measure_peak(kernel: str, cores: int, runner: Runner) -> float:
    """Work per second of the kernel alone on all cores."""
    iterations = PEAK_ITERATIONS.get(kernel, USUAL_PEAK_ITERATIONS)
    kernel = "compute" if kernel == "imbalanced" else kernel
    words = ["--peak", "--kernel", kernel, "--iterations", str(iterations), "--repeat", str(PEAK_REPEATS)]
    command = [str(native_program(PROGRAM)), *words, "-t", str(cores)]
    return json.loads(runner.run(command, cores).output)["work_per_s"]


def run_system(system: System, shape: Shape, iterations: list[int], runner: Runner) -> list[dict[str, Any]]:
    """A row for each number of iterations: tasks, seconds, and of our own program work."""
    if system.command:
        return [run_peer(system, shape, number, runner) for number in iterations]
    words = ["--system", system.name, *shape.words(), "-t", str(system.workers)]
    words += ["--iterations", *map(str, iterations)]
    command = on_ranks(native_program(PROGRAM), system.ranks, system.workers, words)
    return json.loads(runner.run(command, system.workers).output)["rows"]


def run_peer(system: System, shape: Shape, iterations: int, runner: Runner) -> dict[str, Any]:
    values = {word: getattr(shape, word) for word in WORDS_OF_PEERS if word != "iterations"}
    command = system.command
    for word, value in (values | {"iterations": iterations}).items():
        command = command.replace(f"{{{word}}}", str(value))
    return {"iterations": iterations} | read_peer(
        runner.run(shlex.split(command), shape.cores).output, system.label
    )


def read_peer(output: str, label: str) -> dict[str, Any]:
    """Tasks and seconds as programs print them: `tasks 2000`, `seconds: 0.1`, `Elapsed Time 1e-1 seconds`."""
    tasks = re.search(r"(?i)\btasks\W+(\d+)", output)
    seconds = re.search(r"(?i)\b(?:seconds|elapsed time)\W+(\d+(?:\.\d*)?(?:e[+-]?\d+)?)", output)
    if tasks is None or seconds is None or float(seconds[1]) <= 0:
        raise CommandError(
            f"--peer {label}: the program did not print its tasks and seconds. Fix: lines such as "
            "'tasks 2000' and 'seconds 0.01'.",
            EXIT_RUN_FAILED,
        )
    return {"tasks": int(tasks[1]), "seconds": float(seconds[1])}


def measure_shape(
    shape: Shape, systems: list[System], iterations: list[int], pairs: int, runner: Runner
) -> tuple[dict[System, Samples], list[float]]:
    """All systems one after the other, repetition by repetition, and the peak in each."""
    found = {system: Samples() for system in systems}
    peaks = []
    for repetition in range(pairs):
        say(f"{shape.name}: repetition {repetition + 1} of {pairs}")
        if shape.kernel != "empty":
            peaks.append(measure_peak(shape.kernel, shape.cores, runner))
        for system, samples in found.items():
            rows = run_system(system, shape, iterations, runner)
            check_tasks(system, rows, found)
            samples.tasks = rows[0]["tasks"]
            samples.seconds.append({row["iterations"]: row["seconds"] for row in rows})
            samples.work |= {row["iterations"]: row["work"] for row in rows if "work" in row}
    return found, peaks


def rates(found: dict[System, Samples]) -> list[float]:
    """Work per second of all that was measured."""
    work = next((one.work for one in found.values() if one.work), {})
    return [
        work[number] / seconds
        for samples in found.values()
        for one in samples.seconds
        for number, seconds in one.items()
        if number in work
    ]


def check_tasks(system: System, rows: list[dict[str, Any]], found: dict[System, Samples]) -> None:
    """Another program has to execute the same graph."""
    wanted = next((one.tasks for one in found.values() if one.tasks), rows[0]["tasks"])
    if rows[0]["tasks"] != wanted:
        executed = f"executed {rows[0]['tasks']} tasks, the others {wanted}"
        raise CommandError(f"{system.label} {executed}. Fix: give it the same graph.", EXIT_RUN_FAILED)


def granularity_us(seconds: float, cores: int, tasks: int) -> float:
    """Core time per task."""
    return 1e6 * seconds * cores / tasks


def metg_us(
    seconds: dict[int, float], work: dict[int, float], tasks: int, cores: int, peak: float
) -> float | None:
    """The smallest granularity at which half of the peak is reached, interpolated between its neighbours;
    none if no task is long enough.
    """
    points = sorted(
        (granularity_us(here, cores, tasks), work[number] / here / peak) for number, here in seconds.items()
    )
    for number, (granularity, efficiency) in enumerate(points):
        if efficiency >= EFFICIENCY:
            if number == 0:
                return granularity
            before, below = points[number - 1]
            share = (EFFICIENCY - below) / (efficiency - below)
            return exp(log(before) + share * (log(granularity) - log(before)))
    return None


def make_rows(shape: Shape, found: dict[System, Samples], peak: float) -> list[dict[str, Any]]:
    """Floor and METG of each system, and how both compare with those of the first, which is ours."""
    work = next((one.work for one in found.values() if one.work), {})
    rows = [make_row(shape, system, samples, work, peak) for system, samples in found.items()]
    for row in rows[1:]:
        row["floor_over_first"] = ratios(row["floor_us"]["samples"], rows[0]["floor_us"]["samples"]).as_dict()
        if row["metg_us"] and rows[0]["metg_us"]:
            row["metg_over_first"] = ratios(
                row["metg_us"]["samples"], rows[0]["metg_us"]["samples"]
            ).as_dict()
    return rows


def make_row(
    shape: Shape, system: System, samples: Samples, work: dict[int, float], peak: float
) -> dict[str, Any]:
    tasks, cores = samples.tasks, shape.cores
    metgs = []
    if shape.kernel != "empty" and work:
        metgs = [metg_us(one, work, tasks, cores, peak) for one in samples.seconds]
    reached = [value for value in metgs if value is not None]
    return {
        "load": shape.name,
        "pattern": shape.pattern,
        "kernel": shape.kernel,
        "system": system.label,
        "tasks": tasks,
        "floor_us": spread([granularity_us(one[0], cores, tasks) for one in samples.seconds]).as_dict(),
        "metg_us": spread(reached).as_dict() if reached and len(reached) == len(metgs) else None,
        "seconds": samples.seconds,
    }
