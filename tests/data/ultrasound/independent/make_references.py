#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the inputs and references that lie beside this file. README.md says what they are.

make_references.py [--into DIR] [CASE]...    needs k-wave-python; all cases when none is named
"""

import argparse
import json
from pathlib import Path

import h5py
import kwave
import numpy as np

import small_inputs
from case import Case
from cases import all_cases
from reference_solver import record

HERE = Path(__file__).resolve().parent
# A feature counts as tested when taking it away changes some dataset by at least this, relatively.
SENSITIVE = 1e-3


def velocity_family(path: str) -> list[str]:
    """The datasets that share a scale: the components of a velocity or an intensity."""
    if path[0] in "uI":
        return [path[0] + axis + path[2:] for axis in "xyz"]
    return [path]


def differences(reference: dict, other: dict) -> dict[str, float]:
    """Largest difference of each dataset, relative to the largest value of its family."""
    result = {}
    for path, values in reference.items():
        family = [reference[name] for name in velocity_family(path) if name in reference]
        scale = max(float(np.abs(member).max()) for member in family)
        result[path] = float(np.abs(other[path] - values).max()) / scale
    return result


def sensitivities(case: Case, table: dict, reference: dict) -> dict[str, float]:
    """How much the result changes when the tested features are taken away."""
    found = {}
    for what, changes in case.without.items():
        changed = record(table | changes, case.arguments)
        found[what] = max(differences(reference, changed).values())
        if found[what] < SENSITIVE:
            raise SystemExit(f"{case.name}: {what} changes the result by {found[what]:.1e} only")
    return found


def read_table(path: Path) -> dict[str, np.ndarray]:
    with h5py.File(path) as file:
        return {name: file[name][()] for name in file}


def shortened(values: np.ndarray) -> np.ndarray:
    """Rounded to 28 binary digits, so 4e-9 relatively, because the rest of a double does not compress."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, 28)), exponent - 28)


def write_reference(path: Path, results: dict[str, np.ndarray]) -> None:
    with h5py.File(path, "w") as file:
        for name in sorted(results):
            file.create_dataset(name, data=shortened(results[name]), compression=9, shuffle=True)


def rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.2g}") for name, value in sorted(values.items())}


def make(case: Case, into: Path) -> None:
    directory = into / case.name
    directory.mkdir(parents=True, exist_ok=True)
    small_inputs.write(directory / "input.h5", case.table, case.description, case.minor, case.padded)
    table = read_table(directory / "input.h5")
    reference = record(table, case.arguments)
    write_reference(directory / "reference.h5", reference)
    single = differences(reference, record(table, case.arguments, np.float32))
    facts = {
        "name": case.name,
        "description": case.description,
        "grid": case.grid.points,
        "steps": case.grid.steps,
        "format": f"1.{case.minor}",
        "arguments": case.arguments,
        "datasets": sorted(reference),
        "solver": f"k-wave-python {kwave.__version__}, NumPy {np.__version__}, double precision",
        "not_from_the_package": case.written_here,
        "single_precision_difference": rounded(single),
        "difference_without": rounded(sensitivities(case, table, reference)),
    }
    (directory / "case.json").write_text(json.dumps(facts, indent=1) + "\n")
    print(f"{case.name}: single precision {max(single.values()):.1e}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=HERE)
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    for case in all_cases():
        if not arguments.cases or case.name in arguments.cases:
            make(case, arguments.into)


if __name__ == "__main__":
    main()
