# SPDX-License-Identifier: BSD-3-Clause
"""A case of each simulation to time its steps with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SEISMIC = """
[case]
simulation = "seismic"
[domain]
cells = [{size}, {size}, {size}]
spacing_m = [10.0, 10.0, 10.0]
[time]
dt_s = 0.001
steps = {steps}
[model]
equations = "tti"
vp_m_s = 2500.0
epsilon = 0.2
delta = 0.1
dip_rad = 0.7
azimuth_rad = 1.0
sigma = 0.75
[source]
wavelet = "ricker"
fcut_hz = 30.0
cell = [{middle}, {middle}, {middle}]
[[output]]
name = "end"
quantity = "p"
select = {{plane = {{z = {middle}}}}}
at = [{steps}]
"""
MOLECULES = """
[case]
simulation = "molecules"
[domain]
length = [{length!r}, {length!r}, {length!r}]
[time]
dt = 0.005
steps = {steps}
[[component]]
name = "lj"
lj = [{{mass = 1.0, epsilon = 1.0, sigma = 1.0, shifted = true}}]
[model]
cutoff = 2.5
[start]
kind = "lattice"
density = 0.8442
temperature = 1.44
[[output]]
name = "observables"
quantity = "observables"
at = [{steps}]
"""
DENSITY, PER_CELL, FEWEST_CELLS = 0.8442, 4, 3


@dataclass(frozen=True)
class Simulation:
    """How large the case of a simulation is, unless the user says otherwise, and how it is written."""

    option: str
    help: str
    size: int
    steps: int
    write: Callable[[Path, int, int], Path]


def write_ultrasound(directory: Path, size: int, steps: int) -> Path:
    """A heterogeneous, absorbing, non-linear medium."""
    # Here and not above: the command line must start without waiting for h5py.
    from tailrace.bench.kwave_input import Case, write_input

    write_input(directory / "input.h5", Case((size, size, size), "one", steps))
    return directory / "input.h5"


def write_seismic(directory: Path, size: int, steps: int) -> Path:
    """A shot in a tilted medium."""
    return write_text(directory, SEISMIC.format(size=size, steps=steps, middle=size // 2))


def write_molecules(directory: Path, size: int, steps: int) -> Path:
    """About so many molecules of a liquid, on a face-centred lattice."""
    cells = max(FEWEST_CELLS, round((size / PER_CELL) ** (1 / 3)))
    length = (PER_CELL * cells**3 / DENSITY) ** (1 / 3)
    return write_text(directory, MOLECULES.format(length=length, steps=steps))


def write_text(directory: Path, text: str) -> Path:
    path = directory / "case.toml"
    path.write_text(text)
    return path


SIMULATIONS = {
    "ultrasound": Simulation("--grid", "Points per axis.", 96, 40, write_ultrasound),
    "seismic": Simulation("--grid", "Points per axis.", 128, 40, write_seismic),
    "molecules": Simulation("--molecules", "About so many.", 32_000, 100, write_molecules),
}
