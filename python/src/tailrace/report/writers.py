# SPDX-License-Identifier: BSD-3-Clause
"""Who writes for whom, and how busy each writer is."""

from dataclasses import dataclass, field

import numpy as np

from tailrace.report import intervals
from tailrace.report.intervals import Intervals
from tailrace.report.lanes import Lane

WORK = ("write", "sync", "gather")


@dataclass
class Writer:
    """The threads of one process that write beside the computation, and the ranks they write for."""

    rank: int
    role: str  # "compute" for a rank's own thread or a leader, "writer" for a dedicated process
    host: str
    lanes: list[Lane]
    members: list[int] = field(default_factory=list)
    cpu_s: float | None = None  # processor time, where the account says

    @property
    def name(self) -> str:
        return f"writer process {self.rank}" if self.role == "writer" else f"writer of rank {self.rank}"

    @property
    def serves(self) -> str:
        """The ranks in words: rank 3, ranks 0 to 7."""
        return ranks_text(self.members)

    def times(self, *kinds: str) -> Intervals:
        return intervals.merge([lane.intervals(*kinds) for lane in self.lanes])

    @property
    def busy(self) -> Intervals:
        return self.times(*WORK)

    @property
    def busy_s(self) -> float:
        return intervals.total_s(self.busy)

    @property
    def write_events(self) -> np.ndarray:
        return np.concatenate([lane.of_kind("write") for lane in self.lanes])

    @property
    def written_bytes(self) -> int:
        return int(self.write_events["bytes"].sum())

    @property
    def rate(self) -> float:
        """Bytes per second while it works."""
        return self.written_bytes / self.busy_s if self.busy_s else 0.0

    def busy_share(self, begin: float, end: float) -> float:
        """Which part of an interval of time it works."""
        if end <= begin:
            return 0.0
        return float(intervals.overlap_s(self.busy, np.array([begin, end]))[0]) / (end - begin)


def ranks_text(ranks: list[int]) -> str:
    """Ranks in words: rank 3, ranks 0 to 7, ranks 1, 5 and 9."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if ranks and ranks == list(range(ranks[0], ranks[0] + len(ranks))) and len(ranks) > 2:
        return f"ranks {ranks[0]} to {ranks[-1]}"
    if len(ranks) > 6:
        return f"{len(ranks)} ranks between {ranks[0]} and {ranks[-1]}"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}" if ranks else "no rank"


def writers_of(lanes: list[Lane], per_rank: list[dict]) -> list[Writer]:
    """All writers with their members; `per_rank` as in run.json."""
    found: dict[int, Writer] = {}
    for lane in lanes:
        if lane.computes or not any(len(lane.of_kind(kind)) for kind in WORK):
            continue
        writer = found.setdefault(lane.rank, Writer(lane.rank, lane.role, lane.host, []))
        writer.lanes.append(lane)
    for entry in per_rank:
        if entry.get("rank") in found and entry.get("write_cpu_s") is not None:
            found[entry["rank"]].cpu_s = float(entry["write_cpu_s"])
    reported = {entry.get("rank"): entry.get("writer") for entry in per_rank}
    mains = [lane for lane in lanes if lane.computes]
    for number, lane in enumerate(mains):
        writer = found.get(reported.get(lane.rank)) or _writer_for(lane, found, number / len(mains))
        if writer is not None:
            writer.members.append(lane.rank)
    return list(found.values())


def _writer_for(main: Lane, found: dict[int, Writer], position: float) -> Writer | None:
    """A rank's own writer, else its group's leader (groups are consecutive ranks of one host, led by one of
    them), else the dedicated process that serves this part of the ranks. None if it writes itself.
    """
    if main.rank in found:
        return found[main.rank]
    if main.seconds("write") > 0:
        return None
    near = [writer for writer in found.values() if writer.role == "compute" and writer.host == main.host]
    before = [writer for writer in near if writer.rank < main.rank]
    if near:
        return max(before, key=lambda one: one.rank) if before else min(near, key=lambda one: one.rank)
    processes = [writer for writer in found.values() if writer.role == "writer"]
    return processes[int(position * len(processes))] if processes else None
