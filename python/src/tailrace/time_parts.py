# SPDX-License-Identifier: BSD-3-Clause
"""How the computing threads of a run spent its time: parts that add up to the wall time."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

# Seconds of a rank by the names of run.json, among entries of other kinds.
RankTimes = Mapping[str, Any]
# What output costs the computation is waiting, and copying samples (with running maxima and the like).
PARTS = {
    "compute": ("compute_s",),
    "exchange": ("exchange_s",),
    "output": ("output_wait_s", "pack_s"),
    "checkpoints": ("checkpoint_s",),
    "set-up": ("setup_s",),
}


def part_s(rank: RankTimes, part: str) -> float:
    """Seconds of a part, by the account of a rank or of the whole run."""
    return sum(float(rank.get(name) or 0.0) for name in PARTS[part])


def parts_s(per_rank: Sequence[RankTimes], wall_s: float) -> dict[str, float]:
    """All parts, each the mean over the ranks, and `other`: the rest of the wall time."""
    found = {part: fmean(part_s(rank, part) for rank in per_rank) for part in PARTS}
    return found | {"other": max(0.0, wall_s - sum(found.values()))}


def visible_fraction(per_rank: Sequence[RankTimes], wall_s: float) -> float:
    """Share of the run that output took from the computation."""
    return parts_s(per_rank, wall_s)["output"] / wall_s


def hidden_fraction(per_rank: Sequence[RankTimes]) -> float | None:
    """Share of copying and writing that did not hold the computation up; None when nothing was written."""
    visible, written, copied = (
        sum(float(rank.get(name) or 0.0) for rank in per_rank for name in names)
        for names in (PARTS["output"], ("write_s",), ("pack_s",))
    )
    return min(1.0, max(0.0, 1 - visible / (written + copied))) if written else None
