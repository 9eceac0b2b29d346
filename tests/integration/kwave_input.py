# SPDX-License-Identifier: BSD-3-Clause
"""Small k-Wave input files for tests: a plain table of datasets, to be spoilt before it is written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tailrace.kwave_file import long, real, write_file

GRID = (24, 20, 18)
GRID_2D = (24, 20, 1)
STEPS = 60
ROOT_ATTRIBUTES = {
    "created_by": "tests",
    "creation_date": "01/01/26, 00:00:00",
    "file_description": "a small input",
    "file_type": "input",
    "major_version": "1",
    "minor_version": "2",
}
DIRICHLET, ADDED, FILTERED = 0, 1, 2
"""Source modes."""


@dataclass
class KwaveInput:
    """Datasets by name in HDF5 order (z, y, x); attributes of the root and, where they differ from what the
    element type says, of single datasets.
    """

    datasets: dict[str, np.ndarray]
    attributes: dict[str, str] = field(default_factory=lambda: dict(ROOT_ATTRIBUTES))
    dataset_attributes: dict[str, dict[str, str]] = field(default_factory=dict)

    def set(self, name: str, value: float) -> "KwaveInput":
        """Replaces a scalar, in the type it has."""
        self.datasets[name] = np.full((1, 1, 1), value, dtype=self.datasets[name].dtype)
        return self

    def write(self, path: Path) -> Path:
        return write_file(path, self.attributes, self.datasets, self.dataset_attributes)

    @property
    def grid(self) -> tuple[int, int, int]:
        nx, ny, nz = (int(self.datasets[name].item()) for name in ("Nx", "Ny", "Nz"))
        return nx, ny, nz

    @property
    def axes(self) -> str:
        return axes_of(self.grid)


def axes_of(grid: tuple[int, int, int]) -> str:
    return "xy" if grid[2] == 1 else "xyz"


def small_input(grid: tuple[int, int, int] = GRID, steps: int = STEPS, seed: int = 1) -> KwaveInput:
    """A heterogeneous, non-linear, absorbing case with a source and a mask of two boxes, one of them flat.
    One point along z makes it two-dimensional.
    """
    nx, ny, nz = grid
    shape = (nz, ny, nx)
    random = np.random.default_rng(seed)
    datasets = header(grid, steps)
    datasets["c0"] = (1500 + 60 * random.random(shape)).astype("<f4")
    for name in ("rho0", *(f"rho0_sg{axis}" for axis in axes_of(grid))):
        datasets[name] = (1000 + 50 * random.random(shape)).astype("<f4")
    datasets["BonA"] = (5 + random.random(shape)).astype("<f4")
    datasets["alpha_coeff"] = (0.5 + random.random(shape)).astype("<f4")
    datasets |= source(grid, steps)
    low, high = (2, nz - 3) if nz > 1 else (1, 1)
    boxes = [[3, 4, low, nx - 2, ny - 3, high], [nx // 2, 1, 1, nx // 2, ny, nz]]
    datasets["sensor_mask_corners"] = long([boxes])
    return KwaveInput(datasets)


def header(grid: tuple[int, int, int], steps: int) -> dict[str, np.ndarray]:
    axes = axes_of(grid)
    integers = dict(zip(("Nx", "Ny", "Nz"), grid, strict=True)) | {"Nt": steps}
    integers |= {f"pml_{axis}_size": 3 for axis in axes} | {f"u{axis}_source_flag": 0 for axis in axes}
    integers |= {"p0_source_flag": 0, "transducer_source_flag": 0, "nonuniform_grid_flag": 0}
    integers |= {"nonlinear_flag": 1, "absorbing_flag": 1, "axisymmetric_flag": 0, "sensor_mask_type": 1}
    reals = {f"d{axis}": 1e-4 for axis in axes} | {f"pml_{axis}_alpha": 2.0 for axis in axes}
    reals |= {"dt": 1e-8, "c_ref": 1560.0, "alpha_power": 1.5}
    return {name: long(value) for name, value in integers.items()} | {
        name: real(value) for name, value in reals.items()
    }


def source(grid: tuple[int, int, int], steps: int) -> dict[str, np.ndarray]:
    """A quarter of a plane near x = 0 that adds one signal."""
    return {
        "p_source_flag": long(steps),
        "p_source_mode": long(ADDED),
        "p_source_many": long(0),
        "p_source_index": long(source_points(grid)),
        "p_source_input": real([burst(steps)[:, None]]),
    }


def source_points(grid: tuple[int, int, int]) -> list[int]:
    nx, ny, nz = grid
    depths = range(nz // 4, nz // 2) if nz > 1 else [0]
    return [4 + nx * (y + ny * z) + 1 for z in depths for y in range(ny // 4, ny // 2)]


def burst(steps: int) -> np.ndarray:
    return 1e-3 * np.sin(2 * np.pi * np.arange(steps) / 20) * np.hanning(steps)


def signals(steps: int, points: int) -> np.ndarray:
    """A signal for every point, of shape (steps, points)."""
    return burst(steps)[:, None] * np.linspace(0.5, 1, points)[None, :]


def without_pressure_source(case: KwaveInput) -> KwaveInput:
    for name in ("mode", "many", "index", "input"):
        del case.datasets[f"p_source_{name}"]
    return case.set("p_source_flag", 0)


def with_signal_per_point(case: KwaveInput) -> KwaveInput:
    points = case.datasets["p_source_index"].size
    case.datasets["p_source_input"] = real([signals(int(case.datasets["p_source_flag"].item()), points)])
    return case.set("p_source_many", 1)


def with_velocity_source(
    case: KwaveInput, lengths: dict[str, int], mode: int = ADDED, many: bool = False
) -> KwaveInput:
    """Signals of these lengths for some of the components."""
    points = source_points(case.grid)
    case.datasets |= {
        "u_source_mode": long(mode),
        "u_source_many": long(many),
        "u_source_index": long(points),
    }
    for axis, length in lengths.items():
        case.set(f"u{axis}_source_flag", length)
        values = signals(length, len(points)) if many else burst(length)[:, None]
        case.datasets[f"u{axis}_source_input"] = real([values])
    return case


def with_transducer(case: KwaveInput, length: int = 40, delays: list[int] | None = None) -> KwaveInput:
    """A transducer whose points lag behind each other; `delays` count from 1 as in the file."""
    points = source_points(case.grid)
    delays = delays or [1 + 3 * j % 7 for j in range(len(points))]
    case.set("transducer_source_flag", length - max(delays) + 1)
    case.datasets |= {"u_source_index": long(points), "delay_mask": long(delays)}
    case.datasets["transducer_source_input"] = real(burst(length))
    return case


def with_initial_pressure(case: KwaveInput) -> KwaveInput:
    nx, ny, nz = case.grid
    values = np.random.default_rng(5).random((nz, ny, nx))
    case.datasets["p0_source_input"] = real(values)
    return case.set("p0_source_flag", 1)


def with_stokes(case: KwaveInput) -> KwaveInput:
    return case.set("absorbing_flag", 2).set("alpha_power", 2)


def with_index_mask(case: KwaveInput, indices: list[int] | None = None) -> KwaveInput:
    """The same with sensor points, counted from 1, instead of boxes."""
    nx, ny, nz = case.grid
    case.datasets.pop("sensor_mask_corners", None)
    case.datasets["sensor_mask_type"] = long(0)
    chosen = [1, nx + 3, nx * ny * nz // 2, nx * ny * nz] if indices is None else indices
    case.datasets["sensor_mask_index"] = long(chosen)
    return case


def in_format(case: KwaveInput, minor: int) -> KwaveInput:
    """The same as older programs write it, which also store layers and shift operators. These are not used:
    here they hold what no run could bear.
    """
    case.attributes["minor_version"] = str(minor)
    if minor < 2:
        del case.datasets["axisymmetric_flag"]
        for axis, extent in zip(case.axes, case.grid, strict=False):
            case.datasets |= {
                f"pml_{axis}": real([np.nan] * extent),
                f"pml_{axis}_sg{axis}": real([0] * extent),
            }
            operators = 2 * extent if axis != "x" else 2 * (extent // 2 + 1)
            suffix = "_r" if axis == "x" else ""
            for sign in ("pos", "neg"):
                case.datasets[f"dd{axis}_k_shift_{sign}{suffix}"] = real([np.nan] * operators)
            if minor == 1:
                case.datasets[f"{axis}_shift_neg_r"] = real([np.nan] * (2 * (extent // 2 + 1)))
    if minor == 0:
        if case.datasets["sensor_mask_type"].item() == 1:
            with_index_mask(case)
        del case.datasets["sensor_mask_type"]
    return case


Change = Callable[[KwaveInput], object]
FEATURES: dict[str, Change] = {
    "one signal": lambda case: None,
    "signal per point": with_signal_per_point,
    "pressure, dirichlet": lambda case: case.set("p_source_mode", DIRICHLET),
    "pressure, filtered": lambda case: case.set("p_source_mode", FILTERED),
    "initial pressure": lambda case: with_initial_pressure(without_pressure_source(case)),
    "velocity": lambda case: with_velocity_source(without_pressure_source(case), {"x": 60}),
    "velocity, signals of their own length": lambda case: with_velocity_source(case, {"x": 20, "y": 35}),
    "velocity, signal per point": lambda case: with_velocity_source(case, {"y": 30}, many=True),
    "velocity, dirichlet": lambda case: with_velocity_source(case, {"x": 30, "y": 9}, DIRICHLET),
    "velocity, filtered": lambda case: with_velocity_source(case, {"x": 30, "y": 30}, FILTERED, True),
    "transducer": lambda case: with_transducer(without_pressure_source(case)),
    "transducer and velocity": lambda case: with_transducer(with_velocity_source(case, {"y": 20})),
    "Stokes": with_stokes,
    "index mask": with_index_mask,
    "format 1.1": lambda case: in_format(case, 1),
    "format 1.0": lambda case: in_format(case, 0),
}
"""What an input can have, as changes of `small_input` in two or three dimensions."""
