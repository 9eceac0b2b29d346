# SPDX-License-Identifier: BSD-3-Clause
"""What the trace costs: the same run with and without it, one after the other."""

import json
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.kwave_input import Case, write_input
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.trace import read_run

MODES = ("off", "on")
# Steps that take some seconds: the smaller the grid, the more spans there are per second.
STEPS = {32: 4000, 64: 800, 128: 100}
STEPS_BY_POINTS = 200_000_000


@dataclass(frozen=True)
class Request:
    """What to measure: grids with so many points per axis, on so many ranks."""

    grids: tuple[int, ...]
    ranks: tuple[int, ...]
    pairs: int
    steps: int = 0
    directory: Path | None = None


@dataclass
class Samples:
    """Of one mode, repetition by repetition."""

    stepping_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    program, runner, watch = native_program("tailrace-ultrasound"), Runner(), Watch()
    rows = []
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=request.directory) as name:
        for grid in request.grids:
            steps = request.steps or STEPS.get(grid) or max(10, STEPS_BY_POINTS // grid**3)
            write_input(Path(name) / "input.h5", Case((grid,) * 3, "one", steps))
            for ranks in request.ranks:
                rows.append(measure_row(program, runner, request, grid, steps, ranks, Path(name)))
    settings = asdict(request) | {"directory": str(request.directory or tempfile.gettempdir())}
    return make_document("trace", settings, watch, runner.commands) | {"rows": rows}


def measure_row(
    program: Path, runner: Runner, request: Request, grid: int, steps: int, ranks: int, directory: Path
) -> dict[str, Any]:
    """Both modes one after the other after a round that is left out; which comes first changes from pair to
    pair.
    """
    samples = {mode: Samples() for mode in MODES}
    traced: dict[str, Any] = {}
    for repetition in range(request.pairs + 1):
        say(f"{grid}^3, {ranks} rank{'s' * (ranks > 1)}: repetition {repetition} of {request.pairs}")
        for mode in MODES if repetition % 2 else reversed(MODES):
            arguments = ["-i", directory / "input.h5", "-o", directory / "output.h5", "-t", 1]
            arguments += ["--run-dir", directory / "run", "--quiet", "--p_raw", "--trace", mode]
            finished = runner.run(on_ranks(program, ranks, 1, [str(word) for word in arguments]), 1)
            if mode == "on":
                traced = describe_trace(directory / "run")
            if repetition == 0:
                continue
            account = json.loads((directory / "run" / "run.json").read_text())
            samples[mode].stepping_s.append(account["wall_s"] - account["setup_s"])
            samples[mode].cpu_s.append(finished.cpu_s)
    return make_row(grid, steps, ranks, samples, traced)


def describe_trace(run_dir: Path) -> dict[str, Any]:
    """What the traces of a run hold."""
    run = read_run(run_dir)
    sizes = [path.stat().st_size for path in (run_dir / "trace").iterdir()]
    return {
        "records": sum(len(rank.events) for rank in run.ranks),
        "lost": sum(rank.lost for rank in run.ranks),
        "bytes": sum(sizes),
    }


def make_row(
    grid: int, steps: int, ranks: int, samples: dict[str, Samples], traced: dict[str, Any]
) -> dict[str, Any]:
    on, off = samples["on"], samples["off"]
    return {
        "grid": grid,
        "steps": steps,
        "ranks": ranks,
        **traced,
        "stepping_s": {mode: spread(samples[mode].stepping_s).as_dict() for mode in MODES},
        "time_ratio": ratios(on.stepping_s, off.stepping_s).as_dict(),
        "cpu_ratio": ratios(on.cpu_s, off.cpu_s).as_dict(),
    }
