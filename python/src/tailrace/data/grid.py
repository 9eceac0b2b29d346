# SPDX-License-Identifier: BSD-3-Clause
"""Where grid points lie and when samples were taken, in metres and seconds.

k-Wave's coordinates: zero is the grid point N // 2 of each axis, as in kWaveGrid's x_vec. Grids of other
simulations start at zero, unless their files say where. Files hold spacings and time steps as 32-bit floats;
the decimal number behind them is used, so that 0.1 mm is 1e-4 and not 9.9999997e-05.
"""

import json
from dataclasses import dataclass

import h5py
import numpy as np

from tailrace import kwave

AXES = "xyz"


@dataclass(frozen=True)
class Grid:
    """Points, spacing and absorbing layer along x, y, z; `zero` is the index of the point at 0 m, which need
    not be one of the points.
    """

    sizes: tuple[int, int, int]
    spacing_m: tuple[float, float, float]
    pml: tuple[int, int, int]
    zero: tuple[float, float, float]
    unit: str = "m"
    """Of the spacing; "points" where none is known."""

    @property
    def flat(self) -> bool:
        """Whether it is two-dimensional: there is no z then."""
        return self.sizes[2] == 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Extent in the order of the arrays (z, y, x)."""
        return self.sizes[::-1]

    def positions_m(self, axis: int, index: np.ndarray, staggered: bool = False) -> np.ndarray:
        """Coordinates of grid indices from 0 along an axis; staggered points lie half a cell further."""
        return (np.asarray(index) - self.zero[axis] + (0.5 if staggered else 0.0)) * self.spacing_m[axis]

    def inner(self, axis: int) -> slice:
        """The indices along an axis that are not in the absorbing layer."""
        return slice(self.pml[axis], self.sizes[axis] - self.pml[axis])


def decimal(value: float) -> float:
    """The shortest decimal number that the 32-bit float `value` represents; any other value as it is."""
    single = np.float32(value)
    return float(str(single)) if float(single) == value else value


@dataclass(frozen=True)
class Case:
    """Grid and time axis of a k-Wave file."""

    grid: Grid
    steps: int
    dt_s: float


def read_case(file: h5py.File) -> Case | None:
    """What an open file says of them; None when it does not describe a grid."""
    sizes = [kwave.scalar(file, name) for name in ("Nx", "Ny", "Nz")]
    spacing = [kwave.scalar(file, name) for name in ("dx", "dy", "dz")]
    steps, dt_s = kwave.scalar(file, "Nt"), kwave.scalar(file, "dt")
    if None in (*sizes, spacing[0], spacing[1], steps, dt_s):
        return None
    spacing[2] = spacing[2] or spacing[0]
    pml = tuple(kwave.scalar(file, f"pml_{axis}_size") or 0 for axis in AXES)
    zero = tuple(size // 2 for size in sizes)
    return Case(Grid(tuple(sizes), tuple(map(decimal, spacing)), pml, zero), steps, decimal(dt_s))


def grid_of_account(account: dict) -> Grid | None:
    """The grid as a case file's [domain] or the account of the run gives it, for outputs that do not describe
    it themselves; in points where no spacing is stated.
    """
    domain = (account.get("config") or {}).get("domain") or {}
    cells, spacing = _with_z(domain.get("cells"), 1), _with_z(domain.get("spacing_m"), 1.0)
    cells = cells or account.get("grid")
    if not _three_numbers(cells):
        return None
    if not _three_numbers(spacing):
        return Grid(tuple(map(int, cells)), (1.0, 1.0, 1.0), (0, 0, 0), (0, 0, 0), unit="points")
    return Grid(tuple(map(int, cells)), tuple(map(float, spacing)), (0, 0, 0), (0, 0, 0))


def placed(grid: Grid | None, file: h5py.File) -> Grid | None:
    """The grid with its points where the [[output]] tables of an open file say; as it is where none does.
    Without a grid, as of a killed run, a table that covers the domain says how many points it has.
    """
    for group in kwave.output_tables(file):
        sizes = _sizes_in(group) if grid is None else grid.sizes
        origin, spacing = (_numbers_in(group, name) for name in ("origin_m", "spacing_m"))
        if sizes is not None and origin is not None and _three_numbers(spacing):
            zero = tuple(-place / step for place, step in zip(origin, spacing, strict=True))
            return Grid(sizes, tuple(spacing), (0, 0, 0), zero)
    return grid


def _sizes_in(group: h5py.Group) -> tuple[int, ...] | None:
    """The points of the domain along x, y, z, if a table covers it."""
    whole = kwave.text(group.attrs.get("selection", "")) == "whole"
    return group["values"].shape[:0:-1] if whole and group["values"].ndim == 4 else None


def _numbers_in(group: h5py.Group, name: str) -> list[float] | None:
    """Three numbers along x, y, z that an attribute holds in JSON."""
    try:
        numbers = json.loads(kwave.text(group.attrs.get(name, "")))
    except ValueError:
        return None
    sound = isinstance(numbers, list) and len(numbers) == 3 and all(map(_is_number, numbers))
    return list(map(float, numbers)) if sound else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _with_z(numbers: object, along_z: float) -> object:
    """Two numbers, of a plane, become three."""
    return [*numbers, along_z] if isinstance(numbers, list) and len(numbers) == 2 else numbers


def _three_numbers(values: object) -> bool:
    return (
        isinstance(values, list)
        and len(values) == 3
        and all(isinstance(value, int | float) and value > 0 for value in values)
    )
