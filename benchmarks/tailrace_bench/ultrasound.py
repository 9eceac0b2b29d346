# SPDX-License-Identifier: BSD-3-Clause
"""Time per step of the ultrasound program, and what bounds it."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.kwave_input import Case, write_input
from tailrace.bench.programs import Finished, Runner, native_program, on_ranks
from tailrace.bench.stats import Spread, ratios, spread
from tailrace.console import CommandError
from tailrace_bench import model
from tailrace_bench.stepping import KERNELS, Samples, Variant, measure_kernels, working_directory

PROGRAM = "tailrace-ultrasound"
Grid = tuple[int, int, int]
# What is measured unless grids are named: even and uneven factors, a prime, other shapes, two dimensions.
GRIDS: tuple[Grid, ...] = (
    *((n, n, n) for n in (64, 96, 120, 127, 128, 160)),
    (144, 108, 108),
    (192, 96, 80),
    (256, 256, 256),
    (256, 256, 1),
    (480, 384, 1),
    (512, 512, 1),
    (1024, 1024, 1),
)
# Steps that warm up, and points that the others update in all: some seconds on one core.
WARM_UP, UPDATES = 3, 8e7
MIN_STEPS, MAX_STEPS = 5, 200
# k-Wave's binaries report the system's maximum for their process, in which that of the process they were
# forked from, this Python with its arrays, would count.
AS_A_CHILD = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
# A run that is over before it has begun: what it takes is its set-up.
SHORT = ((32, 32, 32), 20)


@dataclass(frozen=True)
class Request:
    """What to measure; with steps 0, what suits each grid."""

    grids: tuple[Grid, ...]
    sources: tuple[str, ...]
    layouts: tuple[tuple[int, int], ...]
    pairs: int
    steps: int = 0
    reference: Path | None = None
    directory: Path | None = None


@dataclass
class Measurement:
    """One case with all its variants."""

    case: Case
    short: int
    variants: list[Variant]
    samples: dict[str, Samples]
    difference: float | None = None


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    program = native_program(PROGRAM)
    native_program(KERNELS)
    if request.reference is not None and not request.reference.is_file():
        raise CommandError(f"--reference {request.reference}: there is no such program.")
    watch, runner = Watch(), Runner()
    rows: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for grid in request.grids:
        if grid[2] > 1:
            say(f"{grid_text(grid)}: transforms and bandwidth")
            parts += measure_kernels(grid, request.layouts, runner)
        for source in request.sources:
            with working_directory(request.directory) as directory:
                found = measure_case(make_case(request, grid, source), program, request, directory, runner)
            rows += make_rows(found, parts)
            comparisons += compare(found)
    with working_directory(request.directory) as directory:
        short = measure_short(program, request, directory, runner)
    settings = asdict(request) | {"reference": str(request.reference or ""), "directory": ""}
    document = make_document("ultrasound", settings, watch, runner.commands)
    return document | {"rows": rows, "comparisons": comparisons, "parts": parts, "short": short}


def parse_grid(text: str) -> Grid:
    """N for a cube, NXxNY, or NXxNYxNZ."""
    parts = text.split("x")
    if len(parts) > 3 or not all(part.isdigit() and int(part) >= 16 for part in parts):
        raise CommandError(f"--grid {text}: write points, 16 or more, like 128, 480x384 or 192x96x80.")
    sizes = [int(part) for part in parts]
    return (sizes[0],) * 3 if len(sizes) == 1 else (sizes[0], sizes[1], sizes[2] if len(sizes) == 3 else 1)


def grid_text(grid: Sequence[int]) -> str:
    if grid[2] == 1:
        return f"{grid[0]}^2" if grid[0] == grid[1] else f"{grid[0]} x {grid[1]}"
    return f"{grid[0]}^3" if len(set(grid)) == 1 else " x ".join(map(str, grid))


def measure_short(
    program: Path, request: Request, directory: Path, runner: Runner
) -> dict[str, dict[str, Any]]:
    """Seconds of whole processes that compute a few steps on one core."""
    grid, steps = SHORT
    write_input(directory / "input.h5", Case(grid, "one", steps))
    variants = [Variant(program, 1, 1)]
    if request.reference is not None:
        variants.append(Variant(request.reference.absolute(), 1, 1, is_reference=True))
    seconds: dict[str, list[float]] = {variant.name: [] for variant in variants}
    for _ in range(request.pairs):
        for variant in variants:
            start = time.perf_counter()
            run_steps(variant, steps, directory, runner)
            seconds[variant.name].append(time.perf_counter() - start)
    return {name: spread(samples).as_dict() for name, samples in seconds.items()}


@dataclass(frozen=True)
class Lengths:
    """A case, whose steps are those of a whole run, and how many of them warm up."""

    case: Case
    short: int


def make_case(request: Request, grid: Grid, source: str) -> Lengths:
    enough = int(UPDATES / (grid[0] * grid[1] * grid[2]))
    steps = request.steps or min(max(enough, MIN_STEPS), MAX_STEPS)
    return Lengths(Case(grid, source, WARM_UP + steps), WARM_UP)


def measure_case(
    lengths: Lengths, program: Path, request: Request, directory: Path, runner: Runner
) -> Measurement:
    """All variants one after the other, repetition by repetition. Each first runs the steps that warm up
    alone: what this costs in CPU time is taken off the others.
    """
    case, short = lengths.case, lengths.short
    variants = [Variant(program, ranks, threads) for ranks, threads in request.layouts]
    if request.reference is not None:
        reference = request.reference.absolute()
        counts = sorted({variant.workers for variant in variants})
        variants += [Variant(reference, 1, workers, is_reference=True) for workers in counts]
    write_input(directory / "input.h5", case)
    samples = {variant.name: Samples() for variant in variants}
    warm_ups = {variant.name: run_steps(variant, short, directory, runner) for variant in variants}
    for repetition in range(request.pairs):
        say(f"{grid_text(case.grid)}, source {case.source}: repetition {repetition + 1} of {request.pairs}")
        for variant in variants:
            sample = samples[variant.name]
            if variant.is_reference:
                add_reference_sample(sample, variant, lengths, directory, runner)
            else:
                add_sample(sample, variant, lengths, warm_ups[variant.name].cpu_s, directory, runner)
    return Measurement(case, short, variants, samples, difference_of_results(variants, directory))


def add_sample(
    samples: Samples,
    variant: Variant,
    lengths: Lengths,
    warm_up_cpu_s: float,
    directory: Path,
    runner: Runner,
) -> None:
    """Time per step from the trace of one run, after the steps that warm up."""
    finished = run_steps(variant, lengths.case.steps, directory, runner)
    samples.add_run(directory / "run", lengths.short, lengths.case.steps)
    samples.cpu_s.append((finished.cpu_s - warm_up_cpu_s) / (lengths.case.steps - lengths.short))


def add_reference_sample(
    samples: Samples, variant: Variant, lengths: Lengths, directory: Path, runner: Runner
) -> None:
    """Time per step as the difference of a long and a short run: k-Wave's binaries leave only the time of all
    steps in the output file, in hundredths of a second.
    """
    output, seconds, cpu = output_of(variant, directory), [], []
    for steps in (lengths.short, lengths.case.steps):
        cpu.append(run_steps(variant, steps, directory, runner).cpu_s)
        seconds.append(read_number(output, "simulation_phase_execution_time", "s"))
    steps = lengths.case.steps - lengths.short
    if seconds[1] <= seconds[0]:
        raise CommandError(
            f"--steps {steps}: too few for the clock of {variant.program.name}, whose times have hundredths "
            f"of a second ({grid_text(lengths.case.grid)}). Fix: more steps"
        )
    samples.step_s.append((seconds[1] - seconds[0]) / steps)
    samples.cpu_s.append((cpu[1] - cpu[0]) / steps)
    samples.peak_bytes = int(read_number(output, "total_memory_in_use", "MB") * 2**20)


def run_steps(variant: Variant, steps: int, directory: Path, runner: Runner) -> Finished:
    arguments = ["-i", str(directory / "input.h5"), "-o", str(output_of(variant, directory))]
    arguments += ["-t", str(variant.threads), "--benchmark", str(steps), "--p_raw"]
    if variant.is_reference:
        return runner.run([*AS_A_CHILD, str(variant.program), *arguments], variant.threads)
    arguments += ["--quiet", "--run-dir", str(directory / "run")]
    command = on_ranks(variant.program, variant.ranks, variant.threads, arguments)
    return runner.run(command, variant.threads)


def output_of(variant: Variant, directory: Path) -> Path:
    return directory / ("reference.h5" if variant.is_reference else "output.h5")


def read_number(path: Path, attribute: str, unit: str) -> float:
    """A number with its unit, as k-Wave's output files keep them in texts."""
    with h5py.File(path) as file:
        text = file.attrs[attribute]
    return float((text.decode() if isinstance(text, bytes) else str(text)).strip().removesuffix(unit))


