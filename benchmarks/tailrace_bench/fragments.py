# SPDX-License-Identifier: BSD-3-Clause
"""What fragments cost: task graphs beside other systems, the parts of a fragment, messages, counts."""

import json
from dataclasses import asdict, dataclass
from math import log
from statistics import fmean
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import spread
from tailrace.console import CommandError
from tailrace_bench import task_graphs
from tailrace_bench.task_graphs import Shape, System

PARTS, MESSAGES = "tailrace-bench-fragments", "tailrace-bench-messages"
TWO_RANKS = 2


@dataclass(frozen=True)
class Request:
    """What to measure. `systems`: of this build, all if empty."""

    patterns: tuple[str, ...]
    kernels: tuple[str, ...]
    width: int
    steps: int
    radix: int
    bytes: int
    graphs: int
    cores: int
    systems: tuple[str, ...]
    peers: tuple[System, ...]
    factor: int
    """By how much tasks get shorter from one row to the next."""
    pairs: int
    parts: bool
    fragments: int
    """Of the small programs."""
    messages: int
    """Of a round of messages."""


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    watch, runner = Watch(), Runner()
    names = known_systems(request.systems, task_graphs.built_in(runner))
    graphs = measure_graphs(request, names, runner)
    parts = measure_parts(request, names, runner) if request.parts else {}
    document = make_document("fragments", asdict(request), watch, runner.commands)
    return document | graphs | parts


def known_systems(wanted: tuple[str, ...], built: tuple[str, ...]) -> tuple[str, ...]:
    for name in wanted:
        if name not in built:
            raise CommandError(
                f"--system {name}: not in this build. Choose from {', '.join(built)}"
                " (StarPU and oneTBB are used where CMake finds them)."
            )
    return wanted or built


def shape_of(request: Request, pattern: str, kernel: str) -> Shape:
    numbers = (request.width, request.steps, request.radix, request.bytes, request.graphs, request.cores)
    return Shape(pattern, kernel, *numbers)


def measure_graphs(request: Request, names: tuple[str, ...], runner: Runner) -> dict[str, Any]:
    """All patterns with all kernels; the best rate that a kernel had, alone or in any system,
    is the peak of all.
    """
    systems = [*task_graphs.systems_on(request.cores, names), *request.peers]
    measured, peaks = [], dict[str, float]()
    for kernel in request.kernels:
        iterations = task_graphs.iterations_of(kernel, request.factor)
        for pattern in request.patterns:
            shape = shape_of(request, pattern, kernel)
            found, rates = task_graphs.measure_shape(shape, systems, iterations, request.pairs, runner)
            measured.append((shape, found))
            rates += task_graphs.rates(found)
            peaks[kernel] = max([*rates, peaks.get(kernel, 0.0)])
    rows = [
        row for shape, found in measured for row in task_graphs.make_rows(shape, found, peaks[shape.kernel])
    ]
    return {"peaks": peaks, "graphs": rows}


def measure_parts(request: Request, names: tuple[str, ...], runner: Runner) -> dict[str, Any]:
    """Small programs, a chain of tasks by each system on one core, and messages."""
    say(f"small programs: {request.pairs} rounds on 1 rank and on {TWO_RANKS}")
    words = ["--rounds", str(request.pairs), "--fragments", str(request.fragments)]
    program = native_program(PARTS)
    one = json.loads(runner.run(on_ranks(program, 1, 1, words)).output)
    two = json.loads(runner.run(on_ranks(program, TWO_RANKS, 1, words)).output)
    rows = [
        row | {"value": spread(row["samples"]).as_dict(), "ranks": ranks}
        for ranks, found in ((1, one), (TWO_RANKS, two))
        for row in found["rows"]
    ]
    chains = measure_chains(request, names, runner)
    say("messages beside raw MPI")
    words = ["--rounds", str(4 * request.pairs), "--messages", str(request.messages)]
    command = on_ranks(native_program(MESSAGES), TWO_RANKS, 1, words)
    messages = json.loads(runner.run(command).output)
    return {"parts": rows, "sizes": one["sizes"], "chains": chains, "messages": messages}


def measure_chains(request: Request, names: tuple[str, ...], runner: Runner) -> list[dict[str, Any]]:
    """Empty tasks of which each reads one output of 16 bytes, on one core."""
    shape = Shape("no_comm", "empty", 1, request.steps, 1, 16, 1, 1)
    systems = [System(name, name) for name in names]
    found, _ = task_graphs.measure_shape(shape, systems, [0], request.pairs, runner)
    return task_graphs.make_rows(shape, found, 0.0)


def count(ranks: tuple[int, ...]) -> dict[str, Any]:
    """Messages, bytes and memory of ranks that are threads of one process: nothing is timed."""
    watch, runner = Watch(), Runner()
    words = ["--counts", "--ranks", *map(str, ranks)]
    rows = json.loads(runner.run([str(native_program(PARTS)), *words]).output)
    sums = json.loads(runner.run([str(native_program(MESSAGES)), *words]).output)
    for row, sent in zip(rows, sums, strict=True):
        row["messages_of_a_sum_per_rank"] = sent["messages_of_a_sum_per_rank"]
        row["messages_per_frame"] = sent["messages_per_frame"]
    document = make_document("fragments-counts", {"ranks": list(ranks)}, watch, runner.commands)
    return document | {"rows": rows, "exponents": exponents(rows)}


def exponents(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How each number grows with the ranks: the slope of its logarithm over that of the ranks."""
    if len({row["ranks"] for row in rows}) < 2:
        return {}
    names = [name for name in rows[0] if name not in ("ranks", "fragments")]
    return {
        name: slope([row["ranks"] for row in rows], [row[name] for row in rows])
        for name in names
        if all(row[name] > 0 for row in rows)
    }


def slope(xs: list[float], ys: list[float]) -> float:
    """Least squares over logarithms."""
    x, y = [log(value) for value in xs], [log(value) for value in ys]
    mean_x, mean_y = fmean(x), fmean(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)
