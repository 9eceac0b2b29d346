# SPDX-License-Identifier: BSD-3-Clause
"""What benchmarks that time the steps of a simulation have in common."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace import trace
from tailrace.bench.programs import Runner, native_program

KERNELS = "tailrace-bench-kernels"


@dataclass(frozen=True)
class Variant:
    """A program on ranks x threads."""

    program: Path
    ranks: int
    threads: int
    is_reference: bool = False

    @property
    def workers(self) -> int:
        return self.ranks * self.threads

    @property
    def name(self) -> str:
        ranks = "1 rank" if self.ranks == 1 else f"{self.ranks} ranks"
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.program.name}, {threads}" if self.is_reference else f"{ranks} x {threads}"


@dataclass
class Samples:
    """Per repetition: seconds and CPU seconds per step. Memory as the long run had it."""

    step_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    predicted_bytes: int | None = None

    def add_run(self, directory: Path, warm_up: int, steps: int) -> None:
        """Time per step from the trace of a run, after the steps that warm up, and its memory."""
        self.step_s.append(seconds_after(directory, warm_up) / (steps - warm_up))
        account = json.loads((directory / "run.json").read_text())
        self.peak_bytes = sum(account["peak_memory_bytes"])
        self.predicted_bytes = sum(account["predicted_memory_bytes"])


@contextmanager
def working_directory(parent: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=parent) as name:
        yield Path(name)


def measure_kernels(
    grid: tuple[int, int, int], layouts: Sequence[tuple[int, int]], runner: Runner
) -> list[dict[str, Any]]:
    """Times of single transforms and the bandwidth of the memory, for each number of busy cores."""
    found = []
    for workers in sorted({ranks * threads for ranks, threads in layouts}):
        arguments = ["--grid", *map(str, grid), "-t", str(workers)]
        finished = runner.run([str(native_program(KERNELS)), *arguments], workers)
        found.append(json.loads(finished.output))
    return found


def seconds_after(directory: Path, step: int) -> float:
    """From the end of a step to the end of the last, on rank 0 of a run."""
    (rank,) = trace.read_run(directory, [0]).ranks
    computed = rank.select("main", "compute")
    ends = dict(zip(computed["step"].tolist(), computed["end_s"].tolist(), strict=True))
    return ends[max(ends)] - ends[step]
