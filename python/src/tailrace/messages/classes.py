# SPDX-License-Identifier: BSD-3-Clause
"""Messages by classes of their sizes, with three shares: of their number, their volume, and their time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from tailrace.console import CommandError
from tailrace.messages.counts import Sizes, Total

POWERS, DARSHAN = "powers", "darshan"
# The access sizes of Darshan, so that tables of files and of messages look alike.
DARSHAN_LIMITS = (100, 1000, 10**4, 10**5, 10**6, 4 * 10**6, 10**7, 10**8, 10**9)
Rates = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class SizeClass:
    """Sizes from low to high, both included; high is None where there is no limit."""

    low: int
    high: int | None

    def holds(self, size: float) -> bool:
        return self.low <= size and (self.high is None or size <= self.high)

    @property
    def label(self) -> str:
        if self.high is None:
            return f">{self.low - 1}"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


OTHER = SizeClass(-1, -1)


@dataclass(frozen=True)
class Share:
    """A class with its messages; shares of all messages lie between 0 and 1. `by_time` is None where the rate
    of messages is not known.
    """

    label: str
    messages: int
    bytes: int
    by_count: float
    by_volume: float
    by_time: float | None


def parse_classes(text: str, largest: int) -> list[SizeClass]:
    """`powers`, `darshan`, or classes such as 32-40,69-80,96."""
    if text == POWERS:
        return power_classes(largest)
    if text == DARSHAN:
        lows = (0, *(limit + 1 for limit in DARSHAN_LIMITS))
        return [SizeClass(low, high) for low, high in zip(lows, (*DARSHAN_LIMITS, None), strict=True)]
    classes = [parse_class(word, text) for word in text.split(",")]
    for one, after in pairwise(classes):
        if after.low <= one.high:
            raise CommandError(
                f"--classes {text}: {one.label} and {after.label} overlap or are out of order."
            )
    return classes


def parse_class(word: str, text: str) -> SizeClass:
    match = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", word.strip())
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if high < low:
        raise CommandError(
            f"--classes {text}: {word!r} is no class. Write {POWERS}, {DARSHAN}, or sizes such as 32-40,69."
        )
    return SizeClass(low, high)


def power_classes(largest: int) -> list[SizeClass]:
    """0, 1, 2-3, 4-7, ..., up to the largest size."""
    classes = [SizeClass(0, 0)]
    low = 1
    while low <= largest:
        classes.append(SizeClass(low, 2 * low - 1))
        low *= 2
    return classes


def largest_size(sizes: Sizes) -> int:
    return max([*sizes.exact, *(high for _, high, _, _ in sizes.coarse)], default=0)


def shares(sizes: Sizes, classes: list[SizeClass], rates: Rates | None = None) -> list[Share]:
    """The classes that have messages. What is in none of them comes last, as `other`, so that the shares
    always add up to 1.
    """
    totals = {one: [Total(), 0.0] for one in (*classes, OTHER)}
    for size, messages, volume in entries(sizes):
        one = next((one for one in classes if one.holds(size)), OTHER)
        totals[one][0].add(messages, volume)
        totals[one][1] += messages / rate_of(size, rates) if rates else 0.0
    return [
        share_of("other" if one is OTHER else one.label, total, time, totals, bool(rates))
        for one, (total, time) in totals.items()
        if total.messages
    ]


def entries(sizes: Sizes) -> list[tuple[float, int, int]]:
    """Size, messages, bytes: of each exact size, and of each class with its mean size."""
    exact = [(size, count, size * count) for size, count in sorted(sizes.exact.items())]
    return exact + [(volume / count, count, volume) for _, _, count, volume in sizes.coarse]


def share_of(label: str, total: Total, time: float, totals: dict, timed: bool) -> Share:
    messages = sum(one.messages for one, _ in totals.values())
    volume = sum(one.bytes for one, _ in totals.values())
    times = sum(seconds for _, seconds in totals.values())
    return Share(
        label,
        total.messages,
        total.bytes,
        total.messages / messages,
        total.bytes / volume if volume else 0.0,
        time / times if timed else None,
    )


def rate_of(size: float, rates: Rates) -> float:
    """Messages per second of a size, between measured sizes interpolated on logarithmic scales, and beyond
    them as at the nearest. Size 0 counts as 1.
    """
    points = sorted((log(max(at, 1.0)), log(rate)) for at, rate in rates)
    x = log(max(size, 1.0))
    if x <= points[0][0]:
        return exp(points[0][1])
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1:
            return exp(y0 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return exp(points[-1][1])
