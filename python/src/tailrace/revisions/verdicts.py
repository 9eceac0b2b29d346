# SPDX-License-Identifier: BSD-3-Clause
"""What samples of two revisions say about them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tailrace.bench.stats import ratios, spread

# Probability of a false alarm among all comparisons of one answer.
FALSE_ALARMS = 0.01
TOLERANCE = 0.02
SLOWER, FASTER, SAME, UNKNOWN = KINDS = ("slower", "faster", "same", "undecided")


@dataclass(frozen=True)
class Verdict:
    """How a number of a revision compares with that of the base. `ratio` over the base, with its interval;
    `rounds` in which both were measured; `share`: of these, in how many it was larger.
    """

    kind: str
    ratio: float
    low: float
    high: float
    rounds: int
    share: float
    exact: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def text(self) -> str:
        if self.kind == SAME:
            return "the same" if self.exact else f"same within {100 * TOLERANCE:.0f} %"
        return "undecided, more time needed" if self.kind == UNKNOWN else self.kind


def judge(base: Sequence[float], other: Sequence[float], comparisons: int, better: str = "less") -> Verdict:
    """Compares values of the same rounds. Numbers that do not vary, such as counted ones, are compared
    exactly; else the interval of the median ratio decides, made wide enough for so many comparisons at once.
    """
    if min(len(base), len(other)) == 0:
        return Verdict(UNKNOWN, 1.0, 0.0, float("inf"), 0, 0.5)
    if len(base) > 1 and len(set(base)) == len(set(other)) == 1:
        return judge_exactly(base[0], other[0], len(base), better)
    if min(*base, *other) <= 0:
        return Verdict(UNKNOWN, 1.0, 0.0, float("inf"), len(base), 0.5)
    level = 1.0 - FALSE_ALARMS / max(1, comparisons)
    found = ratios(list(other), list(base), level)
    larger = sum(one > 1.0 for one in found.samples) / len(base)
    kind = kind_of(found.low, found.high, better) if found.coverage >= level else UNKNOWN
    return Verdict(kind, found.median, found.low, found.high, len(base), larger)


def judge_exactly(base: float, other: float, rounds: int, better: str) -> Verdict:
    ratio = other / base if base else (1.0 if other == base else float("inf"))
    kind = SAME if other == base else SLOWER if (other > base) == (better == "less") else FASTER
    return Verdict(kind, ratio, ratio, ratio, rounds, float(other > base), exact=True)


def kind_of(low: float, high: float, better: str) -> str:
    if low >= 1 - TOLERANCE and high <= 1 + TOLERANCE:
        return SAME
    if low > 1:
        return SLOWER if better == "less" else FASTER
    if high < 1:
        return FASTER if better == "less" else SLOWER
    return UNKNOWN


def judge_apart(
    base: Sequence[float], other: Sequence[float], comparisons: int, better: str = "less"
) -> Verdict:
    """Compares values that were not measured in the same rounds: of the ratio of medians, the interval
    that both intervals allow.
    """
    if len(set(base)) == len(set(other)) == 1 and min(len(base), len(other)) > 1:
        return judge_exactly(base[0], other[0], min(len(base), len(other)), better)
    level = 1.0 - FALSE_ALARMS / max(1, comparisons) / 2
    a, b = spread(list(base), level), spread(list(other), level)
    if a.low <= 0:
        return Verdict(UNKNOWN, 1.0, 0.0, float("inf"), 0, 0.5)
    low, high = b.low / a.high, b.high / a.low
    kind = kind_of(low, high, better) if min(a.coverage, b.coverage) >= level else UNKNOWN
    larger = sum(y > x for x in base for y in other) / (len(base) * len(other))
    return Verdict(kind, b.median / a.median, low, high, min(len(base), len(other)), larger)
