# SPDX-License-Identifier: BSD-3-Clause
"""Options of the command that not every simulation has: its program would speak of words that nobody gave."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailrace.casefile import Case, lookup
from tailrace.console import CommandError

# Options of native programs that some do not have.
OF_SOME = ("exchange", "device")


def refuse_foreign(program: Path, case: Case, native_options: Iterable[str], keys: dict[str, str]) -> None:
    """Raises CommandError for an option that the simulation of a case does not have; `keys`: of options for
    keys of a case, key -> option.
    """
    asked = [name for name in OF_SOME if name in native_options]
    known = answer(program, "--help").split() if asked else []
    missing = [f"--{name}" for name in asked if f"--{name}" not in known]
    schema = read_schema(program) if keys else None
    missing += [option for key, option in keys.items() if schema is not None and not has_key(schema, key)]
    if missing:
        raise CommandError(
            f"{missing[0]}: not for {case.path}: the simulation {case.simulation} has no such option. "
            "Fix: leave it out"
        )


def answer(program: Path, option: str) -> str:
    done = subprocess.run(
        [program, option], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.stdout


def read_schema(program: Path) -> dict[str, Any] | None:
    """The JSON schema of its cases; None of a program that has none."""
    try:
        return json.loads(answer(program, "--case-schema"))
    except ValueError:
        return None


def has_key(schema: dict[str, Any], key: str) -> bool:
    for part in key.split("."):
        schema = lookup(schema, "properties", part)
    return schema is not None
