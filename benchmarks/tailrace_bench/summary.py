# SPDX-License-Identifier: BSD-3-Clause
"""What benchmarks say of a whole set of rows: their geometric mean, the worst of them by name, aims."""

from collections.abc import Callable, Sequence
from statistics import geometric_mean
from typing import Any

Row = dict[str, Any]


def mean_and_worst(
    what: str,
    rows: Sequence[Row],
    value: Callable[[Row], float],
    name: Callable[[Row], str],
    worst: Callable[..., Row] = max,
) -> str:
    """`worst` chooses the worst row: `max` where less is better, `min` where more is."""
    found = worst(rows, key=value)
    mean = geometric_mean([value(row) for row in rows])
    return f"{what}: geometric mean {mean:.3g}, worst {value(found):.3g} ({name(found)})"


def own_rows(rows: list[Row]) -> list[Row]:
    """Those of our own program: of another one only what it prints is known."""
    return [row for row in rows if "parts" in row]


def met(is_met: bool) -> str:
    """What a verdict on an aim says."""
    return "met" if is_met else "missed"
