# SPDX-License-Identifier: BSD-3-Clause
"""What a run takes before its first step and after its last, and what the command adds."""

import json
import mmap
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import spread
from tailrace.trace.format import parse
from tailrace.trace.read import read_run, trace_files
from tailrace_bench.start_cases import StartCase, all_cases
from tailrace_bench.stepping import working_directory

PHASES = ("launch_s", "setup_s", "memory_s", "step_s", "end_s")
PAGE_BYTES = mmap.PAGESIZE


@dataclass(frozen=True)
class Request:
    """What to measure."""

    simulations: tuple[str, ...]
    layouts: tuple[tuple[int, int], ...]
    pairs: int
    directory: Path | None = None


@dataclass(frozen=True)
class Times:
    """Of one run: from the command to where the program begins to set up its run (launcher, MPI, options),
    from there to the first step, a step after the first, and from the end of the last step to the prompt.
    And what the system takes to hand out as many pages as the run had, one thread after the other.
    """

    launch_s: float
    setup_s: float
    memory_s: float
    step_s: float
    end_s: float


@dataclass
class Found:
    """The runs of a case on ranks x threads, by the native program and by the command."""

    native: list[Times] = field(default_factory=list)
    command: list[Times] = field(default_factory=list)


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    cases = [case for case in all_cases() if case.simulation in request.simulations]
    for program in {case.program for case in cases}:
        native_program(program)
    watch, runner = Watch(), Runner()
    rows = []
    for case in cases:
        with working_directory(request.directory) as directory:
            found = measure_case(case, request, directory, runner)
        rows += [make_row(case, layout, one) for layout, one in found.items()]
    settings = asdict(request) | {"directory": str(request.directory or "")}
    return make_document("start", settings, watch, runner.commands) | {"rows": rows}


def measure_case(
    case: StartCase, request: Request, directory: Path, runner: Runner
) -> dict[tuple[int, int], Found]:
    """All layouts one after the other, repetition by repetition. The first, unmeasured run of each brings
    programs and inputs into memory.
    """
    words = case.prepare(directory)
    found = {layout: Found() for layout in request.layouts}
    for repetition in range(-1, request.pairs):
        say(f"{case.simulation} {case.name}: repetition {repetition + 1} of {request.pairs}")
        for (ranks, threads), one in found.items():
            options = [*words, "--quiet", "-t", str(threads)]
            native = on_ranks(native_program(case.program), ranks, threads, options)
            add(one.native, timed(native, threads, directory, runner), repetition)
            if case.whole:
                command = whole_command(words, ranks, threads)
                add(one.command, timed(command, threads, directory, runner), repetition)
    return found


def add(samples: list[Times], times: Times, repetition: int) -> None:
    if repetition >= 0:
        samples.append(times)


def whole_command(words: Sequence[str], ranks: int, threads: int) -> list[str]:
    """`tailrace run` for the words of a native program: --case FILE and options that both have."""
    options = ["-n", str(ranks), "-t", str(threads)]
    return [sys.executable, "-m", "tailrace", "run", *words[1:], *options]


def timed(command: list[str], threads: int, directory: Path, runner: Runner) -> Times:
    """Runs a command whose run directory is `run`. The program's clock is this one's."""
    begun = time.monotonic()
    runner.run(command, threads)
    ended = time.monotonic()
    return from_trace(directory / "run", begun, ended)


def from_trace(run_dir: Path, begun: float, ended: float) -> Times:
    zero = parse(trace_files(run_dir)[0].read_bytes()).clock_points[-1].zero_s
    (rank,) = read_run(run_dir, [0]).ranks
    computed = rank.select("main", "compute")
    first, warm, last = computed[0], computed[0]["end_s"], computed[-1]["end_s"]
    steps = int(computed[-1]["step"]) - int(first["step"])
    peak = json.loads((run_dir / "run.json").read_text())["peak_memory_bytes"]
    return Times(
        launch_s=zero - begun,
        setup_s=float(first["start_s"]),
        memory_s=touch(sum(peak)),
        step_s=float(last - warm) / steps,
        end_s=ended - zero - float(last),
    )


def touch(size: int) -> float:
    """Seconds that it takes to get memory, a page at a time as programs get it, in huge ones where the system
    has them. A set-up cannot be faster with one thread: it depends on what the machine has used of late.
    """
    begun = time.monotonic()
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        pages = np.frombuffer(memory, np.uint8)
        pages[::PAGE_BYTES] = 1
        seconds = time.monotonic() - begun
        del pages
    return seconds


def make_row(case: StartCase, layout: tuple[int, int], found: Found) -> dict[str, Any]:
    ranks, threads = layout
    row = {"simulation": case.simulation, "case": case.name, "ranks": ranks, "threads": threads}
    row |= spreads(found.native)
    row["setup_steps"] = spread([one.setup_s / one.step_s for one in found.native]).as_dict()
    if found.command:
        row["command"] = spreads(found.command) | {
            "before_s": spread(added(found, before_first_step)).as_dict(),
            "after_s": spread(added(found, lambda one: one.end_s)).as_dict(),
        }
    return row


def spreads(samples: list[Times]) -> dict[str, Any]:
    return {name: spread([getattr(one, name) for one in samples]).as_dict() for name in PHASES}


def before_first_step(one: Times) -> float:
    return one.launch_s + one.setup_s


def added(found: Found, phase) -> list[float]:
    """What the command takes beyond the native program, run by run."""
    return [phase(ours) - phase(native) for ours, native in zip(found.command, found.native, strict=True)]
