# SPDX-License-Identifier: BSD-3-Clause
"""Reads the traces of a run and puts the times of all ranks on one clock."""

import itertools
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tailrace.trace import format as trace_format
from tailrace.trace.format import EVENT, KINDS, ClockPoint, TraceFile
from tailrace.trace.records import RECORD, Summary, TypeName

# Rates of two clocks differ by less: twice the 100 ppm of the oscillators in common machines.
MAX_DRIFT = 2e-4


@dataclass
class RankTrace:
    """What one process did. `events` is an array of dtype EVENT, sorted by `start_s`; `records` one of dtype
    RECORD, sorted by `time_s`.

    A time is off from rank 0's clock by at most `clock_error_s`; `clock_offset_s` was added to the process's
    own clock at its start.
    """

    rank: int
    role: str  # "compute" or "writer"
    host: str
    clock: str  # processes with the same text read the same clock
    clock_offset_s: float
    clock_error_s: float
    threads: list[str]  # names: "main", "writer", ...
    counters: tuple[str, ...]  # what the counters in the events count
    lost: int  # events that found no room
    events: np.ndarray
    records: np.ndarray = field(default_factory=lambda: np.zeros(0, RECORD))
    types: dict[int, TypeName] = field(default_factory=dict)
    summaries: dict[int, Summary] = field(default_factory=dict)  # by thread

    def select(self, thread: str | None = None, *kinds: str) -> np.ndarray:
        """The events of a thread (None: of all) that are of one of the kinds (of any, if none is named)."""
        mask = np.ones(len(self.events), dtype=bool)
        if thread is not None:
            numbers = [index for index, name in enumerate(self.threads) if name == thread]
            mask &= np.isin(self.events["thread"], numbers)
        if kinds:
            mask &= np.isin(self.events["kind"], [KINDS.index(kind) for kind in kinds])
        return self.events[mask]


@dataclass
class RunTrace:
    """The traces of a run, by rank. Two times of different ranks are off from each other by at most
    `clock_error_s`. `problems` says what is missing or damaged.
    """

    ranks: list[RankTrace] = field(default_factory=list)
    clock_error_s: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def last_s(self) -> float:
        """When the last event of all ends."""
        return max((float(rank.events["end_s"].max(initial=0.0)) for rank in self.ranks), default=0.0)


def trace_files(directory: Path) -> dict[int, Path]:
    """The trace files of a run directory, by rank."""
    files = {}
    for path in (Path(directory) / "trace").glob("rank-*.trace"):
        number = path.stem.removeprefix("rank-")
        if number.isdecimal() and number.isascii():
            files[int(number)] = path
    return dict(sorted(files.items()))


def read_run(directory: Path, ranks: Collection[int] | None = None) -> RunTrace:
    """Reads the traces in a run directory, of all ranks or of those named. What cannot be read is among the
    problems; a directory without traces gives a RunTrace without ranks.
    """
    run = RunTrace()
    files, zero_s = {}, None
    for rank, path in trace_files(directory).items():
        if ranks is not None and rank not in ranks:
            continue
        file = _read_file(path, run.problems)
        if file is None:
            continue
        files[rank] = file
        if zero_s is None and file.clock_points:
            zero_s = file.clock_points[-1].zero_s
    if zero_s is None:
        starts = [part["start_s"].min(initial=np.inf) for file in files.values() for part in file.events]
        starts += [part["time_s"].min(initial=np.inf) for file in files.values() for part in file.records]
        zero_s = min((float(start) for start in starts if np.isfinite(start)), default=0.0)
    run.ranks = [_rank_trace(rank, file, zero_s) for rank, file in files.items()]
    run.clock_error_s = _error_between(run.ranks)
    return run


def _read_file(path: Path, problems: list[str]) -> TraceFile | None:
    try:
        file = trace_format.parse(path.read_bytes())
    except (OSError, trace_format.FormatError) as error:
        problems.append(f"{path.name}: {error}")
        return None
    if file.lost:
        file.problems.append(f"{file.lost} events were lost: they came too fast, or the file was full")
    if (file.events or file.records) and not file.clock_points:
        file.problems.append("its clock was never compared with rank 0's")
    problems += [f"{path.name}: {problem}" for problem in file.problems]
    return file


def _rank_trace(rank: int, file: TraceFile, zero_s: float) -> RankTrace:
    parts = [*file.events, *file.records]
    used = [*file.threads, *file.summaries, *(int(part["thread"].max(initial=0)) for part in parts)]
    count = max(used, default=-1) + 1
    events = np.concatenate(file.events) if file.events else np.zeros(0, EVENT)
    errors = [0.0]
    for name in ("start_s", "end_s"):
        offset, error = offsets(file.clock_points, events[name])
        events[name] += offset - zero_s
        errors.append(float(error.max(initial=0.0)))
    records = np.concatenate(file.records) if file.records else np.zeros(0, RECORD)
    offset, error = offsets(file.clock_points, records["time_s"])
    records["time_s"] += offset - zero_s
    errors.append(float(error.max(initial=0.0)))
    for summary in file.summaries.values():
        for name in ("start_s", "end_s", "full_until_s"):
            offset, _ = offsets(file.clock_points, np.array([getattr(summary, name)]))
            setattr(summary, name, getattr(summary, name) + float(offset[0]) - zero_s)
    order = np.lexsort((-events["end_s"], events["start_s"]))
    return RankTrace(
        rank=rank,
        role=file.role,
        host=file.host,
        clock=file.clock,
        clock_offset_s=file.clock_points[0].offset_s if file.clock_points else 0.0,
        clock_error_s=max(errors),
        threads=[file.threads.get(index, f"thread {index}") for index in range(count)],
        counters=file.counters,
        lost=file.lost,
        events=events[order],
        records=records[np.argsort(records["time_s"], kind="stable")],
        types=file.types,
        summaries=file.summaries,
    )


def offsets(points: list[ClockPoint], local_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What to add to times of a rank's clock to get rank 0's, and how far off that may be.

    Between the first and the last point the clocks drift apart evenly. Outside, they continue as before if
    the points say the drift better than MAX_DRIFT, else they stay as they are.
    """
    if not any(point.error_s for point in points):  # the same clock as rank 0's, or nothing is known
        return np.full(len(local_s), points[0].offset_s if points else 0.0), np.zeros(len(local_s))
    first, last = points[0], points[-1]
    span = last.local_s - first.local_s
    if span <= 0:
        return np.full(len(local_s), first.offset_s), first.error_s + MAX_DRIFT * np.abs(
            local_s - first.local_s
        )
    drift = (last.offset_s - first.offset_s) / span
    doubt = (first.error_s + last.error_s) / span
    inside = np.clip(local_s, first.local_s, last.local_s)
    outside = local_s - inside
    offset = first.offset_s + drift * (inside - first.local_s)
    if doubt < MAX_DRIFT:
        offset = offset + drift * outside
    error = max(first.error_s, last.error_s) + min(doubt, MAX_DRIFT) * np.abs(outside)
    return offset, error


def _error_between(ranks: list[RankTrace]) -> float:
    """The largest error between two ranks that do not read the same clock."""
    worst: dict[str, float] = {}
    for number, rank in enumerate(ranks):
        clock = rank.clock or f"unknown {number}"
        worst[clock] = max(worst.get(clock, 0.0), rank.clock_error_s)
    largest = sorted(worst.values(), reverse=True)
    return sum(itertools.islice(largest, 2))
