# SPDX-License-Identifier: BSD-3-Clause
"""Result directories of asv (airspeed velocity): its histories, with the steps that ours have.

A directory has `benchmarks.json` and a directory for each machine, with one file per commit and environment:
`commit_hash`, `date` in milliseconds, and `results` by benchmark, as values for each combination of its
parameters. What cannot be read is left out and said.
"""

import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from tailrace.console import CommandError
from tailrace.revisions.steps import Step, find_steps
from tailrace.revisions.store import is_number

MAX_VALUES = 400  # of a history: the search for steps takes their number to the third power


@dataclass
class History:
    """One number of one machine and environment, by date."""

    machine: str
    environment: str
    benchmark: str
    parameters: str
    unit: str
    commits: list[str] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.benchmark}({self.parameters})" if self.parameters else self.benchmark

    def steps(self) -> list[Step]:
        return find_steps(self.values[-MAX_VALUES:])

    def commit_of(self, number: int) -> str:
        return self.commits[-MAX_VALUES:][number]


def read_asv(directory: Path) -> tuple[list[History], list[str]]:
    """All histories below a directory of results, and what could not be read. Raises CommandError where there
    are none.
    """
    units, problems, found = _units(directory), [], []
    for path in sorted(directory.glob("*/*.json")):
        if path.name == "machine.json":
            continue
        try:
            found.append((path.parent.name, _result(json.loads(path.read_text(encoding="utf-8")))))
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            OverflowError,
        ) as error:
            problems.append(f"{path}: left out: {error!r}")
    if not found:
        why = f" {problems[0]}" if problems else ""
        raise CommandError(f"{directory}: no results of asv are there: MACHINE/COMMIT-ENVIRONMENT.json.{why}")
    histories: dict[tuple, History] = {}
    for machine, (_, commit, environment, numbers) in sorted(found, key=lambda one: one[1][:2]):
        for benchmark, parameters, value in numbers:
            key = (machine, environment, benchmark, parameters)
            unit = units.get(benchmark, "")
            history = histories.setdefault(key, History(*key, unit))
            history.commits.append(commit)
            history.values.append(value)
    return [histories[key] for key in sorted(histories)], problems


def _units(directory: Path) -> dict[str, str]:
    try:
        known = json.loads((directory / "benchmarks.json").read_text(encoding="utf-8"))
        return {
            name: str(one["unit"]) for name, one in known.items() if isinstance(one, dict) and "unit" in one
        }
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


Numbers = list[tuple[str, str, float | None]]


def _result(file: dict[str, Any]) -> tuple[int, str, str, Numbers]:
    """Date, commit, environment, and the numbers of one file."""
    columns = file.get("result_columns", ["result", "params"])
    numbers: Numbers = []
    for benchmark, stored in file["results"].items():
        if isinstance(stored, list):
            row = dict(zip(columns, stored, strict=False))
        else:  # the first version: a number alone, or a table
            row = stored if isinstance(stored, dict) else {"result": [stored], "params": []}
        values = row.get("result")
        values = values if isinstance(values, list) else [values]
        combinations = list(itertools.islice(itertools.product(*(row.get("params") or [])), len(values)))
        for number, value in enumerate(values):
            text = ", ".join(map(str, combinations[number])) if number < len(combinations) else ""
            numbers.append((str(benchmark), text, _number(value)))
    environment = str(file.get("env_name", ""))
    return int(file["date"]), str(file["commit_hash"]), environment, numbers


def _number(value: Any) -> float | None:
    """None for what failed or was not run: null, or NaN."""
    return float(value) if is_number(value) else None


def show_asv(directory: Path, console: Console) -> int:
    """Says the steps of each history, the largest slow-down first; returns the exit status."""
    histories, problems = read_asv(directory)
    for problem in problems:
        console.print(f"warning: {problem}", markup=False, soft_wrap=True)
    stepped = [(step, history) for history in histories for step in history.steps()]
    stepped.sort(key=lambda one: -one[0].ratio)
    values = sum(len(history.values) for history in histories)
    console.print(f"{len(histories)} histories with {values} values, {len(stepped)} steps")
    for step, history in stepped:
        where = f"{history.commit_of(step.before)[:10]}..{history.commit_of(step.at)[:10]}"
        change = f"{step.ratio:.3f} times"
        console.print(f"{history.machine}  {history.name}: {change} in {where}", markup=False, soft_wrap=True)
    return 0
