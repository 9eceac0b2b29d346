# SPDX-License-Identifier: BSD-3-Clause
"""How evenly the ranks are loaded, and for whom the others wait in their exchanges."""

from dataclasses import dataclass

import numpy as np

from tailrace.report.lanes import Lane
from tailrace.trace import KINDS

_OUTLIER = 1.15  # compute time beyond the usual that makes a rank slow
_NEXT = 0.4  # the first rank that is not slow lies at most this far from the usual to the slow ones
_MAX_CELLS = 4_000_000  # ranks times steps; in longer runs several steps are looked at together


@dataclass
class Blame:
    """Time that ranks lost in exchanges because others came late, in seconds summed over ranks.

    `by_rank`: for whom they waited; of this, `output_s` is because that rank had waited for output itself.
    """

    by_rank: dict[int, float]
    output_s: float
    exchange_s: float

    @property
    def seconds(self) -> float:
        return sum(self.by_rank.values())


def slow_ranks(ranks: list[int], compute_s: list[float]) -> list[int]:
    """The ranks that compute clearly longer than the usual rank, slowest first; none if times are merely
    spread.
    """
    values = np.array(compute_s)
    if len(values) < 2 or not np.any(values > 0):
        return []
    order = np.argsort(-values, kind="stable")
    for count in range(1, max(2, len(values) // 4 + 1)):
        slow, rest = values[order[:count]], values[order[count:]]
        usual = float(np.median(rest))
        if slow.min() > _OUTLIER * usual and rest.max() - usual <= _NEXT * (slow.min() - usual):
            return [ranks[index] for index in order[:count]]
    return []


def blame_of(mains: list[Lane]) -> Blame | None:
    """In every step the rank that spends least time in exchanges came last; the others waited for it."""
    if len(mains) < 2:
        return None
    last_step = max(int(lane.events["step"].max()) for lane in mains)
    together = 1 + last_step * len(mains) // _MAX_CELLS
    steps = 2 + last_step // together
    exchange = np.stack([_by_step(lane, steps, together, "exchange") for lane in mains])
    wait = np.stack([_by_step(lane, steps, together, "output_wait", "write") for lane in mains])
    shortest, last = exchange.min(axis=0), exchange.argmin(axis=0)
    lost = (exchange - shortest)[:, 1:].sum(axis=0)
    # A wait at the end of a step makes others wait in the exchange of the next one.
    every = np.arange(steps)
    own = wait[last, every] + np.concatenate([[0.0], wait[last, every - 1][1:]])
    typical = (exchange - shortest).max(axis=0)
    share = np.divide(np.minimum(own, typical), typical, out=np.zeros(steps), where=typical > 0)[1:]
    by_rank = np.bincount(last[1:], weights=lost, minlength=len(mains))
    return Blame(
        by_rank={
            lane.rank: float(seconds) for lane, seconds in zip(mains, by_rank, strict=True) if seconds > 0
        },
        output_s=float((share * lost).sum()),
        exchange_s=float(exchange.sum()),
    )


def _by_step(lane: Lane, steps: int, together: int, *kinds: str) -> np.ndarray:
    """Seconds of the kinds in step 0, which is before the first, and in groups of the further steps."""
    mask = np.isin(lane.kind, [KINDS.index(kind) for kind in kinds])
    step = lane.step[mask]
    group = np.where(step > 0, 1 + (step - 1) // together, 0)
    return np.bincount(group, weights=(lane.end_s - lane.start_s)[mask], minlength=steps)[:steps]
