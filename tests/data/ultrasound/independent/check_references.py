#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the arrangement that made the references: against references computed elsewhere, the package's own
scaling of sources, and the files beside this script.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
from kwave.solvers.kspace_solver import Simulation

import small_inputs as make
from case import BOX, assembled, patch
from cases import all_cases
from make_references import differences, read_table
from reference_solver import FileSimulation, record

HERE = Path(__file__).resolve().parent


class PhysicalSimulation(FileSimulation):
    """As a user of the package states the problem: sources in Pa and m/s, which the package scales."""

    def __init__(self, datasets: dict, source: SimpleNamespace):
        self.physical = source
        super().__init__(datasets)

    def _setup_source_operators(self):
        self.source = self.physical
        Simulation._setup_source_operators(self)


def source_cases():
    """For each mode, one pressure and one velocity source: an input and the source before scaling."""
    medium = make.tissue(BOX)
    where = patch(BOX)
    columns = np.linspace(1, 2, where.sum())
    signal = make.burst(40)[:, np.newaxis] * columns
    # The package wants its points in the order of its own arrays.
    order = np.argsort(np.ravel_multi_index(np.nonzero(where)[::-1], BOX.points))
    rows, mask, sensors = signal.T[order], where.T, make.sensor_points(BOX, 1, seed=1)
    for mode in make.MODES:
        name = mode.replace("_", "-")
        source = make.pressure_source(BOX, medium, where, mode, signal, 2e6)
        physical = SimpleNamespace(p_mask=mask, p=2e6 * rows, p_mode=name)
        yield f"pressure, {name}", assembled(BOX, medium, sensors, source), physical
        source = make.velocity_source(BOX, medium, where, mode, 0.3, uy=signal)
        physical = SimpleNamespace(u_mask=mask, uy=0.3 * rows, u_mode=name)
        yield f"velocity, {name}", assembled(BOX, medium, sensors, source), physical


def scaling_differences() -> dict[str, float]:
    """Sources as in the inputs against sources that the package scales: pressure after 40 steps."""
    found = {}
    for name, table, physical in source_cases():
        ours, theirs = FileSimulation(table), PhysicalSimulation(table, physical)
        for _ in range(40):
            ours.step()
            theirs.step()
        found[f"scaling of {name}"] = float(np.abs(ours.p - theirs.p).max() / np.abs(theirs.p).max())
    return found


def shared_differences() -> dict[str, float]:
    """The cases of the directory above, whose references were computed elsewhere."""
    found = {}
    for path in sorted(HERE.parent.glob("*/reference_double.h5")):
        facts = json.loads((path.parent / "case.json").read_text())
        results = record(read_table(path.parent / "input.h5"), facts["args"])
        with h5py.File(path) as file:
            expected = {name: file[name][()] for name in results if name in file}
        found[path.parent.name] = max(differences(expected, results).values())
    return found


def close(stored: np.ndarray | None, made: np.ndarray | None) -> bool:
    """Equal but for the last digits, which depend on the machine's mathematical functions."""
    if stored is None or made is None or stored.dtype != made.dtype or stored.shape != made.shape:
        return False
    return bool(np.all(np.abs(stored - made) <= 1e-6 * np.abs(made).max()))


def stored_differences() -> dict[str, float]:
    """The stored files against what the script makes now."""
    found = {}
    for case in all_cases():
        table = read_table(HERE / case.name / "input.h5")
        apart = [name for name in case.table | table if not close(table.get(name), case.table.get(name))]
        if apart:
            found[f"{case.name}: {apart} of the input"] = np.inf
        results = record(table, case.arguments)
        with h5py.File(HERE / case.name / "reference.h5") as file:
            expected = {name: file[name][()] for name in results}
        found[case.name] = max(differences(expected, results).values())
    return found


def main() -> int:
    failed = 0
    # Single precision: of the scaled signals, and of the inputs that the other references were given.
    for found in (scaling_differences(), shared_differences(), stored_differences()):
        for name, difference in found.items():
            good = difference < 2e-7
            failed += not good
            print(f"{name}: {difference:.1e}{'' if good else ' TOO MUCH'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
