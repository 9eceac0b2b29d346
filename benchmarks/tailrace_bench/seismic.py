# SPDX-License-Identifier: BSD-3-Clause
"""Points per second of the seismic program, the share of the memory's bandwidth, and Devito beside it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import Spread, ratios, spread
from tailrace_bench import devito_runs
from tailrace_bench.seismic_model import Case, bytes_per_sample, write_case, write_model
from tailrace_bench.stepping import KERNELS, Samples, Variant, measure_kernels, working_directory

PROGRAM = "tailrace-seismic"
EQUATIONS = ("isotropic", "vti", "tti")
PROPERTIES = ("numbers", "arrays")
# Grids up to this size are quick enough for many steps. Steps that warm up, and steps in all.
SMALL = 160
SMALL_STEPS, LARGE_STEPS = (10, 110), (3, 28)
# The bandwidth is that of long arrays, whatever the grid of the transforms that the program times too.
KERNEL_GRID = (32, 32, 32)


@dataclass(frozen=True)
class Request:
    """What to measure; with steps 0, what suits each grid."""

    grids: tuple[int, ...]
    equations: tuple[str, ...]
    properties: tuple[str, ...]
    layouts: tuple[tuple[int, int], ...]
    pairs: int
    steps: int = 0
    devito: Path | None = None
    """A Python that has Devito."""
    directory: Path | None = None


@dataclass
class Measurement:
    """One case with all its variants."""

    case: Case
    variants: list[Variant]
    samples: dict[str, Samples]
    difference: float | None


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    program = native_program(PROGRAM)
    native_program(KERNELS)
    if request.devito is not None:
        devito_runs.check(request.devito)
    watch, runner = Watch(), Runner()
    say("bandwidth of the memory")
    parts = measure_kernels(KERNEL_GRID, request.layouts, runner)
    bandwidths = {part["threads"]: max(part["triad_bytes_s"]) for part in parts}
    rows: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    for size in request.grids:
        with working_directory(request.directory) as directory:
            write_model(directory, size)
            for case in make_cases(request, size):
                found = measure_case(case, program, request, directory, runner)
                rows += make_rows(found, bandwidths)
                comparisons += compare(found)
    settings = asdict(request) | {"devito": str(request.devito or ""), "directory": ""}
    document = make_document("seismic", settings, watch, runner.commands)
    return document | {"rows": rows, "comparisons": comparisons, "bandwidths_bytes_s": bandwidths}


def make_cases(request: Request, size: int) -> list[Case]:
    warm_up, steps = SMALL_STEPS if size <= SMALL else LARGE_STEPS
    if request.steps > 0:
        steps = warm_up + request.steps
    return [
        Case(size, equations, properties, warm_up, steps)
        for equations in request.equations
        for properties in request.properties
    ]


def measure_case(case: Case, program: Path, request: Request, directory: Path, runner: Runner) -> Measurement:
    """All variants one after the other, repetition by repetition; Devito where it solves the same."""
    variants = [Variant(program, ranks, threads) for ranks, threads in request.layouts]
    if request.devito is not None and devito_runs.solves(case):
        workers = max(variant.workers for variant in variants)
        variants.append(Variant(request.devito, 1, workers, is_reference=True))
        devito_runs.write_input(directory, case)
    case_file = write_case(directory, case)
    samples = {variant.name: Samples() for variant in variants}
    differences = []
    for repetition in range(request.pairs):
        say(f"{case.name}: repetition {repetition + 1} of {request.pairs}")
        for variant in variants:
            if variant.is_reference:
                seconds = devito_runs.run(directory, variant, runner)
                samples[variant.name].step_s.append(seconds / (case.steps - case.warm_up))
                differences.append(difference(directory))
            else:
                run_case(case_file, variant, directory, runner)
                samples[variant.name].add_run(directory / "run", case.warm_up, case.steps)
    return Measurement(case, variants, samples, max(differences, default=None))


def run_case(case_file: Path, variant: Variant, directory: Path, runner: Runner) -> None:
    words = ["--case", str(case_file), "--out", str(directory / "run"), "--overwrite", "--quiet"]
    words += ["-t", str(variant.threads), "--write", "blocking"]
    runner.run(on_ranks(variant.program, variant.ranks, variant.threads, words), variant.threads)


def difference(directory: Path) -> float:
    """Largest difference of p in a plane after the last step, over its largest value."""
    with h5py.File(directory / "run" / "output.h5") as file:
        ours = file["end/values"][()].squeeze()
    theirs = np.load(directory / devito_runs.RESULT)
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())


def make_rows(found: Measurement, bandwidths: dict[int, float]) -> list[dict[str, Any]]:
    return [
        describe(found.case, variant)
        | {
            "program": "devito" if variant.is_reference else variant.program.name,
            "ranks": variant.ranks,
            "threads": variant.threads,
            "steps": found.case.steps - found.case.warm_up,
        }
        | speeds(found.case, variant, found.samples[variant.name], bandwidths)
        for variant in found.variants
    ]


def describe(case: Case, variant: Variant) -> dict[str, Any]:
    name = devito_runs.name_of(variant) if variant.is_reference else variant.name
    return {"grid": case.size, "equations": case.equations, "properties": case.properties, "variant": name}


def speeds(case: Case, variant: Variant, samples: Samples, bandwidths: dict[int, float]) -> dict[str, Any]:
    """Points per second; of our own program also what share of the bandwidth they need at least."""
    rate = points_per_second(case, samples)
    found: dict[str, Any] = {"samples_s": rate.as_dict(), "step_s": spread(samples.step_s).as_dict()}
    if variant.is_reference:
        return found
    moved, bandwidth = bytes_per_sample(case.equations, case.properties), bandwidths[variant.workers]
    return found | {
        "bytes_per_sample": moved,
        "bandwidth_bytes_s": bandwidth,
        "bandwidth_share": rate.median * moved / bandwidth,
        "peak_memory_bytes": samples.peak_bytes,
        "predicted_memory_bytes": samples.predicted_bytes,
    }


def points_per_second(case: Case, samples: Samples) -> Spread:
    return spread([case.samples / seconds for seconds in samples.step_s])


def compare(found: Measurement) -> list[dict[str, Any]]:
    """Our variants on as many cores as Devito against it, pair by pair."""
    reference = next((variant for variant in found.variants if variant.is_reference), None)
    if reference is None:
        return []
    theirs = found.samples[reference.name].step_s
    return [
        describe(found.case, variant)
        | {
            "speed_ratio": ratios(theirs, found.samples[variant.name].step_s).as_dict(),
            "result_difference": found.difference,
        }
        for variant in found.variants
        if not variant.is_reference and variant.workers == reference.workers
    ]
