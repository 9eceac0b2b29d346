# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the molecules program, put together from their tables, and runs of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import jobs

DATA = Path(__file__).resolve().parents[1] / "data" / "molecules"
MANY = [1, 2, 3] if jobs.waits_spin() else [1, 2, 3, 4, 7]
KINDS = ["regular", "kd"]
# A k-d tree that is looked at often, and replaced by any better one.
RESTLESS = {"kind": "kd", "every": 5, "limit": 1.0}
ATOM = {"mass": 1.0, "epsilon": 1.0, "sigma": 1.0}


def value_text(value: Any) -> str:
    """As TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return json.dumps(str(value) if isinstance(value, Path) else value)


def table(name: str, /, **keys: Any) -> str:
    """A table with its keys; `name` in brackets is that of one in a list."""
    return "\n".join([f"[{name}]", *(f"{key} = {value_text(value)}" for key, value in keys.items()), ""])


def output(name: str, quantity: str, /, **keys: Any) -> str:
    return table("[output]", name=name, quantity=quantity, **keys)


def writer(name: str, every: int, prefix: str) -> str:
    return table("[writer]", name=name, every=every, prefix=prefix)


def case(dt: float, steps: int, *tables: str) -> str:
    """The text of a case of these tables."""
    return "".join([table("case", simulation="molecules"), table("time", dt=dt, steps=steps), *tables])


OBSERVABLES = output("observables", "observables", every=10, initial=True)


def atoms(*, cutoff: float = 2.5, corrected: bool = False) -> str:
    """Argon in reduced units: truncated and shifted, or with corrections for what lies beyond the cutoff."""
    long_range = "homogeneous" if corrected else "none"
    return table("[component]", name="argon", lj=[ATOM | {"shifted": not corrected}]) + table(
        "model", cutoff=cutoff, long_range=long_range
    )


def argon(steps: int, *tables: str, **model: Any) -> str:
    """The argon whose observables ls1 mardyn has computed."""
    start = table("start", file=DATA / "argon-1clj/start.inp")
    return case(0.004, steps, atoms(**model), start, OBSERVABLES, *tables)


def carbon_dioxide(steps: int, *tables: str) -> str:
    """The molecules with three centres and charges whose observables ls1 mardyn has computed."""
    start = table("start", file=DATA / "co2-3clj3c/start.inp")
    return case(0.001, steps, table("model", cutoff=3.2), start, OBSERVABLES, *tables)


def mixture(*tables: str) -> str:
    """Atoms, and molecules of two centres with a dipole that turn, at a temperature that is held."""
    half = {"mass": 0.5, "epsilon": 1.0, "sigma": 0.9}
    ends = [{"place": [0, 0, 0.3]} | half, {"place": [0, 0, -0.3]} | half]
    return case(
        0.002,
        40,
        table("domain", length=[10.0, 11.0, 12.0]),
        table("[component]", lj=[ATOM]),
        table("[component]", lj=ends, dipole=[{"moment": 0.5}]),
        table("model", cutoff=2.5),
        table("start", kind="lattice", density=0.4, temperature=1.0),
        table("thermostat", temperature=1.2),
        *tables,
    )


def droplet(steps: int, *tables: str) -> str:
    """A drop beside the middle of its box, in thin vapour."""
    start = {"centre": [6.0, 7.0, 8.0], "radius": 6.0, "density": 0.75, "vapour_density": 0.01}
    return case(
        0.004,
        steps,
        table("domain", length=[24.0, 24.0, 24.0]),
        atoms(),
        table("start", kind="droplet", temperature=0.8, **start),
        *tables,
    )


def job(directory: Path, ranks: int, *options: Any) -> jobs.Job:
    """Starts the case in a directory, which writes into `directory`/run."""
    words = ["--case", directory / "case.toml", "--out", directory / "run", "--quiet", *options]
    return jobs.Job(words, ranks, command=[str(jobs.MOLECULES)])


def run(text: str, directory: Path, *options: Any, ranks: int = 1, status: int = 0) -> jobs.Ended:
    """Runs a case in a directory, to the end with this exit status."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "case.toml").write_text(text)
    ended = job(directory, ranks, *options).wait()
    assert ended.status == status, ended
    return ended


def run_in_segments(text: str, directory: Path, first: int, second: int, fault: str) -> None:
    """Has a fault kill a run on `first` ranks, and continues with it on `second` ranks to its end."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "case.toml").write_text(text)
    ended = job(directory, first, "--fault", fault).wait()
    assert ended.status != 0, ended
    ended = job(directory, second, "--resume").wait()
    assert ended.status == 0, ended
    assert jobs.account(directory / "run")["resumed_from"] > 0


def datasets(directory: Path) -> dict[str, np.ndarray]:
    return jobs.read_datasets(directory / "run" / "output.h5")
