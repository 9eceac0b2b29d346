# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the benchmark of molecules: a liquid of one centre, thinner fluids and a droplet of the same
molecules, and a fluid that turns and has charges.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

# Radius of a droplet over the edge of its box.
RADIUS_SHARE = 0.25


@dataclass(frozen=True)
class Fluid:
    """Molecules of one kind in reduced units, at a density; of a droplet that inside it."""

    name: str
    title: str
    component: str
    density: float
    cutoff: float
    temperature: float
    dt: float
    warm_up: int
    updates: float
    """Steps times molecules that are timed."""
    sizes: tuple[int, ...]
    """Numbers of molecules unless others are asked for."""
    memory_aim: int | None = None
    """Bytes of a molecule."""
    vapour_density: float | None = None
    """Around a droplet in the middle of the box."""

    @property
    def mean_density(self) -> float:
        if self.vapour_density is None:
            return self.density
        ball = 4 / 3 * math.pi * RADIUS_SHARE**3
        return ball * self.density + (1 - ball) * self.vapour_density


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
    1e7,
    (2_048, 32_000, 108_000, 1_000_000),
    110,
)
MEDIUM = replace(
    LJ, name="lj-0.4", title="Lennard-Jones, density 0.4", density=0.4, sizes=(32_000,), memory_aim=None
)
THIN = replace(MEDIUM, name="lj-0.1", title="Lennard-Jones, density 0.1", density=0.1)
DROPLET = replace(
    MEDIUM,
    name="droplet",
    title="droplet of Lennard-Jones",
    density=0.75,
    temperature=0.8,
    vapour_density=0.01,
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
    1.5e6,
    (32_000,),
    200,
)
FLUIDS = {fluid.name: fluid for fluid in (LJ, MEDIUM, THIN, DROPLET, CO2)}
# Molecules of a cell of the face-centred lattice, and cells along an edge of the smallest box that is twice
# as long as the cutoff.
PER_CELL, FEWEST_CELLS = 4, 3
MIN_STEPS, MAX_STEPS = 20, 200


@dataclass(frozen=True)
class Case:
    """A fluid in a periodic cube."""

    fluid: Fluid
    molecules: int
    """Of a droplet nearly so many, until they have been counted."""
    length: float
    """Of an edge of the box."""
    steps: int
    """In all."""

    @property
    def timed_steps(self) -> int:
        return self.steps - self.fluid.warm_up

    @property
    def name(self) -> str:
        return f"{self.fluid.title}, {self.molecules}"


def make_case(fluid: Fluid, molecules: int, steps: int) -> Case:
    """About so many molecules, in whole cells of the lattice; `steps` are those that are timed, 0: as suits
    the fluid.
    """
    cells = max(FEWEST_CELLS, round((molecules / PER_CELL) ** (1 / 3)))
    count = PER_CELL * cells**3
    fitting = min(max(round(fluid.updates / count), MIN_STEPS), MAX_STEPS)
    length = (count / fluid.mean_density) ** (1 / 3)
    return Case(fluid, count, length, fluid.warm_up + (steps or fitting))


def empty_case(case: Case) -> Case:
    """As good as no molecules: what a process needs without any."""
    fluid = replace(case.fluid, vapour_density=None)
    return replace(make_case(fluid, 0, 1), steps=case.steps)


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
        f"density = {fluid.density}",
        f"temperature = {fluid.temperature}",
        *start_lines(case),
    ]
    path.write_text("\n".join(lines) + "\n" + outputs)
    return path


def start_lines(case: Case) -> list[str]:
    """How the molecules lie at the start."""
    if case.fluid.vapour_density is None:
        return ['kind = "lattice"']
    middle = case.length / 2
    return [
        'kind = "droplet"',
        f"centre = [{middle!r}, {middle!r}, {middle!r}]",
        f"radius = {RADIUS_SHARE * case.length!r}",
        f"vapour_density = {case.fluid.vapour_density}",
    ]


def output_table(quantity: str, when: str) -> str:
    return f'[[output]]\nname = "{quantity}"\nquantity = "{quantity}"\n{when}\n'
