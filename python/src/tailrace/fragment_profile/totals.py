# SPDX-License-Identifier: BSD-3-Clause
"""Total cf, Distribs and Wait df: counted by the ranks, and checked against each other and the records."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailrace.fragment_profile.tables import Recorded
from tailrace.trace.records import MANY_HOPS


@dataclass
class Totals:
    """Counts of fragments. `distribs[n]`: those that went to another rank exactly n times, the last one for
    all further n.
    """

    created: int = 0
    ended: int = 0
    waited: int = 0
    forwarded: int = 0
    distribs: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def text(self) -> str:
        """In the form of the thesis."""
        return f"Total cf: {self.created}\nDistribs: {self.distribs}\nWait df : {self.waited}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "total_cf": self.created,
            "ended": self.ended,
            "distribs": self.distribs,
            "wait_df": self.waited,
            "fragment_messages": self.forwarded,
            "errors": self.errors,
        }


def totals_of(recorded: Recorded, over: bool = True) -> Totals:
    """The totals of all ranks. `over`: the program has come to its end, so that no fragment is left."""
    counted = _counted(recorded)
    by_rank = counted or _recorded(recorded)
    totals = Totals()
    hops = np.zeros(MANY_HOPS + 1, int)
    for one in by_rank.values():
        for name in ("created", "ended", "waited", "forwarded"):
            setattr(totals, name, getattr(totals, name) + getattr(one, name))
        hops += np.array(one.distribs + [0] * (len(hops) - len(one.distribs)))
    totals.distribs = _without_end(hops)
    if counted and recorded.is_full and len(recorded.fragments):
        _compare(counted, _recorded(recorded), totals)
    _check(totals, by_rank, over)
    return totals


def _without_end(hops: np.ndarray) -> list[int]:
    """Up to the last count that is not 0."""
    used = np.flatnonzero(hops)
    return hops[: used[-1] + 1].tolist() if len(used) else [0]


def _counted(recorded: Recorded) -> dict[int, Totals]:
    """What the ranks counted themselves; nothing unless all did."""
    found = {
        rank: Totals(one.created, one.ended, one.waited, one.forwarded, list(one.by_hops))
        for (rank, thread), one in recorded.summaries.items()
        if recorded.threads.get((rank, thread)) == "fragments"
    }
    return found if len(found) == len(recorded.ranks) else {}


def _recorded(recorded: Recorded) -> dict[int, Totals]:
    """The same, from the records: by the rank that recorded each event."""
    table, found = recorded.fragments, {}
    over = np.isfinite(table["destroyed_s"])
    for rank in recorded.ranks:
        counts = recorded.counts.get(rank, {})
        here = table["rank"] == rank
        hops = np.bincount(np.minimum(table["hops"][over & here], MANY_HOPS), minlength=MANY_HOPS + 1)
        found[rank] = Totals(
            counts.get("create", 0),
            counts.get("destroy", 0),
            int(table["waited"][here].sum()),
            counts.get("forward", 0),
            hops.tolist(),
        )
    return found


def _compare(counted: dict[int, Totals], recorded: dict[int, Totals], totals: Totals) -> None:
    for rank, one in counted.items():
        other = recorded[rank]
        for name in ("created", "ended", "forwarded", "distribs"):
            if getattr(one, name) != getattr(other, name):
                totals.errors.append(
                    f"rank {rank} counted {name} {getattr(one, name)}, its records say {getattr(other, name)}"
                )
    waited = [sum(one.waited for one in side.values()) for side in (counted, recorded)]
    if waited[0] != waited[1]:
        totals.errors.append(f"{waited[0]} fragments had to wait as counted, {waited[1]} by the records")


def _check(totals: Totals, by_rank: dict[int, Totals], over: bool) -> None:
    """The identities: sum A_n = total, sum n A_n = departures, waits <= total."""
    for rank, one in by_rank.items():
        if sum(one.distribs) != one.ended:
            totals.errors.append(f"rank {rank}: Distribs add up to {sum(one.distribs)}, {one.ended} are over")
        if one.waited > one.created + sum(other.forwarded for other in by_rank.values()):
            totals.errors.append(f"rank {rank}: {one.waited} waited, more than it ever had")
    if totals.waited > totals.created:
        totals.errors.append(f"Wait df {totals.waited} is more than Total cf {totals.created}")
    if not over:
        return
    if sum(totals.distribs) != totals.created:
        totals.errors.append(f"Distribs add up to {sum(totals.distribs)}, not to Total cf {totals.created}")
    moves = sum(n * count for n, count in enumerate(totals.distribs))
    many = totals.distribs[MANY_HOPS] if len(totals.distribs) > MANY_HOPS else 0
    if (moves != totals.forwarded and not many) or moves > totals.forwarded:
        totals.errors.append(
            f"sum n A_n is {moves}, and {totals.forwarded} departures to other ranks were counted"
        )
