# SPDX-License-Identifier: BSD-3-Clause
"""What a user wants to know of their machine: which strategy writes fastest, what checkpoints and a trace
cost, and how fast the simulations are. Each question is a list of ways to run a program, which are compared
with the first of them.
"""

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tailrace.bench.cases import SIMULATIONS
from tailrace.bench.document import coverage_text, make_document, make_table, say, with_interval
from tailrace.bench.host import Watch, watch_text
from tailrace.bench.rehearsal import Rehearsal, cube
from tailrace.bench.stats import from_dict, ratios, spread
from tailrace.strategies import dedicated_ranks
from tailrace.time_parts import visible_fraction
from tailrace.units import bytes_text

SINK = "hdf5"
# Computing of a step, and steps from one checkpoint to the next.
STEP_MS, BETWEEN = 20.0, 25
TRACED_STEPS, TRACED_STEP_MS = 2000, 1.0
CHECKPOINTS_ALONE = 8


@dataclass(frozen=True)
class Request:
    """What to measure, and how often."""

    ranks: int
    pairs: int
    directory: Path | None = None
    steps: int = 0
    """0: as suits the question."""
    size_mib: int = 16
    """Of an output, or of the state that a checkpoint holds."""


@dataclass(frozen=True)
class Way:
    """One way to run the program."""

    name: str
    words: tuple[str, ...]
    ranks: int
    threads: int = 1


def computing(rehearsal: Rehearsal, milliseconds: float, ranks: int) -> list[str]:
    """Work of so long a step: the median of what three runs find."""
    words = [*cube(1, 1), "--select", "none", "--compute-ms", f"{milliseconds:g}"]
    return ["--compute-units", str(sorted(rehearsal.run(words, ranks).units for _ in range(3))[1])]


def output_ways(request: Request, rehearsal: Rehearsal) -> list[Way]:
    """Computing alone, then with an output in each step by every strategy of this build."""
    load = [*cube(request.size_mib, request.steps or 50), *computing(rehearsal, STEP_MS, request.ranks)]
    strategies = [name for name, sinks in rehearsal.services().items() if SINK in sinks]
    return [
        Way("computing alone", (*load, "--select", "none"), request.ranks),
        *(Way(name, (*load, "--write", name), request.ranks + dedicated_ranks(name)) for name in strategies),
    ]


def checkpoint_ways(request: Request, rehearsal: Rehearsal) -> list[Way]:
    """Computing with checkpoints and without, and checkpoints alone: the rate at which they are written."""
    steps, never = request.steps or 4 * BETWEEN, 1 << 30
    units = computing(rehearsal, STEP_MS, request.ranks)

    def way(name: str, steps: int, every: int, work: list[str]) -> Way:
        load = cube(request.size_mib, steps)
        words = (*load, *work, "--select", "none", "--write", "threads", "--set", f"checkpoint.every={every}")
        return Way(name, words, request.ranks)

    return [
        way("without checkpoints", steps, never, units),
        way(f"one in {BETWEEN} steps", steps, BETWEEN, units),
        way("checkpoints alone", CHECKPOINTS_ALONE, 1, ["--compute", "none"]),
    ]


def trace_ways(request: Request, rehearsal: Rehearsal) -> list[Way]:
    """Many short steps without a trace and with one."""
    load = [*cube(1, request.steps or TRACED_STEPS), "--select", "none"]
    load += computing(rehearsal, TRACED_STEP_MS, request.ranks)
    return [
        Way(name, (*load, "--trace", mode), request.ranks)
        for name, mode in (("without a trace", "off"), ("with a trace", "on"))
    ]


QUESTIONS: dict[str, Callable[[Request, Rehearsal], list[Way]]] = {
    "output": output_ways,
    "checkpoint": checkpoint_ways,
    "trace": trace_ways,
}


def measure(question: str, request: Request) -> dict[str, Any]:
    """The answer to a question as a document."""
    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=request.directory) as name:
        rehearsal = Rehearsal(Path(name))
        rows = measure_ways(rehearsal, QUESTIONS[question](request, rehearsal), request.pairs)
    settings = asdict(request) | {"directory": str(request.directory or tempfile.gettempdir())}
    return make_document(question, settings, watch, rehearsal.runner.commands) | {"rows": rows}


def measure_simulation(
    simulation: str,
    size: int,
    steps: int,
    layouts: tuple[tuple[int, int], ...],
    pairs: int,
    parent: Path | None,
) -> dict[str, Any]:
    """Runs of a simulation on ranks x threads as a document."""
    watch, case = Watch(), SIMULATIONS[simulation]
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=parent) as name:
        file = case.write(Path(name), size, steps or case.steps)
        ways = [
            Way(f"{ranks} x {threads}", ("--case", str(file)), ranks, threads) for ranks, threads in layouts
        ]
        program = Rehearsal(Path(name), f"tailrace-{simulation}")
        rows = measure_ways(program, ways, pairs)
    settings = {"size": size, "layouts": layouts, "pairs": pairs}
    return make_document(simulation, settings, watch, program.runner.commands) | {"rows": rows}


def measure_ways(program: Rehearsal, ways: list[Way], pairs: int) -> list[dict[str, Any]]:
    """All ways one after the other, after a round that is left out."""
    accounts: dict[str, list[dict[str, Any]]] = {way.name: [] for way in ways}
    for repetition in range(pairs + 1):
        for way in ways:
            say(f"{way.name}: repetition {repetition} of {pairs}")
            account = program.start([*way.words, "-t", str(way.threads)], way.ranks, threads=way.threads)
            if repetition > 0:
                accounts[way.name].append(account)
    first = accounts[ways[0].name]
    return [make_row(way, accounts[way.name], first) for way in ways]


def make_row(way: Way, accounts: list[dict[str, Any]], first: list[dict[str, Any]]) -> dict[str, Any]:
    def stepping(runs: list[dict[str, Any]]) -> list[float]:
        return [(run["wall_s"] - run["setup_s"]) / run["steps"] for run in runs]

    run_s = stepping(accounts)
    last = accounts[-1]
    written = last["output_bytes"] + last["checkpoint_bytes"]
    seconds = spread(run_s).median * last["steps"]
    return {
        "way": way.name,
        "ranks": way.ranks,
        "threads": way.threads,
        "step_s": spread(run_s).as_dict(),
        "over_first": ratios(run_s, stepping(first)).as_dict(),
        "output_share": visible_fraction(last["per_rank"], seconds),
        "checkpoint_share": last["checkpoint_s"] / seconds,
        "written_bytes": written,
        "written_bytes_s": written / seconds,
        "peak_memory_bytes": sum(last["peak_memory_bytes"]),
    }


def print_document(document: dict[str, Any], console: Console) -> None:
    rows = document["rows"]
    console.print(coverage_text(rows[0]["step_s"]))
    table = make_table(
        document["benchmark"],
        "way to run",
        "ms per step",
        f"over {rows[0]['way']}",
        "for output",
        "for checkpoints",
        "written",
        "per second",
        "memory",
    )
    for row in rows:
        table.add_row(
            row["way"],
            with_interval(from_dict(row["step_s"]), 1e3, digits=3),
            with_interval(from_dict(row["over_first"]), digits=3),
            f"{100 * row['output_share']:.1f} %",
            f"{100 * row['checkpoint_share']:.1f} %",
            bytes_text(row["written_bytes"]),
            f"{bytes_text(row['written_bytes_s'])}/s",
            bytes_text(row["peak_memory_bytes"]),
        )
    console.print(table)
    console.print(watch_text(document["conditions"]))
