# SPDX-License-Identifier: BSD-3-Clause
"""Where a number has changed over a history of revisions: segmentation with a penalty, as asv does."""

from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from statistics import median

# What a further segment must save, in units of noise times the logarithm of the length.
PENALTY = 3.0
SMALLEST_NOISE = 0.002


@dataclass(frozen=True)
class Step:
    """Between the revisions `before` and `at`, by their numbers in the history, the level changed by a
    factor.
    """

    before: int
    at: int
    ratio: float


def find_steps(values: list[float | None]) -> list[Step]:
    """The steps of a history in which None are revisions without a number. The sum of the distances from the
    median of each segment, in units of noise, and a penalty for each segment is made as small as it can be.
    """
    known = [number for number, value in enumerate(values) if value is not None and value > 0]
    if len(known) < 2:
        return []
    logs = [log(values[number]) for number in known]
    bounds = segments(logs)
    found = []
    for first, (begin, end) in pairwise(bounds):
        ratio = exp(median(logs[begin:end]) - median(logs[slice(*first)]))
        found.append(Step(known[begin - 1], known[begin], ratio))
    return found


def noise_of(logs: list[float]) -> float:
    """Typical distance of a value from its level, from neighbours: steps are rare among these."""
    return max(median(abs(b - a) for a, b in pairwise(logs)), SMALLEST_NOISE)


def segments(logs: list[float]) -> list[tuple[int, int]]:
    """The best segmentation, by dynamic programming."""
    n, unit = len(logs), noise_of(logs)
    penalty = PENALTY * log(max(n, 3))
    best = [0.0] + [float("inf")] * n
    previous = [0] * (n + 1)
    for end in range(1, n + 1):
        for begin in range(end):
            level = median(logs[begin:end])
            cost = best[begin] + sum(abs(one - level) for one in logs[begin:end]) / unit + penalty
            if cost < best[end]:
                best[end], previous[end] = cost, begin
    bounds, end = [], n
    while end > 0:
        bounds.append((previous[end], end))
        end = previous[end]
    return bounds[::-1]
