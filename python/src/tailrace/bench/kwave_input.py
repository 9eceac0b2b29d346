# SPDX-License-Identifier: BSD-3-Clause
"""The input of the ultrasound benchmark: a heterogeneous, non-linear, absorbing medium in a k-Wave file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.kwave_file import long, real, write_file

SENSOR_POINTS_ACROSS = 128
PML_SIZE = 10


@dataclass(frozen=True)
class Case:
    """A grid, of one plane in two dimensions, a source with one signal or one per point, and the steps for
    which it acts.
    """

    grid: tuple[int, int, int]
    source: str
    steps: int

    @property
    def axes(self) -> str:
        return "xyz" if self.grid[2] > 1 else "xy"


def write_input(path: Path, case: Case) -> None:
    values = settings(case) | medium(case) | source(case) | sensor(case)
    write_file(path, HEADER, {name: in_file_type(value) for name, value in values.items()})


def in_file_type(value: Any) -> np.ndarray:
    return real(value) if np.asarray(value).dtype.kind == "f" else long(value)


HEADER = {
    "created_by": "tailrace bench",
    "creation_date": "01-Jan-2026-00-00-00",
    "file_description": "benchmark",
    "file_type": "input",
    "major_version": "1",
    "minor_version": "2",
}
SPACING_M = 2e-4
SOUND_SPEED_M_S = 1500.0
ABSENT = (
    *(f"s{pair}_source" for pair in ("xx", "yy", "zz", "xy", "xz", "yz")),
    *("p0_source", "transducer_source", "nonuniform_grid", "axisymmetric", "elastic"),
)


def settings(case: Case) -> dict[str, Any]:
    nx, ny, nz = case.grid
    values: dict[str, Any] = {"Nx": nx, "Ny": ny, "Nz": nz, "Nt": case.steps}
    values["dt"] = np.float32(0.2 * SPACING_M / SOUND_SPEED_M_S)
    for axis, points in zip(case.axes, case.grid, strict=False):
        values[f"d{axis}"] = np.float32(SPACING_M)
        values[f"pml_{axis}_size"] = min(PML_SIZE, points // 4)
        values[f"pml_{axis}_alpha"] = np.float32(2.0)
    absent = (*(f"u{axis}_source" for axis in case.axes), *ABSENT)
    return values | {"nonlinear_flag": 1, "absorbing_flag": 1} | {f"{name}_flag": 0 for name in absent}


def medium(case: Case) -> dict[str, Any]:
    """Every property varies smoothly over the grid, arrays in (z, y, x) order."""
    nx, ny, nz = case.grid
    x, y, z = (np.linspace(0, 2 * np.pi, n, dtype=np.float32) for n in (nx, ny, nz))
    wave = np.sin(3 * x)[None, None, :] * np.cos(2 * y)[None, :, None] * np.sin(2 * z + 1)[:, None, None]
    density = 1000 + 40 * wave
    return {
        "c0": SOUND_SPEED_M_S + 50 * wave,
        "c_ref": np.float32(SOUND_SPEED_M_S + 50),
        "rho0": density,
        **{f"rho0_sg{axis}": density for axis in case.axes},
        "BonA": 6 + wave,
        "alpha_coeff": 0.6 + 0.3 * wave,
        "alpha_power": np.float32(1.5),
    }


def source(case: Case) -> dict[str, Any]:
    """An additive source on the inner half of a plane of constant x."""
    nx, ny, nz = case.grid
    across, up = (np.arange(n // 4, n - n // 4) for n in (ny, nz))
    index = ((up[:, None] * ny + across[None, :]) * nx + min(PML_SIZE, nx // 4)).ravel()
    signals = len(index) if case.source == "many" else 1
    phase = np.linspace(0, 1, signals)[None, :]
    time = np.arange(case.steps)[:, None]
    return {
        "p_source_flag": case.steps,
        "p_source_mode": 2,
        "p_source_many": int(case.source == "many"),
        "p_source_index": (index + 1).astype(np.uint64).reshape(1, 1, -1),
        "p_source_input": (1e-3 * np.sin(0.3 * time + phase)).astype(np.float32)[None],
    }


def sensor(case: Case) -> dict[str, Any]:
    """Up to 128 x 128 points of the plane of middle y, from the source on, in the order of their indices."""
    nx, ny, nz = case.grid
    along, up = np.arange(min(nx, SENSOR_POINTS_ACROSS)), middle(nz)
    index = (up[:, None] * ny + ny // 2) * nx + along[None, :]
    return {
        "sensor_mask_type": 0,
        "sensor_mask_index": (index.ravel() + 1).astype(np.uint64).reshape(1, 1, -1),
    }


def middle(points: int) -> np.ndarray:
    across = min(points, SENSOR_POINTS_ACROSS)
    return np.arange(across) + (points - across) // 2
