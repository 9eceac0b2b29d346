# SPDX-License-Identifier: BSD-3-Clause
"""NPB's own programs beside `heat`: the UA benchmark for one core or for OpenMP."""

import re
from dataclasses import dataclass
from pathlib import Path

from tailrace.bench.programs import Runner
from tailrace.console import CommandError

RESULT = re.compile(r"^ *(\S[^=\n]*?) *= *(\S.*?) *$", re.MULTILINE)
UNSUCCESSFUL = 1


@dataclass(frozen=True)
class Outcome:
    """What the lines at the end of a program of NPB say."""

    npb_class: str
    steps: int
    seconds: float
    mops: float
    verification: str


def read_outcome(text: str, program: str) -> Outcome:
    """NPB prints `Name = value`; the last of a name counts."""
    values = dict(RESULT.findall(text))
    try:
        return Outcome(
            values["Class"],
            int(values["Iterations"]),
            float(values["Time in seconds"]),
            float(values["Mop/s total"]),
            values["Verification"],
        )
    except (KeyError, ValueError) as error:
        raise CommandError(
            f"{program} ended without the result lines of NPB's UA ({error}): {text.strip()[-500:]}"
        ) from None


def find(path: str, npb_class: str) -> Path:
    """NPB compiles a program for each class."""
    named = Path(path.replace("{class}", npb_class))
    program = named / f"ua.{npb_class}.x" if named.is_dir() else named
    if not program.is_file():
        raise CommandError(
            f"--reference {path}: there is no {program}. Fix: make ua CLASS={npb_class} in NPB."
        )
    return program.absolute()


def run(program: Path, npb_class: str, threads: int, runner: Runner) -> Outcome:
    outcome = read_outcome(runner.run([str(program)], threads).output, str(program))
    if outcome.npb_class != npb_class:
        raise CommandError(
            f"{program} computes class {outcome.npb_class}, not {npb_class}. Fix: write {{class}} for the "
            "class in --reference, or give the directory of ua.S.x and the others."
        )
    return outcome
