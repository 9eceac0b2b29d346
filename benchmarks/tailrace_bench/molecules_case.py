# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the benchmark of molecules: a liquid of one centre, and a fluid that turns and has charges."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fluid:
    """Molecules of one kind in reduced units, at a density; steps that warm up, and steps in all."""

    name: str
    title: str
    component: str
    density: float
    cutoff: float
    temperature: float
    dt: float
    warm_up: int
    steps: int
    memory_aim: int
    """Bytes of a molecule."""


# What the public benchmark of LAMMPS computes, and ls1 mardyn was measured with.
LJ = Fluid(
    "lj",
    "Lennard-Jones",
    "lj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0, shifted = true}]",
    0.8442,
    2.5,
    1.44,
    0.005,
    20,
    120,
    110,
)
CO2 = Fluid(
    "co2",
    "CO2",
    "lj = [\n"
    "  {place = [0.0, 0.0, 0.0], mass = 0.28, epsilon = 0.35, sigma = 0.9},\n"
    "  {place = [0.0, 0.0, -0.4], mass = 0.36, epsilon = 1.0, sigma = 1.0},\n"
    "  {place = [0.0, 0.0, 0.4], mass = 0.36, epsilon = 1.0, sigma = 1.0},\n"
    "]\n"
    "charge = [\n"
    "  {place = [0.0, 0.0, 0.0], charge = 16.0},\n"
    "  {place = [0.0, 0.0, -0.35], charge = -8.0},\n"
    "  {place = [0.0, 0.0, 0.35], charge = -8.0},\n"
    "]",
    0.18,
    3.2,
    5.0,
    0.001,
    10,
    50,
    200,
)
FLUIDS = {fluid.name: fluid for fluid in (LJ, CO2)}
# Molecules of a cell of the face-centred lattice, and cells along an edge of the smallest box that is twice
# as long as the cutoff.
PER_CELL, FEWEST_CELLS = 4, 3


@dataclass(frozen=True)
class Case:
    """A fluid on so many cells of the lattice along each edge of the box."""

    fluid: Fluid
    cells: int
    steps: int
    """In all."""

    @property
    def molecules(self) -> int:
        return PER_CELL * self.cells**3

    @property
    def length(self) -> float:
        """Of the box."""
        return (self.molecules / self.fluid.density) ** (1 / 3)

    @property
    def timed_steps(self) -> int:
        return self.steps - self.fluid.warm_up

    @property
    def name(self) -> str:
        return f"{self.fluid.title}, {self.molecules}"


def make_case(fluid: Fluid, molecules: int, steps: int) -> Case:
    """About so many molecules; `steps` are those that are timed, 0: as suits the fluid."""
    cells = max(FEWEST_CELLS, round((molecules / PER_CELL) ** (1 / 3)))
    return Case(fluid, cells, fluid.warm_up + steps if steps else fluid.steps)


def empty_case(case: Case) -> Case:
    """As good as no molecules: what a process needs without any."""
    return Case(case.fluid, FEWEST_CELLS, case.steps)


def write_case(path: Path, case: Case, outputs: str) -> Path:
    """A case file with [[output]] tables."""
    fluid = case.fluid
    lines = [
        "[case]",
        'simulation = "molecules"',
        "[domain]",
        f"length = [{case.length!r}, {case.length!r}, {case.length!r}]",
        "[time]",
        f"dt = {fluid.dt}",
        f"steps = {case.steps}",
        "[[component]]",
        f'name = "{fluid.name}"',
        fluid.component,
        "[model]",
        f"cutoff = {fluid.cutoff}",
        "[start]",
        'kind = "lattice"',
        f"density = {fluid.density}",
        f"temperature = {fluid.temperature}",
    ]
    path.write_text("\n".join(lines) + "\n" + outputs)
    return path


def output_table(quantity: str, when: str) -> str:
    return f'[[output]]\nname = "{quantity}"\nquantity = "{quantity}"\n{when}\n'
