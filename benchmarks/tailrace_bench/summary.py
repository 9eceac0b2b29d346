# SPDX-License-Identifier: BSD-3-Clause
"""One line for a whole set of rows: their geometric mean, and the worst of them by name."""

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
