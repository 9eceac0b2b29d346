# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS beside the molecules program: from the same start, with the same forces and steps."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from tailrace.bench.programs import Runner, on_ranks
from tailrace.console import CommandError
from tailrace_bench.molecules_case import LJ, Case

START, INPUT = "start.data", "in.lj"
# Neighbour lists as in the program's own benchmark of this liquid: a skin of 0.3, made anew every 20 steps.
SCRIPT = """units lj
atom_style atomic
read_data {start}
pair_style lj/cut {cutoff}
pair_modify shift yes
pair_coeff 1 1 1.0 1.0
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
timestep {dt}
thermo_modify norm no
run {warm_up}
run {steps}
print "potential energy $(pe:%.17g)"
"""
DATA = """a start of tailrace-molecules

{count} atoms
1 atom types
0 {length!r} xlo xhi
0 {length!r} ylo yhi
0 {length!r} zlo zhi

Masses

1 1.0

"""
LOOP = re.compile(r"^Loop time of (\S+) on", re.MULTILINE)
ENERGY = re.compile(r"^potential energy (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Lammps:
    """The program, and whether it has the package of styles that are tuned for one core."""

    program: Path
    has_opt: bool


@dataclass(frozen=True)
class Outcome:
    """Seconds of a step after those that warm up, and the potential energy after the last."""

    step_s: float
    energy: float


def find(name: str) -> Lammps:
    """Raises CommandError where there is no such program, or it is another one."""
    found = shutil.which(name)
    if found is None:
        raise CommandError(
            f"--reference {name}: there is no such program. Fix: install LAMMPS (Debian: apt-get install "
            "lammps), and name its program, lmp."
        )
    reported = subprocess.run(
        [found, "-h"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if "LAMMPS" not in reported.stdout:
        raise CommandError(f"--reference {name}: is not LAMMPS. Fix: name its program, lmp.")
    return Lammps(Path(found), bool(re.search(r"\bOPT\b", reported.stdout)))


def solves(case: Case) -> bool:
    """Molecules of one centre."""
    return case.fluid.component == LJ.component


def write_input(directory: Path, case: Case, state: Path) -> None:
    """The script, and the start as an output file of `tailrace-molecules` has it."""
    with h5py.File(state) as file:
        places, velocities = file["position/values"][0], file["velocity/values"][0]
    numbers = np.arange(1, case.molecules + 1)[:, None]
    with (directory / START).open("w") as file:
        file.write(DATA.format(count=case.molecules, length=case.length))
        file.write("Atoms # atomic\n\n")
        atoms = np.hstack([numbers, np.ones_like(numbers), places])
        np.savetxt(file, atoms, fmt=["%d", "%d", *["%.17g"] * 3])
        file.write("\nVelocities\n\n")
        np.savetxt(file, np.hstack([numbers, velocities]), fmt=["%d", *["%.17g"] * 3])
    fluid = case.fluid
    text = SCRIPT.format(
        start=directory / START,
        cutoff=fluid.cutoff,
        dt=fluid.dt,
        warm_up=fluid.warm_up,
        steps=case.timed_steps,
    )
    (directory / INPUT).write_text(text)


def run(lammps: Lammps, case: Case, ranks: int, opt: bool, directory: Path, runner: Runner) -> Outcome:
    """One run, without files of its own."""
    words = ["-in", str(directory / INPUT), "-log", "none", *(["-sf", "opt"] if opt else [])]
    reported = runner.run(on_ranks(lammps.program, ranks, 1, words)).output
    times, energies = LOOP.findall(reported), ENERGY.findall(reported)
    if len(times) != 2 or len(energies) != 1:
        raise CommandError(f"{lammps.program} ended without stating its times: {reported.strip()[-2000:]}")
    return Outcome(float(times[1]) / case.timed_steps, float(energies[0]))
