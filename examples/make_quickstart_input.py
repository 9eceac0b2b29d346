#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the input of the quickstart: focused ultrasound through layered tissue into a tumour.

The result is an ordinary k-Wave input file (format 1.2): any program that reads k-Wave files can run it. A
bowl-shaped transducer at small x sends a 1 MHz tone burst along +x. All lengths in this script are in
millimetres unless a name says otherwise; arrays are ordered (z, y, x) with x fastest, as k-Wave stores
them; point indices in the file count from 1.

    python make_quickstart_input.py [OUT] [--scale S]

`--scale 2` halves the grid spacing and the time step (eight times the points, twice the steps), `--scale
0.7` gives a coarse version for trying things out.
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

FREQUENCY_HZ = 1.0e6
SURFACE_PRESSURE_PA = 0.8e6  # amplitude at the face of the transducer
BURST_CYCLES = 14
RAMP_CYCLES = 2  # smooth start and end, so that the burst holds little energy away from 1 MHz
DURATION_CYCLES = 20
ALPHA_POWER = 1.1

APERTURE_RADIUS = 7.0
FOCAL_LENGTH = 13.0
BOWL_DEPTH = 0.6  # the deepest point of the bowl, behind the absorbing layer
DIMENSIONS = 3


@dataclass(frozen=True)
class Tissue:
    """Acoustic properties; absorption follows alpha * (f / MHz) ** ALPHA_POWER."""

    sound_speed: float  # m/s
    density: float  # kg/m^3
    alpha: float  # dB / (MHz^y cm)
    b_on_a: float


GEL = Tissue(1500.0, 1000.0, 0.02, 5.0)
SKIN = Tissue(1610.0, 1090.0, 0.60, 7.9)
FAT = Tissue(1440.0, 910.0, 0.48, 10.1)
MUSCLE = Tissue(1570.0, 1060.0, 0.70, 7.4)
CARTILAGE = Tissue(1640.0, 1100.0, 4.00, 7.4)
LIVER = Tissue(1585.0, 1060.0, 0.50, 6.8)
TUMOUR = Tissue(1555.0, 1045.0, 0.85, 6.5)


@dataclass(frozen=True)
class Grid:
    """A regular grid whose outermost `pml` points on every side form the absorbing layer."""

    nx: int
    ny: int
    nz: int
    spacing: float
    steps_per_cycle: int
    pml: int = 10

    @classmethod
    def scaled(cls, scale):
        def size(points):
            return 2 * round(points * scale / 2)

        return cls(size(144), size(108), size(108), 0.18 / scale, max(12, round(30 * scale)))

    @property
    def dt_s(self):
        return 1.0 / (FREQUENCY_HZ * self.steps_per_cycle)

    @property
    def steps(self):
        return DURATION_CYCLES * self.steps_per_cycle

    @property
    def axis_point(self):
        """0-based y and z index of the beam axis."""
        return self.ny // 2, self.nz // 2

    def coordinates(self):
        """Depth x behind the absorbing layer, and y, z relative to the beam axis, ready to broadcast to (z,
        y, x).
        """
        y0, z0 = self.axis_point
        x = (np.arange(self.nx) - self.pml) * self.spacing
        y = (np.arange(self.ny) - y0) * self.spacing
        z = (np.arange(self.nz) - z0) * self.spacing
        return x[None, None, :], y[None, :, None], z[:, None, None]


