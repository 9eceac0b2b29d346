# SPDX-License-Identifier: BSD-3-Clause
"""Threads of a run as lanes: disjoint segments of time, each of one kind."""

from dataclasses import dataclass

import numpy as np

from tailrace.report import intervals
from tailrace.report.intervals import Intervals
from tailrace.trace import KINDS, RankTrace, RunTrace

MAIN = "main"
WAITING = ("output_wait", "write", "sync", "gather")  # of a thread that computes


@dataclass
class Lane:
    """What one thread did. Where its spans nest, the inner one counts: segments are disjoint and sorted.

    `event` says for every segment which of `events`, the thread's own, it is part of.
    """

    rank: int
    role: str  # "compute" or "writer"
    host: str
    thread: str
    events: np.ndarray
    start_s: np.ndarray
    end_s: np.ndarray
    event: np.ndarray

    @property
    def computes(self) -> bool:
        """Whether this is the thread that computes on its rank."""
        return self.role == "compute" and self.thread == MAIN

    @property
    def of_device(self) -> bool:
        """Whether these are kernels or copies of the device that computes for its rank."""
        return self.role == "compute" and self.thread.split()[0] == "device"

    @property
    def name(self) -> str:
        return f"rank {self.rank} {'writer process' if self.role == 'writer' else ''} {self.thread}".replace(
            "  ", " "
        )

    @property
    def kind(self) -> np.ndarray:
        """The kind of every segment, an index into KINDS."""
        return self.events["kind"][self.event]

    @property
    def step(self) -> np.ndarray:
        """The time step of every segment."""
        return self.events["step"][self.event]

    @property
    def last_s(self) -> float:
        return float(self.end_s[-1]) if len(self.end_s) else 0.0

    def intervals(self, *kinds: str) -> Intervals:
        """The times that the thread spent on one of the kinds."""
        mask = np.isin(self.kind, [KINDS.index(kind) for kind in kinds])
        return intervals.union(self.start_s[mask], self.end_s[mask])

    def seconds(self, *kinds: str) -> float:
        """How long the thread spent on the kinds."""
        return intervals.total_s(self.intervals(*kinds))

    @property
    def checkpoints(self) -> Intervals:
        """The times that checkpoints took from the thread, with all that happened inside."""
        events = self.of_kind("checkpoint")
        return intervals.merge([(events["start_s"], events["end_s"])])

    def output(self, *kinds: str) -> Intervals:
        """As `intervals`, for kinds that output and checkpoints share: without those of checkpoints."""
        return intervals.difference(self.intervals(*kinds), self.checkpoints)

    @property
    def output_writes(self) -> np.ndarray:
        """The writes of output, whole events: without those of checkpoints."""
        events, (starts, ends) = self.of_kind("write"), self.checkpoints
        begun, ended = (np.searchsorted(times, events["start_s"], side="right") for times in (starts, ends))
        return events[begun == ended]

    def of_kind(self, kind: str) -> np.ndarray:
        """The events, whole and perhaps with others inside, of a kind."""
        return self.events[self.events["kind"] == KINDS.index(kind)]


def lanes_of(trace: RunTrace) -> list[Lane]:
    """The threads of all ranks that recorded anything, by rank, those that compute first."""
    return [lane for rank in trace.ranks for lane in _lanes_of_rank(rank)]


def _lanes_of_rank(rank: RankTrace) -> list[Lane]:
    lanes = []
    for number, name in enumerate(rank.threads):
        events = rank.events[rank.events["thread"] == number]
        if len(events):
            lanes.append(Lane(rank.rank, rank.role, rank.host, name, events, *flatten(events)))
    return sorted(lanes, key=lambda lane: lane.thread != MAIN)


def flatten(events: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, ends and event of the disjoint segments of one thread's nested spans, sorted."""
    chosen = np.flatnonzero(events["end_s"] > events["start_s"])
    start, end = events["start_s"][chosen], events["end_s"][chosen]
    count = len(chosen)
    time = np.concatenate([start, end])
    opens = np.arange(2 * count) < count
    # Of events at the same time ends come first, then starts, the longest span's first.
    order = np.lexsort((np.where(opens, -np.concatenate([end, end]), 0.0), opens, time))
    time, opens, span = time[order], opens[order], np.tile(np.arange(count), 2)[order]
    depth = np.cumsum(np.where(opens, 1, -1))
    inner = np.full(2 * count, -1)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = opens & (depth == level)
        latest = np.maximum.accumulate(np.where(here, np.arange(2 * count), -1))
        mask = depth == level
        inner[mask] = span[latest[mask]]
    open_after = (inner[:-1] >= 0) & (time[1:] > time[:-1])
    return time[:-1][open_after], time[1:][open_after], chosen[inner[:-1][open_after]]


def totals(lanes: list[Lane]) -> list[dict]:
    """Per rank that computes the sums that run.json holds."""
    result = []
    for main in lanes:
        if not main.computes:
            continue
        own = [lane for lane in lanes if lane.rank == main.rank]
        kinds = ("setup", "compute", "exchange")
        result.append(
            {
                "rank": main.rank,
                "host": main.host,
                **{f"{kind}_s": main.seconds(kind) for kind in kinds},
                "pack_s": intervals.total_s(main.output("pack")),
                "checkpoint_s": intervals.total_s(main.checkpoints),
                "output_wait_s": intervals.total_s(main.output(*WAITING)),
                "write_s": sum(intervals.total_s(lane.output("write", "sync")) for lane in own),
                "write_bytes": sum(int(lane.output_writes["bytes"].sum()) for lane in own),
                "writes": sum(len(lane.output_writes) for lane in own),
                "peak_memory_bytes": max(int(lane.events["memory_bytes"].max()) for lane in own),
            }
        )
    return result
