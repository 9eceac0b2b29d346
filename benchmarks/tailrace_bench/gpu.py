# SPDX-License-Identifier: BSD-3-Clause
"""Both wave simulations on a device: steps, what sources and samples add to them, and k-Wave's own."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tailrace import trace
from tailrace.bench import kwave_input
from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program
from tailrace.bench.stats import ratios, spread
from tailrace.console import EXIT_RUN_FAILED, CommandError
from tailrace.doctor import devices_here
from tailrace.kwave_file import write_file
from tailrace_bench.seismic_model import Case, write_case, write_model
from tailrace_bench.stepping import working_directory
from tailrace_bench.ultrasound import Grid, grid_text, read_number

SEISMIC, ULTRASOUND = "tailrace-seismic", "tailrace-ultrasound"
WARM_UP, CHECKED_STEPS = 5, 10
SNAPSHOT_EVERY, SAMPLED_SHARE = 10, 10
# The largest difference from the processor, over the largest value: rounding of single precision.
ACCURACY = 1e-5
SNAPSHOTS = f"""
[[output]]
name = "snapshots"
quantity = "p"
every = {SNAPSHOT_EVERY}
"""


@dataclass(frozen=True)
class Request:
    device: str
    seismic_grids: tuple[int, ...]
    """Points per axis."""
    ultrasound_grids: tuple[Grid, ...]
    pairs: int
    steps: int
    reference: Path | None = None
    """k-Wave's kspaceFirstOrder-CUDA."""
    directory: Path | None = None


@dataclass
class Work:
    """One way to compute a case: the words for its program, but for steps, device and where it writes."""

    name: str
    program: str
    grid: Grid
    words: Callable[[int], list[str]]
    output: str
    """The dataset that is compared with the processor's."""
    seconds: list[float] = field(default_factory=list)
    peer_seconds: list[float] = field(default_factory=list)
    """Of the reference, if there is one and it can."""
    difference: float = 0.0


def check_device(device: str) -> None:
    devices, why_none = devices_here()
    if device != "emulated" and not devices:
        raise CommandError(f"tailrace bench gpu: there is no device to measure here: {why_none}.")


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    check_device(request.device)
    if request.reference is not None and not request.reference.is_file():
        raise CommandError(f"--reference {request.reference}: there is no such program.")
    watch, runner, rows = Watch(), Runner(), []
    cubes = tuple((size, size, size) for size in request.seismic_grids)
    for make, grids in ((seismic_works, cubes), (ultrasound_works, request.ultrasound_grids)):
        for grid in grids:
            with working_directory(request.directory) as directory:
                works = list(make(directory, grid, WARM_UP + request.steps))
                measure_works(works, request, directory, runner)
                rows += [make_row(work, works[0]) for work in works]
    settings = asdict(request) | {"reference": str(request.reference or ""), "directory": ""}
    devices = devices_here()[0] if request.device != "emulated" else []
    return make_document("gpu", settings, watch, runner.commands) | {"devices": devices, "rows": rows}


def seismic_works(directory: Path, grid: Grid, steps: int) -> Iterator[Work]:
    """Tilted media: a property per point, the same with snapshots, and the same everywhere."""
    size = grid[0]
    write_model(directory, size)
    for name, properties, more in (
        ("tti, ten arrays", "arrays", ""),
        (f"tti, ten arrays, p every {SNAPSHOT_EVERY} steps", "arrays", SNAPSHOTS),
        ("tti, constant medium", "numbers", ""),
    ):
        text = write_case(directory, Case(size, "tti", properties, WARM_UP, steps)).read_text()
        path = directory / f"{len(name)}.toml"
        path.write_text(text.replace(f"at = [{steps}]", "every = 1" if not more else "at = [1]") + more)
        compared = "snapshots/values" if more else "end/values"
        yield Work(name, SEISMIC, grid, seismic_words(path, bool(more)), compared)


def seismic_words(path: Path, snapshots: bool) -> Callable[[int], list[str]]:
    """The plane that is compared is recorded at the last step, or not at all beside snapshots."""

    def words(steps: int) -> list[str]:
        at = [] if snapshots else ["--set", f"output[0].every={steps}"]
        return ["--case", str(path), "--set", f"time.steps={steps}", *at]

    return words


def ultrasound_works(directory: Path, grid: Grid, steps: int) -> Iterator[Work]:
    """An absorbing, non-linear medium: nothing recorded but the last step; with a source that still acts;
    and with a tenth of the points recorded in every step.
    """
    for name, acting, start, recorded in (
        ("14 transforms", WARM_UP, None, ("--p_raw",)),
        ("one source signal", steps, None, ("--p_raw",)),
        ("p on 10 % of the points", WARM_UP, 1, ("--p_raw",)),
        ("p and u on 10 % of the points", WARM_UP, 1, ("--p_raw", "--u_raw")),
    ):
        path = directory / f"{acting}.h5"
        if not path.exists():
            write_ultrasound(path, grid, steps, acting)
        yield Work(name, ULTRASOUND, grid, ultrasound_words(path, start, recorded), "p")


