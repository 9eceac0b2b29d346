# SPDX-License-Identifier: BSD-3-Clause
"""Medians and their intervals, without assumptions on how times are distributed."""

from dataclasses import dataclass
from math import comb
from typing import Any

LEVEL = 0.95


@dataclass(frozen=True)
class Spread:
    """The median of samples and an interval that holds the true median with probability `coverage`."""

    median: float
    low: float
    high: float
    coverage: float
    samples: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "median": self.median,
            "interval": [self.low, self.high],
            "coverage": self.coverage,
            "samples": list(self.samples),
        }


def from_dict(values: dict[str, Any]) -> Spread:
    low, high = values["interval"]
    return Spread(values["median"], low, high, values["coverage"], tuple(values["samples"]))


def spread(samples: list[float], level: float = LEVEL) -> Spread:
    """Median and the narrowest symmetric interval of order statistics that covers it with at least `level`.

    The median lies between the k-th smallest and the k-th largest of n samples unless fewer than k samples
    fall on one of its sides, which is a matter of n tosses of a coin. With fewer than six samples even the
    extremes cover less than 95 %; `coverage` says.
    """
    ordered = sorted(samples)
    n = len(ordered)
    k = 1
    while 2 * (k + 1) <= n and coverage(n, k + 1) >= level:
        k += 1
    middle = 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2])
    return Spread(middle, ordered[k - 1], ordered[n - k], coverage(n, k), tuple(samples))


def coverage(n: int, k: int) -> float:
    """Probability that the median lies between the k-th smallest and the k-th largest of n samples."""
    return 1.0 - 2.0 * sum(comb(n, i) for i in range(k)) / 2.0**n


def ratios(above: list[float], below: list[float], level: float = LEVEL) -> Spread:
    """Spread of the ratios of samples that were taken one after the other."""
    return spread([a / b for a, b in zip(above, below, strict=True)], level)
