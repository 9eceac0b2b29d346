# SPDX-License-Identifier: BSD-3-Clause
"""LogGP from measured times: t(s) = L + G s for each range of sizes, between switches of the protocol."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

MAX_RANGES = 3
_GAIN = 0.6  # a further range must leave at most this share of the squared relative errors


@dataclass(frozen=True)
class Range:
    """Sizes from `first` to `last` bytes: seconds before the first byte, and for each further one."""

    first: int
    last: int
    latency_s: float
    per_byte_s: float

    def seconds(self, size: float) -> float:
        return self.latency_s + self.per_byte_s * size

    def as_dict(self) -> dict[str, Any]:
        rate = 1 / self.per_byte_s if self.per_byte_s > 0 else None
        return {"first": self.first, "last": self.last, "latency_s": self.latency_s,
                "per_byte_s": self.per_byte_s, "bytes_s": rate}  # fmt: skip


def fit(sizes: list[int], seconds: list[float]) -> list[Range]:
    """As few ranges as describe the times, of at least three sizes each. Errors count relative to the time,
    so that small messages weigh as much as large ones.
    """
    order = np.argsort(sizes)
    s, t = np.array(sizes, float)[order], np.array(seconds, float)[order]
    if len(s) < 2:
        return []
    best: tuple[float, list[int]] = (_error(s, t, [0, len(s)]), [0, len(s)])
    for ranges in range(2, MAX_RANGES + 1):
        found = min(
            ((_error(s, t, bounds), bounds) for bounds in _divisions(len(s), ranges)),
            default=(np.inf, []),
            key=lambda one: one[0],
        )
        if found[0] > _GAIN * best[0] or best[0] < 1e-6 * len(s):
            break
        best = found
    return [_line(s[a:b], t[a:b]) for a, b in pairwise(best[1])]


def _divisions(count: int, ranges: int, least: int = 3) -> list[list[int]]:
    """All ways to divide so many sizes into ranges of three or more: their bounds."""
    if ranges == 1:
        return [[0, count]] if count >= least else []
    return [
        [*bounds[:-1], cut, count]
        for cut in range(least, count - least + 1)
        for bounds in _divisions(cut, ranges - 1, least)
    ]


def _line(s: np.ndarray, t: np.ndarray) -> Range:
    """The line of least squared relative errors; it does not fall, and does not begin below 0."""
    weighted = np.stack([1 / t, s / t], axis=1)
    (latency, slope), *_ = np.linalg.lstsq(weighted, np.ones(len(s)), rcond=None)
    if slope < 0:
        latency, slope = len(s) / float((1 / t).sum()), 0.0
    if latency < 0:
        latency, slope = 0.0, float((s / t).sum() / ((s / t) ** 2).sum())
    return Range(int(s[0]), int(s[-1]), float(latency), float(slope))


def _error(s: np.ndarray, t: np.ndarray, bounds: list[int]) -> float:
    total = 0.0
    for a, b in pairwise(bounds):
        line = _line(s[a:b], t[a:b])
        total += float(((line.latency_s + line.per_byte_s * s[a:b]) / t[a:b] - 1).__pow__(2).sum())
    return total
