# SPDX-License-Identifier: BSD-3-Clause
"""Where the sensors are."""

from dataclasses import dataclass

import h5py
import numpy as np

from tailrace.data.grid import Grid


@dataclass
class Box:
    """Where a sensor box lies: first and last grid index per axis x, y, z, counted from 0, inclusive."""

    low: tuple[int, int, int]
    high: tuple[int, int, int]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Extent in the order of the arrays (z, y, x)."""
        return tuple(self.high[axis] - self.low[axis] + 1 for axis in (2, 1, 0))


def whole_box(grid: Grid) -> Box:
    return Box((0, 0, 0), tuple(size - 1 for size in grid.sizes))


@dataclass
class Mask:
    """The sensor mask: boxes, or points as grid indices (x, y, z) in file order; both None when it is not
    known.
    """

    boxes: list[Box] | None = None
    points: np.ndarray | None = None


def read_mask(files: list[h5py.File], grid: Grid) -> Mask:
    """The mask from the first of the files (output with --copy_sensor_mask, input) that holds one."""
    for file in files:
        if "sensor_mask_corners" in file:
            corners = file["sensor_mask_corners"][()].reshape(-1, 6).astype(int) - 1
            return Mask(boxes=[Box(tuple(row[:3].tolist()), tuple(row[3:].tolist())) for row in corners])
        if "sensor_mask_index" in file:
            return Mask(points=points_of(file["sensor_mask_index"], grid))
    return Mask()


def points_of(linear: h5py.Dataset, grid: Grid) -> np.ndarray:
    """Grid indices (x, y, z) of points that a k-Wave file numbers from 1."""
    z, y, x = np.unravel_index(linear[()].reshape(-1).astype(np.int64) - 1, grid.shape)
    return np.stack([x, y, z], axis=1)
