# SPDX-License-Identifier: BSD-3-Clause
"""What a case is, and the parts that the cases share."""

from dataclasses import dataclass, field

import numpy as np

import small_inputs as make
from small_inputs import Grid, Table, burst

BOX = Grid((24, 20, 18), steps=70)
PLANE = Grid((48, 40, 1), steps=100, pml_size=(6, 5, 0))
SERIES = ["--p_raw", "--u_raw"]
NOT_IN_PACKAGE = "the package does not have it; written for these references: "


@dataclass
class Case:
    """`without`: changes of the input that take the tested feature away; the result must then differ."""

    name: str
    description: str
    grid: Grid
    table: Table
    arguments: list[str]
    without: dict[str, Table]
    written_here: list[str] = field(default_factory=list)
    minor: str = "2"
    padded: bool = False


def no(*names: str) -> Table:
    return {name: make.long(0) for name in names}


def patch(grid: Grid, at: int = -6, half: int = 3) -> np.ndarray:
    """A piece of the plane x = `at`, 2 `half` + 1 points wide."""
    x, y, z = grid.coordinates()
    return (x == at) & (abs(y) <= half) & (abs(z) <= half)


def signals(count: int, steps: int, spread: float = 0.4) -> np.ndarray:
    """A delayed burst for each point: (time, point)."""
    return np.stack(
        [burst(steps, delay=spread * (j % 5)) * (0.6 + 0.1 * (j % 4)) for j in range(count)], axis=1
    )


def assembled(grid: Grid, medium: Table, sensors: Table, *sources: Table) -> Table:
    table = make.header(grid) | medium | sensors
    for source in sources:
        table |= source
    return table
