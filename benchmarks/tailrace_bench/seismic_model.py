# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the seismic benchmark: a smooth tilted medium, as numbers or per point, and a pulse in it."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

SPACING_M = 12.5
SIGMA = 0.75
# The pulse that p and q start with: wide enough for the grid to carry it.
PULSE_REACH, PULSE_WIDTH = 4, 1.6
# Of the largest stable time step, which is 0.4528 h / speed.
STABLE_SHARE = 0.85
VALUE_BYTES = 4
PROPERTIES = ("vp_m_s", "epsilon", "delta", "dip_rad", "azimuth_rad")
# Properties that each kind of equations takes, and the coefficients that the program makes of them.
TAKES = {"isotropic": PROPERTIES[:1], "vti": PROPERTIES[:3], "tti": PROPERTIES}
COEFFICIENTS = {"isotropic": 1, "vti": 4, "tti": 7}
FIELDS = {"isotropic": 1, "vti": 2, "tti": 2}


@dataclass(frozen=True)
class Case:
    """Equations on a cube of so many points per axis, with properties as `numbers` or as `arrays`."""

    size: int
    equations: str
    properties: str
    warm_up: int
    steps: int
    """In all."""

    @property
    def name(self) -> str:
        return f"{self.size}^3, {self.equations}, {self.properties}"

    @property
    def samples(self) -> int:
        """Points updated by a step: the domain, which has no layer around it."""
        return self.size**3


def bytes_per_sample(equations: str, properties: str) -> int:
    """What a step moves at least for each point: the current level of the fields is read, the other one is
    read and written, and coefficients that vary are read. Derivatives stay in the caches.
    """
    coefficients = COEFFICIENTS[equations] if properties == "arrays" else 0
    return VALUE_BYTES * (3 * FIELDS[equations] + coefficients)


def property_values(size: int) -> dict[str, np.ndarray]:
    """Each property at each point, float32 (z, y, x), varying over lengths of some ten points."""
    along = np.arange(size) / 40.0
    wave = np.sin(along)[:, None, None] * np.cos(along)[:, None] * np.cos(along)
    slope = (np.arange(size) / max(1, size - 1))[:, None, None]
    found = {
        "vp_m_s": 2800 + 600 * slope + 150 * wave,
        "epsilon": 0.24 + 0.05 * wave,
        "delta": 0.1 + 0.04 * wave,
        "dip_rad": 0.7 + 0.3 * wave,
        "azimuth_rad": 1.0 + 0.4 * wave,
    }
    return {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in found.items()}


def pulse() -> dict[tuple[int, int, int], float]:
    """Value at each point (x, y, z) around the source."""
    reach = range(-PULSE_REACH, PULSE_REACH + 1)
    return {
        (x, y, z): float(np.exp(-(x * x + y * y + z * z) / (2 * PULSE_WIDTH**2)))
        for z in reach
        for y in reach
        for x in reach
    }


def write_model(directory: Path, size: int) -> None:
    with h5py.File(directory / "model.h5", "w") as file:
        for name, values in property_values(size).items():
            file[name] = values


def time_step_s(values: dict[str, np.ndarray]) -> float:
    speed = values["vp_m_s"] * np.sqrt(1 + 2 * values["epsilon"])
    return float(STABLE_SHARE * 0.4528 * SPACING_M / speed.max())


def write_case(directory: Path, case: Case) -> Path:
    """The case file; the model file, which arrays want, lies beside it."""
    values = property_values(case.size)
    middle = case.size // 2
    lines = [
        "[case]",
        'simulation = "seismic"',
        "[domain]",
        f"cells = [{case.size}, {case.size}, {case.size}]",
        f"spacing_m = [{SPACING_M}, {SPACING_M}, {SPACING_M}]",
        "[time]",
        f"dt_s = {time_step_s(values)!r}",
        f"steps = {case.steps}",
        "[model]",
        f'equations = "{case.equations}"',
    ]
    for name in TAKES[case.equations]:
        number = repr(float(values[name][middle, middle, middle]))
        lines.append(f"{name} = " + (f'"model.h5:/{name}"' if case.properties == "arrays" else number))
    if case.equations != "isotropic":
        lines.append(f"sigma = {SIGMA}")
    points = pulse()
    cells = ", ".join(f"[{middle + x}, {middle + y}, {middle + z}]" for x, y, z in points)
    lines += [
        "[source]",
        f"cells = [{cells}]",
        f"amplitudes = [{', '.join(map(repr, points.values()))}]",
        'wavelet = "samples"',
        "samples = [1.0]",
        "[[output]]",
        'name = "end"',
        'quantity = "p"',
        f"select = {{plane = {{z = {middle}}}}}",
        f"at = [{case.steps}]",
    ]
    path = directory / f"{case.equations}-{case.properties}.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def coefficients(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the TTI equations multiply with, float32: what the program keeps for a model per point."""
    vp, epsilon, delta, dip, azimuth = (values[name].astype(np.float64) for name in PROPERTIES)
    found = {
        "speed": (vp * time_step_s(values)) ** 2,
        "across": 1 + 2 * epsilon,
        "moveout": 1 + 2 * delta,
        "shear": np.abs(epsilon - delta) / SIGMA,
        "axis_x": np.sin(dip) * np.cos(azimuth),
        "axis_y": np.sin(dip) * np.sin(azimuth),
        "axis_z": np.cos(dip),
    }
    return {name: array.astype(np.float32) for name, array in found.items()}


def initial_field(size: int) -> np.ndarray:
    """p and q, (z, y, x), when the first step begins."""
    field, middle = np.zeros((size, size, size), np.float32), size // 2
    for (x, y, z), value in pulse().items():
        field[middle + z, middle + y, middle + x] = value
    return field
