"""Where grid points lie and when samples were taken, in metres and seconds.

k-Wave's coordinates: zero is the grid point N // 2 of each axis, as in kWaveGrid's x_vec. Grids of other
simulations start at zero. Files hold spacings and time steps as 32-bit floats; the decimal number behind them
is used, so that 0.1 mm is 1e-4 and not 9.9999997e-05.
"""

from dataclasses import dataclass

import numpy as np

from tailrace.report.load import Case

AXES = "xyz"


@dataclass(frozen=True)
class Grid:
    """Points, spacing and absorbing layer along x, y, z; `zero` is the index of the point at 0 m."""

    sizes: tuple[int, int, int]
    spacing_m: tuple[float, float, float]
    pml: tuple[int, int, int]
    zero: tuple[int, int, int]

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
    """The shortest decimal number that the 32-bit float `value` stands for; any other value as it is."""
    single = np.float32(value)
    return float(str(single)) if float(single) == value else value


def grid_of_case(case: Case) -> Grid:
    spacing = tuple(decimal(value) for value in case.spacing_m)
    return Grid(case.sizes, spacing, case.pml, tuple(size // 2 for size in case.sizes))


def grid_of_account(account: dict) -> Grid | None:
    """The grid as a case file's [domain] gives it, for outputs that do not describe it themselves."""
    domain = (account.get("config") or {}).get("domain") or {}
    cells, spacing = domain.get("cells"), domain.get("spacing_m")
    if not cells or not spacing or len(cells) != 3 or len(spacing) != 3:
        return None
    return Grid(tuple(map(int, cells)), tuple(map(float, spacing)), (0, 0, 0), (0, 0, 0))
