# SPDX-License-Identifier: BSD-3-Clause
"""Parts of small k-Wave input files: tables of datasets in single precision and in HDF5 order (z, y, x)."""

from dataclasses import dataclass

import h5py
import numpy as np

Table = dict[str, np.ndarray]
MODES = {"dirichlet": 0, "additive_no_correction": 1, "additive": 2}


def long(value: int) -> np.ndarray:
    return np.full((1, 1, 1), value, dtype="<u8")


def real(value: float) -> np.ndarray:
    return np.full((1, 1, 1), value, dtype="<f4")


def indices(values) -> np.ndarray:
    return np.asarray(values, dtype="<u8").reshape(1, 1, -1)


@dataclass(frozen=True)
class Grid:
    """Points along x, y and z (1 in two dimensions), steps, spacings in metres, absorbing layers."""

    points: tuple[int, int, int]
    steps: int = 80
    spacing: tuple[float, float, float] = (1e-4, 1e-4, 1e-4)
    dt: float = 2e-8
    pml_size: tuple[int, int, int] = (5, 4, 4)
    pml_alpha: tuple[float, float, float] = (2.0, 2.0, 2.0)

    @property
    def axes(self) -> str:
        return "xyz" if self.points[2] > 1 else "xy"

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.points[::-1]

    def coordinates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions in points from the centre: x, y, z, each of the grid's shape."""
        z, y, x = np.meshgrid(*[np.arange(n) - n // 2 for n in self.shape], indexing="ij")
        return x, y, z

    def ball(self, centre: tuple[float, float, float], radius: float) -> np.ndarray:
        """1 inside, 0 outside, with a smooth edge of about two points."""
        axes = zip(self.coordinates(), centre, strict=True)
        distance = np.sqrt(sum((axis - middle) ** 2 for axis, middle in axes))
        return np.round(np.clip((radius - distance) / 2 + 0.5, 0, 1), 1)

    def linear(self, where: np.ndarray) -> np.ndarray:
        """Linear indices, counted from 1 with x fastest, of the points where `where` holds."""
        return np.flatnonzero(where) + 1


def header(grid: Grid, **flags: int) -> Table:
    integers = dict(zip(("Nx", "Ny", "Nz"), grid.points, strict=True)) | {"Nt": grid.steps}
    reals = {"dt": grid.dt}
    for i, axis in enumerate(grid.axes):
        integers |= {f"pml_{axis}_size": grid.pml_size[i], f"u{axis}_source_flag": 0}
        reals |= {f"d{axis}": grid.spacing[i], f"pml_{axis}_alpha": grid.pml_alpha[i]}
    zero = ("p", "p0", "transducer")
    integers |= {f"{name}_source_flag": 0 for name in zero} | {
        "nonuniform_grid_flag": 0,
        "axisymmetric_flag": 0,
    }
    integers |= {"nonlinear_flag": 0, "absorbing_flag": 0} | flags
    return {name: long(value) for name, value in integers.items()} | {
        name: real(value) for name, value in reals.items()
    }


def medium(grid: Grid, c0=1500.0, rho0=1000.0, b_on_a=None, alpha=None, power=1.5, c_ref=None) -> Table:
    """A medium of numbers or arrays; absorption follows the power law, or Stokes when `power` is 2."""
    table = {"c0": field(c0), "rho0": field(rho0), "c_ref": real(c_ref or np.max(c0))}
    for axis in grid.axes:
        table[f"rho0_sg{axis}"] = field(staggered(rho0, "zyx".index(axis)))
    if b_on_a is not None:
        table |= {"nonlinear_flag": long(1), "BonA": field(b_on_a)}
    if alpha is not None:
        table |= {"absorbing_flag": long(2 if power == 2 else 1), "alpha_coeff": field(alpha)}
        table["alpha_power"] = real(power)
    return table


def field(values) -> np.ndarray:
    return np.asarray(values, dtype="<f4").reshape(np.shape(values) or (1, 1, 1))


def staggered(rho0, axis: int):
    """Averages of neighbours along an axis; the last plane stays."""
    if np.ndim(rho0) == 0:
        return rho0
    following = np.concatenate(
        [np.take(rho0, range(1, rho0.shape[axis]), axis), np.take(rho0, [-1], axis)], axis
    )
    return 0.5 * (rho0 + following)


def tissue(grid: Grid, **also) -> Table:
    """Heterogeneous in everything that is given."""
    inside = grid.ball((3, -2, 1 if grid.points[2] > 1 else 0), 0.3 * min(grid.points[:2]))
    return medium(
        grid,
        1500 + 120 * inside,
        1000 + 90 * inside,
        **{
            name: value[0] + value[1] * inside if isinstance(value, tuple) else value
            for name, value in also.items()
        },
    )


def burst(steps: int, period: float = 16.0, delay: float = 0.0) -> np.ndarray:
    """A sine under a smooth window, 1 at most; `delay` in steps."""
    time = np.arange(steps) - delay
    window = np.where(time > 0, 1 - np.exp(-((np.maximum(time, 0) / 8) ** 2)), 0)
    return window * np.sin(2 * np.pi * time / period)


def initial_pressure(grid: Grid, pascals: float) -> Table:
    blob = grid.ball((-2, 1, 0), 0.2 * min(grid.points[:2])) - 0.5 * grid.ball((3, 3, 0), 2.5)
    return {"p0_source_flag": long(1), "p0_source_input": field(pascals * blob)}


def pressure_source(grid: Grid, table: Table, where, mode: str, signals, pascals: float = 1e6) -> Table:
    """Scaled as k-Wave's front ends do; `signals` is (time) or (time, point)."""
    points = grid.linear(where)
    c = sound_speed_at(table, points, np.ndim(signals) == 2)
    factor = 1 / c**2 if mode == "dirichlet" else 2 * grid.dt / (c * grid.spacing[0])
    values = pascals * np.asarray(signals) * factor / len(grid.axes)
    return {"p_source_flag": long(len(values)), "p_source_input": source_values(values)} | shared_by(
        "p", points, mode, np.ndim(signals) == 2
    )


def velocity_source(
    grid: Grid, table: Table, where, mode: str, metres_per_second: float = 0.5, **signals
) -> Table:
    """Components by keyword, `ux=burst(50)` for example; lengths may differ, the number of columns not."""
    points = grid.linear(where)
    many = np.ndim(next(iter(signals.values()))) == 2
    c = sound_speed_at(table, points, many)
    result = shared_by("u", points, mode, many)
    for name, signal in signals.items():
        spacing = grid.spacing["xyz".index(name[1])]
        factor = 1 if mode == "dirichlet" else 2 * c * grid.dt / spacing
        values = metres_per_second * np.asarray(signal) * factor
        result |= {f"{name}_source_flag": long(len(values)), f"{name}_source_input": source_values(values)}
    return result


def sound_speed_at(table: Table, points: np.ndarray, many: bool):
    c0 = table["c0"].astype(np.float64).reshape(-1)
    return c0[points - 1] if c0.size > 1 and many else c0[0]


def source_values(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype="<f4").reshape(1, len(values), -1)


def shared_by(kind: str, points: np.ndarray, mode: str, many: bool) -> Table:
    return {
        f"{kind}_source_mode": long(MODES[mode]),
        f"{kind}_source_many": long(many),
        f"{kind}_source_index": indices(points),
    }


def transducer(
    grid: Grid, where, signal: np.ndarray, delays: np.ndarray, metres_per_second: float = 0.5
) -> Table:
    """One signal, delayed by whole steps for each point."""
    points = grid.linear(where)
    values = metres_per_second * signal * 2 * 1500.0 * grid.dt / grid.spacing[0]
    return {
        "transducer_source_flag": long(len(signal) - int(delays.max())),
        "transducer_source_input": np.asarray(values, dtype="<f4").reshape(1, 1, -1),
        "delay_mask": indices(delays + 1),
        "u_source_index": indices(points),
    }


def sensor_points(grid: Grid, count: int, seed: int) -> Table:
    """Points anywhere, the absorbing layers included; sorted."""
    chosen = np.random.default_rng(seed).choice(np.prod(grid.points), count, replace=False)
    return {"sensor_mask_type": long(0), "sensor_mask_index": indices(np.sort(chosen) + 1)}


def sensor_list(values) -> Table:
    return {"sensor_mask_type": long(0), "sensor_mask_index": indices(values)}


def sensor_boxes(*corners: tuple[int, ...]) -> Table:
    boxes = np.array(corners, dtype="<u8").reshape(1, len(corners), 6)
    return {"sensor_mask_type": long(1), "sensor_mask_corners": boxes}


def write(path, table: Table, description: str, minor: str, padded: bool) -> None:
    """Writes an input file. `padded`: strings without a terminator, as the Python package writes them."""
    attributes = {
        "created_by": "make_references.py",
        "creation_date": "2026-11-20-12-00-00",
        "file_description": description,
        "file_type": "input",
        "major_version": "1",
        "minor_version": minor,
    }
    with h5py.File(path, "w") as file:
        for name, text in attributes.items():
            write_text(file, name, text, padded)
        for name in sorted(table):
            values = table[name]
            options = {"compression": 9, "shuffle": True} if values.size > 256 else {}
            dataset = file.create_dataset(name, data=values, **options)
            write_text(dataset, "data_type", "float" if values.dtype.kind == "f" else "long", padded)
            is_complex = "_shift" in name
            write_text(dataset, "domain_type", "complex" if is_complex else "real", padded)


def write_text(item, name: str, text: str, padded: bool) -> None:
    """A fixed-length string attribute, ended by a NUL unless padded."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(text) if padded else len(text) + 1)
    kind.set_strpad(h5py.h5t.STR_NULLPAD if padded else h5py.h5t.STR_NULLTERM)
    space = h5py.h5s.create(h5py.h5s.SCALAR)
    attribute = h5py.h5a.create(item.id, name.encode(), kind, space)
    attribute.write(
        np.array(text.encode().ljust(kind.get_size(), b"\0"), dtype=f"S{kind.get_size()}"), mtype=kind
    )
