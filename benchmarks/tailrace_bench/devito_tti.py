# SPDX-License-Identifier: BSD-3-Clause
"""The TTI equations of the seismic benchmark in Devito. A program for the Python that has Devito, which need
not have Tailrace:

    python devito_tti.py DIRECTORY

DIRECTORY holds settings.json (spacing_m, warm_up, steps, plane) and float32 arrays of the shape (z, y, x):
speed.npy (vp^2 dt^2), across.npy (1 + 2 epsilon), moveout.npy (1 + 2 delta), shear.npy ((vs / vp)^2),
axis_x.npy, axis_y.npy, axis_z.npy (the axis of symmetry), initial.npy (p and q at the first step). Leaves
plane.npy, p after the last step in the plane of the settings, and prints a line of JSON: seconds of the steps
after those that warm up, as Devito's own timers say, which leave out generating and compiling the code and
tuning its blocks.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("DEVITO_LANGUAGE", "openmp")
os.environ.setdefault("DEVITO_ARCH", "gcc")
os.environ.setdefault("DEVITO_LOGGING", "ERROR")

import devito
import numpy as np

ORDER = 8
COEFFICIENTS = ("speed", "across", "moveout", "shear")


def make_grid(shape: tuple[int, ...], spacing_m: list[float]) -> devito.Grid:
    """Devito's axes as the arrays have them: its first is our z, its last, the fastest, our x."""
    spacing = [np.float32(step) for step in reversed(spacing_m)]
    extent = [step * (points - 1) for step, points in zip(spacing, shape, strict=True)]
    return devito.Grid(shape=shape, extent=extent, dtype=np.float32)


def read_coefficients(directory: Path, grid: devito.Grid) -> dict[str, devito.Function]:
    axis = [np.load(directory / f"axis_{name}.npy") for name in "xyz"]
    values = {name: np.load(directory / f"{name}.npy") for name in COEFFICIENTS} | rotation_weights(*axis)
    found = {}
    for name, array in values.items():
        found[name] = devito.Function(name=name, grid=grid, space_order=0)
        found[name].data[:] = array
    return found


def rotation_weights(nx: np.ndarray, ny: np.ndarray, nz: np.ndarray) -> dict[str, np.ndarray]:
    """Of each second derivative in that along the axis. Made once, since Devito is faster with six arrays
    that it reads than with three that it multiplies at each point.
    """
    return {
        "weight_xx": nx * nx,
        "weight_yy": ny * ny,
        "weight_zz": nz * nz,
        "weight_xy": 2 * nx * ny,
        "weight_xz": 2 * nx * nz,
        "weight_yz": 2 * ny * nz,
    }


class Derivatives:
    """Second derivatives of a field along and across the axis of symmetry, of 8th order; mixed ones as first
    derivatives of first derivatives.
    """

    def __init__(self, grid: devito.Grid, of: dict[str, devito.Function]) -> None:
        self.z, self.y, self.x = (dimension.name for dimension in grid.dimensions)
        self.weights = [of[f"weight_{pair}"] for pair in ("xx", "yy", "zz", "xy", "xz", "yz")]

    def along_across(self, field: devito.TimeFunction):
        xx, yy, zz = (getattr(field, f"d{name}2") for name in (self.x, self.y, self.z))
        of_y, of_z = (getattr(field, f"d{name}") for name in (self.y, self.z))
        xy, xz = (getattr(first, f"d{self.x}") for first in (of_y, of_z))
        yz = getattr(of_z, f"d{self.y}")
        seconds = (xx, yy, zz, xy, xz, yz)
        along = sum(weight * second for weight, second in zip(self.weights, seconds, strict=True))
        return along, xx + yy + zz - along


def make_operator(
    grid: devito.Grid, p: devito.TimeFunction, q: devito.TimeFunction, of: dict[str, devito.Function]
) -> devito.Operator:
    derivatives = Derivatives(grid, of)
    p_along, p_across = derivatives.along_across(p)
    q_along, q_across = derivatives.along_across(q)
    p_change = of["across"] * p_across + q_along + of["shear"] * (p_along - q_along)
    q_change = of["moveout"] * p_across + q_along - of["shear"] * (p_across - q_across)
    steps = [
        devito.Eq(field.forward, 2 * field - field.backward + of["speed"] * change)
        for field, change in ((p, p_change), (q, q_change))
    ]
    return devito.Operator(steps, subs=grid.spacing_map, name="TTI")


def main(directory: Path) -> None:
    settings = json.loads((directory / "settings.json").read_text())
    initial = np.load(directory / "initial.npy")
    grid = make_grid(initial.shape, settings["spacing_m"])
    fields = [
        devito.TimeFunction(name=name, grid=grid, space_order=ORDER, time_order=2) for name in ("p", "q")
    ]
    for field in fields:
        field.data[1] = initial
    operator = make_operator(grid, *fields, read_coefficients(directory, grid))
    threads = {"nthreads": int(os.environ.get("OMP_NUM_THREADS", "1"))}
    first, last = settings["warm_up"], settings["steps"]
    operator.apply(time_m=1, time_M=first, **threads)
    summary = operator.apply(time_m=first + 1, time_M=last, autotune="basic", **threads)
    # Three levels of each field take turns.
    np.save(directory / "plane.npy", np.array(fields[0].data[(last + 1) % 3, settings["plane"]]))
    seconds = sum(section.time for section in summary.values())
    print(json.dumps({"seconds": float(seconds), "version": devito.__version__}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