def tissue_map(grid):
    """Returns the tissues and, per grid point, which of them it is: layers with wavy borders and two
    inclusions.
    """
    x, y, z = grid.coordinates()
    wave = 0.35 * np.sin(2 * math.pi * y / 9.0 + 0.6) + 0.25 * np.cos(2 * math.pi * z / 11.0)
    tissues = [GEL, SKIN, FAT, MUSCLE, LIVER, CARTILAGE, TUMOUR]
    borders = [3.4, 4.6 + 0.2 * wave, 6.7 + wave, 10.0 - 0.8 * wave]
    labels = np.zeros((grid.nz, grid.ny, grid.nx), dtype=np.uint8)
    for layer, border in enumerate(borders, start=1):
        labels[np.broadcast_to(x >= border, labels.shape)] = layer
    rib = (x - 8.6) ** 2 + (y + 2.8) ** 2 < 1.1**2
    tumour = ((x - 13.4) / 3.2) ** 2 + ((y - 0.6) / 2.3) ** 2 + (z / 2.6) ** 2 < 1.0
    labels[np.broadcast_to(rib, labels.shape)] = tissues.index(CARTILAGE)
    labels[np.broadcast_to(tumour, labels.shape)] = tissues.index(TUMOUR)
    return tissues, labels


def staggered(field, axis):
    """The field half a cell further along `axis`: the mean of neighbours, the last plane repeated."""
    following = np.concatenate([field.take(range(1, field.shape[axis]), axis), field.take([-1], axis)], axis)
    return 0.5 * (field + following)


def medium(grid):
    """All datasets that describe the medium."""
    tissues, labels = tissue_map(grid)

    def field(name):
        return np.array([getattr(tissue, name) for tissue in tissues], dtype=np.float32)[labels]

    sound_speed, density = field("sound_speed"), field("density")
    return {
        "c0": sound_speed,
        "c_ref": sound_speed.max(),
        "rho0": density,
        "rho0_sgx": staggered(density, 2),
        "rho0_sgy": staggered(density, 1),
        "rho0_sgz": staggered(density, 0),
        "alpha_coeff": field("alpha"),
        "alpha_power": np.float32(ALPHA_POWER),
        "BonA": field("b_on_a"),
    }


def tone_burst(time_s):
    """A sine with raised-cosine ramps; zero before time 0 and after the burst."""
    cycles = np.asarray(time_s) * FREQUENCY_HZ
    edge = np.clip(np.minimum(cycles, BURST_CYCLES - cycles) / RAMP_CYCLES, 0.0, 1.0)
    return np.sin(0.5 * math.pi * edge) ** 2 * np.sin(2 * math.pi * cycles)


def bowl_source(grid):
    """A spherical cap of pressure source points, one per (y, z) column, each with its own signal.

    The cap lies between grid points. Every column uses the nearest point and a signal shifted in time by
    the rest of the way, which keeps the focus sharp. The additive scaling `2 dt / (N c dx)` is k-Wave's;
    the factor 1 / cos accounts for the columns' larger share of the tilted surface.
    """
    _, y, z = grid.coordinates()
    radius = np.sqrt(y**2 + z**2)[:, :, 0]
    rows = np.argwhere(radius <= APERTURE_RADIUS)  # (z, y), z slowest: the linear indices increase
    r = radius[rows[:, 0], rows[:, 1]]
    cosine = np.sqrt(1.0 - (r / FOCAL_LENGTH) ** 2)
    depth = BOWL_DEPTH + FOCAL_LENGTH * (1.0 - cosine)
    column = np.rint(depth / grid.spacing).astype(int)
    late_s = (column * grid.spacing - depth + 0.5 * grid.spacing) * 1e-3 * cosine / GEL.sound_speed

    length = math.ceil((BURST_CYCLES / FREQUENCY_HZ + late_s.max()) / grid.dt_s) + 1
    signal = tone_burst(np.arange(length)[:, None] * grid.dt_s - late_s[None, :])
    scale = 2 * grid.dt_s / (DIMENSIONS * GEL.sound_speed * grid.spacing * 1e-3)
    index = (rows[:, 0] * grid.ny + rows[:, 1]) * grid.nx + column + grid.pml + 1
    return {
        "p_source_flag": length,
        "p_source_mode": 2,  # additive, with k-space correction
        "p_source_many": 1,
        "p_source_index": index.astype(np.uint64).reshape(1, 1, -1),
        "p_source_input": (SURFACE_PRESSURE_PA * scale / cosine * signal).astype(np.float32)[None],
    }