def write_ultrasound(path: Path, grid: Grid, steps: int, acting: int) -> None:
    case = kwave_input.Case(grid, "one", steps)
    index = np.arange(1, np.prod(grid) + 1, SAMPLED_SHARE, dtype=np.uint64).reshape(1, 1, -1)
    values = kwave_input.settings(case) | kwave_input.medium(case)
    values |= kwave_input.source(kwave_input.Case(grid, "one", acting))
    values |= {"sensor_mask_type": 0, "sensor_mask_index": index}
    datasets = {name: kwave_input.in_file_type(value) for name, value in values.items()}
    write_file(path, kwave_input.HEADER, datasets)


def ultrasound_words(path: Path, start: int | None, recorded: tuple[str, ...]) -> Callable[[int], list[str]]:
    def words(steps: int) -> list[str]:
        return ["-i", str(path), "--benchmark", str(steps), "-s", str(start or steps), *recorded]

    return words


def measure_works(works: list[Work], request: Request, directory: Path, runner: Runner) -> None:
    """Accuracy first; then all of them one after the other, repetition by repetition."""
    for work in works:
        work.difference = difference(work, request.device, directory, runner)
    for repetition in range(request.pairs):
        say(f"{works[0].program}, {grid_text(works[0].grid)}: repetition {repetition + 1} of {request.pairs}")
        for work in works:
            run(work, WARM_UP + request.steps, request.device, directory, runner)
            work.seconds.append(step_seconds(directory / "run", WARM_UP))
            if request.reference is not None and work.program == ULTRASOUND:
                work.peer_seconds.append(peer_step_seconds(work, request, directory, runner))


def run(work: Work, steps: int, device: str, directory: Path, runner: Runner) -> Path:
    program, place = native_program(work.program), directory / "run"
    words = [*work.words(steps), "--quiet", "-t", "1", "--device", device]
    output = place / "output.h5"
    if work.program == SEISMIC:
        words += ["--out", str(place), "--overwrite"]
    else:
        output = directory / "output.h5"
        words += ["-o", str(output), "--run-dir", str(place)]
    runner.run([str(program), *words], 1)
    return output


def step_seconds(run_dir: Path, warm_up: int) -> float:
    """By the device: from the end of a step's kernels to the end of the last one's."""
    (rank,) = trace.read_run(run_dir, [0]).ranks
    kernels = rank.select("device", "compute")
    ends = dict(zip(kernels["step"].tolist(), kernels["end_s"].tolist(), strict=True))
    return (ends[max(ends)] - ends[warm_up]) / (max(ends) - warm_up)


def peer_step_seconds(work: Work, request: Request, directory: Path, runner: Runner) -> float:
    """As the difference of a long and a short run: k-Wave leaves only the time of all steps."""
    output, seconds = directory / "reference.h5", []
    for steps in (WARM_UP, WARM_UP + request.steps):
        words = [str(request.reference), *work.words(steps), "-o", str(output), "-g", request.device]
        runner.run(words, 1)
        seconds.append(read_number(output, "simulation_phase_execution_time", "s"))
    return (seconds[1] - seconds[0]) / request.steps


def difference(work: Work, device: str, directory: Path, runner: Runner) -> float:
    """From the processor after some steps, over the largest value. A result that is not finite, or too far
    off, is no result.
    """
    found = []
    for place in ("none", device):
        with h5py.File(run(work, CHECKED_STEPS, place, directory, runner)) as file:
            found.append(file[work.output][()].astype(np.float64))
    known, values = found
    off = float(np.abs(values - known).max() / np.abs(known).max())
    if not np.isfinite(values).all() or not off <= ACCURACY:
        where = f"{work.name}, {grid_text(work.grid)}"
        text = f"{where}: the device is off by {off:.3g} of the processor's largest value"
        raise CommandError(text, EXIT_RUN_FAILED)
    return off


def make_row(work: Work, first: Work) -> dict[str, Any]:
    """Times of a step; and ratios, within a repetition, to the first work of the grid and the reference."""
    points = int(np.prod(work.grid))
    row = {
        "program": work.program,
        "work": work.name,
        "grid": list(work.grid),
        "step_s": spread(work.seconds).as_dict(),
        "samples_s": spread([points / seconds for seconds in work.seconds]).as_dict(),
        "over_first": ratios(work.seconds, first.seconds).as_dict(),
        "difference": work.difference,
    }
    if work.peer_seconds:
        row["reference_step_s"] = spread(work.peer_seconds).as_dict()
        row["reference_over_ours"] = ratios(work.peer_seconds, work.seconds).as_dict()
    return row
