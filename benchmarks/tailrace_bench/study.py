# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench study ultrasound`: the reference study of overlapped output, scaled down to one machine."""

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.rehearsal import EDGE, MIB, Account, Rehearsal
from tailrace.cores import usable_cores
from tailrace.strategies import name_of
from tailrace.units import duration_text
from tailrace_bench.study_loads import PLANE_BYTES, SOURCE, Experiment, Point, experiments
from tailrace_bench.study_results import COMPUTE, ours, results
from tailrace_bench.warm import warm_page_cache


@dataclass(frozen=True)
class Request:
    ranks: int
    outputs: int
    pairs: int
    compute_ms: float
    directory: Path | None = None


class Study:
    """The program, and how much work a step of each load is on so many ranks."""

    def __init__(self, request: Request, scratch: Path) -> None:
        self.request = request
        self.file = scratch / "study.h5"
        self.rehearsal = Rehearsal(scratch)
        services = [name_of(name) for name in self.rehearsal.services()]
        self.experiments = experiments(request.ranks, usable_cores(), services)
        self.units: dict[tuple[str, int], int] = {}

    def ranks_of(self, point: Point) -> int:
        return point.ranks or self.request.ranks

    def units_of(self, point: Point) -> int:
        """The median of three calibrations, made once."""
        key = (point.load, self.ranks_of(point))
        if key not in self.units:
            words = ["--cells", "16", "--steps", "1", "--select", "none", "--compute", point.load]
            words += ["--compute-ms", f"{self.request.compute_ms:g}"]
            self.units[key] = sorted(self.rehearsal.run(words, key[1]).units for _ in range(3))[1]
        return self.units[key]

    def run(self, point: Point, strategy: str, verify: bool) -> Account:
        size_mib = max(1, point.planes * PLANE_BYTES // MIB)
        warm_page_cache(self.file.parent, self.request.outputs, size_mib)
        words = [
            "--cells",
            f"{EDGE},{EDGE},{point.planes}",
            "--steps",
            str(self.request.outputs),
            *point.words,
        ]
        words += ["--compute", point.load, "--compute-units", str(self.units_of(point)), "--flush", "sample"]
        words += ["-o", str(self.file)]
        if strategy == COMPUTE:
            words = [*without_selection(words), "--select", "none"]
        else:
            words += ["--write", strategy, *(["--verify"] if verify else [])]
        try:
            return self.rehearsal.run(words, self.ranks_of(point), on_cores(point.cores))
        finally:
            self.file.unlink(missing_ok=True)


def without_selection(words: list[str]) -> list[str]:
    kept = list(words)
    while "--select" in kept:
        at = kept.index("--select")
        del kept[at : at + 2]
    return kept


def on_cores(count: int | None) -> Callable[[], None] | None:
    """What a child calls to use the first so many of our cores only."""
    if count is None:
        return None
    cores = sorted(os.sched_getaffinity(0))[:count]
    return lambda: os.sched_setaffinity(0, cores)


def measure(request: Request) -> dict[str, Any]:
    """The whole study as a document."""
    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="tailrace-study-", dir=request.directory) as name:
        study = Study(request, Path(name))
        total = sum(len(experiment.points) for experiment in study.experiments)
        started, found, done = time.monotonic(), [], 0
        for experiment in study.experiments:
            points = []
            for point in experiment.points:
                left = (time.monotonic() - started) / done * (total - done) if done else None
                say(
                    f"{experiment.title}: {point.label}"
                    + (f", about {duration_text(left)} left" if left else "")
                )
                points.append(measure_point(study, point))
                done += 1
            found.append(experiment_result(experiment, points))
    document = make_document("study ultrasound", asdict(request), watch, study.rehearsal.runner.commands)
    document["settings"]["directory"] = str(request.directory or tempfile.gettempdir())
    return document | {
        "title": "Overlapped output: the reference study and ours",
        "subtitle": subtitle(request, document["machine"]),
        "source": SOURCE,
        "experiments": found,
    }


def subtitle(request: Request, machine: dict[str, Any]) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores; {request.ranks} ranks, {request.outputs} "
        f"outputs, {request.compute_ms:g} ms of computing for each; flushed files; medians of "
        f"{request.pairs} interleaved repetitions"
    )


def experiment_result(experiment: Experiment, points: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "key": experiment.key,
        "title": experiment.title,
        "finding": experiment.finding,
        "points": points,
        "ours": ours(points),
    }


def measure_point(study: Study, point: Point) -> dict[str, Any]:
    """All ways one after the other, after a round that is left out of the times but whose files are
    verified.
    """
    ways = [COMPUTE, *point.strategies]
    runs: dict[str, list[Account]] = {way: [] for way in ways}
    for repetition in range(study.request.pairs + 1):
        for number in range(len(ways)):
            way = ways[(number + repetition) % len(ways)]
            account = study.run(point, way, repetition == 0)
            if repetition > 0:
                runs[way].append(account)
    return {
        "label": point.label,
        "ranks": study.ranks_of(point),
        "units": study.units_of(point),
        "sample_bytes": point.planes * PLANE_BYTES,
        "ways": results(runs),
    }
