# SPDX-License-Identifier: BSD-3-Clause
"""Useful work, overhead by class and idle time of each thread, and the efficiencies that follow."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailrace.fragment_profile.tables import Recorded
from tailrace.trace import ACTIVITIES

OVERHEADS = ("distribution", "dependencies", "unfolding", "messages", "ending", "checkpoint")
_WITHIN = 0.01  # of the wall time, by which sums may differ from it
_OUTSIDE = ACTIVITIES.index("outside")


@dataclass
class ThreadShare:
    """Seconds of one thread; `wall_s` is from its first to its last moment in programs."""

    rank: int
    thread: str
    runs_bodies: bool
    wall_s: float
    useful_s: float
    idle_s: float
    overhead_s: dict[str, float]

    @property
    def all_overhead_s(self) -> float:
        return sum(self.overhead_s.values())


@dataclass
class Shares:
    """Where the time of all threads went. Efficiencies are those of POP; `transfer` and `serialisation` are
    None unless a replay without latency is known.
    """

    threads: list[ThreadShare] = field(default_factory=list)
    bodies: int = 0
    fragments: int = 0
    errors: list[str] = field(default_factory=list)
    ideal_s: float | None = None  # of a replay with transfers that take no time

    @property
    def wall_s(self) -> float:
        return max((one.wall_s for one in self.threads), default=0.0)

    @property
    def useful_s(self) -> float:
        return sum(one.useful_s for one in self.threads)

    @property
    def overhead_s(self) -> float:
        return sum(one.all_overhead_s for one in self.threads)

    @property
    def idle_s(self) -> float:
        return sum(one.idle_s for one in self.threads)

    @property
    def executing(self) -> list[ThreadShare]:
        """The threads that run bodies."""
        return [one for one in self.threads if one.runs_bodies]

    def efficiencies(self) -> dict[str, float | None]:
        useful = [one.useful_s for one in self.executing]
        most, wall = max(useful, default=0.0), self.wall_s
        if not most or not wall:
            return dict.fromkeys(
                ("parallel", "load_balance", "communication", "transfer", "serialisation"), None
            )
        mean = sum(useful) / len(useful)
        ideal = self.ideal_s
        return {
            "parallel": mean / wall,
            "load_balance": mean / most,
            "communication": most / wall,
            "transfer": min(ideal / wall, 1.0) if ideal else None,
            "serialisation": min(most / ideal, 1.0) if ideal else None,
        }

    @property
    def granularity_s(self) -> float | None:
        """Useful time of a body."""
        return self.useful_s / self.bodies if self.bodies else None

    @property
    def overhead_per_fragment_s(self) -> float | None:
        return self.overhead_s / self.fragments if self.fragments else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "wall_s": self.wall_s,
            "useful_s": self.useful_s,
            "overhead_s": self.overhead_s,
            "overheads_s": {name: sum(one.overhead_s[name] for one in self.threads) for name in OVERHEADS},
            "idle_s": self.idle_s,
            "threads": [
                {
                    "rank": one.rank,
                    "thread": one.thread,
                    "wall_s": one.wall_s,
                    "useful_s": one.useful_s,
                    "idle_s": one.idle_s,
                    "overhead_s": one.overhead_s,
                }
                for one in self.threads
            ],
            "efficiencies": self.efficiencies(),
            "bodies": self.bodies,
            "granularity_s": self.granularity_s,
            "overhead_per_fragment_s": self.overhead_per_fragment_s,
            "errors": self.errors,
        }


def shares_of(recorded: Recorded, fragments: int) -> Shares:
    """The shares of all threads; `fragments`: how many were created."""
    shares = Shares(fragments=fragments)
    for (rank, thread), name in recorded.threads.items():
        one = _of_thread(recorded, rank, thread, name)
        if one is not None:
            shares.threads.append(one)
            _check(recorded, rank, thread, one, shares)
    steps = [summary.counts.sum(axis=0) for summary in recorded.summaries.values()]
    begin = 8
    shares.bodies = int(sum(counts[begin] for counts in steps)) if steps else len(recorded.runs)
    return shares


def _of_thread(recorded: Recorded, rank: int, thread: int, name: str) -> ThreadShare | None:
    summary = recorded.summaries.get((rank, thread))
    if summary is None:
        return _from_records(recorded, rank, thread, name)
    seconds = dict(zip(ACTIVITIES, summary.seconds.sum(axis=0).tolist(), strict=True))
    has_workers = any(
        of == rank and other.startswith("worker") for (of, _), other in recorded.threads.items()
    )
    return ThreadShare(
        rank,
        name,
        name.startswith("worker") or not has_workers,
        summary.end_s - summary.start_s - seconds["outside"],
        seconds["useful"],
        seconds["idle"],
        {one: seconds[one] for one in OVERHEADS},
    )


def _from_records(recorded: Recorded, rank: int, thread: int, name: str) -> ThreadShare | None:
    """Of a thread of a killed program, which left no summary: what is neither useful nor idle is overhead, of
    which the class is not known.
    """
    sums = []
    for table in (recorded.runs, recorded.idles):
        here = table[(table["rank"] == rank) & (table["thread"] == thread)]
        sums.append(float((here["end_s"] - here["begin_s"]).sum()))
    useful, idle = sums
    wall = recorded.last_s - recorded.first_s
    if wall <= 0:
        return None
    overheads = dict.fromkeys(OVERHEADS, 0.0) | {"dependencies": max(wall - useful - idle, 0.0)}
    return ThreadShare(rank, name, True, wall, useful, idle, overheads)


def _check(recorded: Recorded, rank: int, thread: int, one: ThreadShare, shares: Shares) -> None:
    """Sums that must be the wall time, and the useful time of the records that of the summary."""
    whole = one.useful_s + one.idle_s + one.all_overhead_s
    if abs(whole - one.wall_s) > _WITHIN * one.wall_s + 1e-6:
        shares.errors.append(
            f"rank {rank}, thread {one.thread}: useful, overhead and idle time are {whole:.6f} s, its wall "
            f"time {one.wall_s:.6f} s"
        )
    if not recorded.is_full or (rank, thread) not in recorded.summaries:
        return
    runs = recorded.runs[(recorded.runs["rank"] == rank) & (recorded.runs["thread"] == thread)]
    useful = float((runs["end_s"] - runs["begin_s"]).sum())
    if abs(useful - one.useful_s) > _WITHIN * one.wall_s + 1e-6:
        shares.errors.append(
            f"rank {rank}, thread {one.thread}: its records have {useful:.6f} s of useful time, its summary "
            f"{one.useful_s:.6f} s"
        )


def over_time(recorded: Recorded, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges of time bins, and the seconds of all threads in each of them by activity (without `outside`)."""
    first, last = recorded.first_s, recorded.last_s
    edges = np.linspace(first, max(last, first + 1e-9), bins + 1)
    seconds = np.zeros((bins, len(ACTIVITIES)))
    for summary in recorded.summaries.values():
        ends = summary.start_s + summary.bin_s * np.arange(len(summary.seconds) + 1)
        cumulated = np.vstack([np.zeros(len(ACTIVITIES)), np.cumsum(summary.seconds, axis=0)])
        for activity in range(len(ACTIVITIES)):
            seconds[:, activity] += np.diff(np.interp(edges, ends, cumulated[:, activity]))
    seconds[:, _OUTSIDE] = 0
    return edges, seconds