def sensor(grid):
    """Two boxes: around the focus, and the whole plane y = 0 inside the absorbing layer."""
    y0, z0 = grid.axis_point
    focus = grid.pml + round((BOWL_DEPTH + FOCAL_LENGTH) / grid.spacing)
    along, across = round(5.5 / grid.spacing), round(2.5 / grid.spacing)
    x_last = grid.nx - 1 - grid.pml
    box = [focus - along, y0 - across, z0 - across, min(focus + along, x_last), y0 + across, z0 + across]
    plane = [grid.pml, y0, grid.pml, x_last, y0, grid.nz - 1 - grid.pml]
    corners = np.array([[box, plane]], dtype=np.uint64) + np.uint64(1)
    return {"sensor_mask_type": 1, "sensor_mask_corners": corners}


def settings(grid):
    """Grid, time, absorbing layer and the flags that k-Wave expects in every file."""
    values = {"Nx": grid.nx, "Ny": grid.ny, "Nz": grid.nz, "Nt": grid.steps, "dt": np.float32(grid.dt_s)}
    for axis in "xyz":
        values[f"d{axis}"] = np.float32(grid.spacing * 1e-3)
        values[f"pml_{axis}_size"] = grid.pml
        values[f"pml_{axis}_alpha"] = np.float32(2.0)
        values[f"u{axis}_source_flag"] = 0
    values |= {"nonlinear_flag": 1, "absorbing_flag": 1}
    absent = [
        "p0_source",
        "transducer_source",
        "sxx_source",
        "syy_source",
        "szz_source",
        "sxy_source",
        "sxz_source",
    ]
    absent += ["syz_source", "nonuniform_grid", "axisymmetric", "elastic"]
    return values | {f"{name}_flag": 0 for name in absent}


def write_text(owner, name, text):
    """A null-terminated fixed-length string attribute, as k-Wave writes it (h5py alone would pad without a
    terminator).
    """
    data = text.encode("ascii") + b"\0"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(data))
    attribute = h5py.h5a.create(owner.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(data, dtype=f"S{len(data)}"), mtype=kind)


def write_dataset(file, name, value):
    """Every dataset has rank 3 and is a 32-bit float or an unsigned 64-bit integer."""
    array = np.asarray(value)
    array = array.astype(np.float32 if array.dtype.kind == "f" else np.uint64)
    if array.ndim == 0:
        dataset = file.create_dataset(name, data=array.reshape(1, 1, 1))
    else:
        dataset = file.create_dataset(name, data=array, chunks=True, compression="gzip", compression_opts=1)
    write_text(dataset, "data_type", "float" if array.dtype.kind == "f" else "long")
    write_text(dataset, "domain_type", "real")


def write_input(path, scale=1.0):
    """Writes the whole case to `path`; an unfinished file never carries the final name."""
    grid = Grid.scaled(scale)
    datasets = settings(grid) | medium(grid) | bowl_source(grid) | sensor(grid)
    header = {
        "created_by": "Tailrace quickstart",
        "creation_date": "01-Jan-2026-00-00-00",
        "file_description": "focused ultrasound through layered tissue",
        "file_type": "input",
        "major_version": "1",
        "minor_version": "2",
    }
    partial = Path(f"{path}.part")
    with h5py.File(partial, "w") as file:
        for name, text in header.items():
            write_text(file, name, text)
        for name, value in datasets.items():
            write_dataset(file, name, value)
    partial.replace(path)
    return grid


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("quickstart.h5"))
    parser.add_argument(
        "--scale", type=float, default=1.0, help="grid points per wavelength relative to the default"
    )
    arguments = parser.parse_args()
    if not 0.7 <= arguments.scale <= 8.0:
        parser.error(
            "--scale must lie between 0.7 (below, the source would reach into the absorbing layer) and 8"
        )
    grid = write_input(arguments.out, arguments.scale)
    print(f"wrote {grid.nx} x {grid.ny} x {grid.nz} points, {grid.steps} steps")


if __name__ == "__main__":
    main()