def difference_of_results(variants: list[Variant], directory: Path) -> float | None:
    """Largest difference of the recorded pressures over their largest value: both did the same work."""
    if not any(variant.is_reference for variant in variants):
        return None
    with h5py.File(directory / "output.h5") as ours, h5py.File(directory / "reference.h5") as theirs:
        a, b = ours["p"][()], theirs["p"][()]
    return float(np.abs(a - b).max() / np.abs(b).max())


def make_rows(found: Measurement, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per variant of ours with what bounds it; the reference has times and memory only."""
    rows = []
    for variant in found.variants:
        samples = found.samples[variant.name]
        step = spread(samples.step_s)
        row: dict[str, Any] = {
            "grid": list(found.case.grid),
            "source": found.case.source,
            "variant": variant.name,
            "program": variant.program.name,
            "ranks": variant.ranks,
            "threads": variant.threads,
            "steps": found.case.steps - found.short,
            "step_s": step.as_dict(),
            "cpu_s_per_step": spread(samples.cpu_s).as_dict(),
            "peak_memory_bytes": samples.peak_bytes,
            "predicted_memory_bytes": samples.predicted_bytes,
        }
        if not variant.is_reference and found.case.grid[2] > 1:
            row |= bounds(found.case, variant, step, parts)
        rows.append(row)
    return rows


def bounds(case: Case, variant: Variant, step: Spread, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The two floors under the time of a step: its transforms alone, and its memory traffic alone; each from
    the best sample.
    """
    found = next(
        part for part in parts if tuple(part["grid"]) == case.grid and part["threads"] == variant.workers
    )
    names = ("plane_forward_s", "plane_inverse_s", "column_forward_s", "column_inverse_s")
    times = model.CallTimes(
        **{name: min(found[name]) for name in names},
        pitch=found["pitch"],
        column_width=found["column_width"],
        workers=variant.workers,
    )
    transforms_s = model.transform_seconds(case.grid, case.source, times)
    moved = model.bytes_per_step(case.grid, case.source, found["pitch"])
    bandwidth = max(found["triad_bytes_s"])
    return {
        "transforms_s": transforms_s,
        "transforms_share": transforms_s / step.median,
        "bytes_per_step": moved,
        "bandwidth_bytes_s": bandwidth,
        "memory_s": moved / bandwidth,
        "memory_share": moved / bandwidth / step.median,
    }


def compare(found: Measurement) -> list[dict[str, Any]]:
    """Our variants against the fastest way to run the reference on at most as many cores, pair by pair. On a
    small grid that may be one thread.
    """
    references = [variant for variant in found.variants if variant.is_reference]
    if not references:
        return []
    return [
        compare_with(found, variant, fastest_reference(found, references, variant.workers))
        for variant in found.variants
        if not variant.is_reference
    ]


def fastest_reference(found: Measurement, references: list[Variant], workers: int) -> Variant:
    fitting = [variant for variant in references if variant.workers <= workers]
    return min(fitting, key=lambda variant: spread(found.samples[variant.name].step_s).median)


def compare_with(found: Measurement, variant: Variant, reference: Variant) -> dict[str, Any]:
    ours, theirs = found.samples[variant.name], found.samples[reference.name]
    return {
        "grid": list(found.case.grid),
        "source": found.case.source,
        "variant": variant.name,
        "reference": reference.name,
        "reference_threads": reference.threads,
        "time_ratio": ratios(ours.step_s, theirs.step_s).as_dict(),
        "cpu_ratio": ratios(ours.cpu_s, theirs.cpu_s).as_dict(),
        "memory_ratio": ours.peak_bytes / theirs.peak_bytes,
        "result_difference": found.difference,
    }
