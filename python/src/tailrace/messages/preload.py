# SPDX-License-Identifier: BSD-3-Clause
"""Puts the message profiler in front of a program."""

import os
import re
from pathlib import Path

from tailrace.console import CommandError
from tailrace.programs import find_library

LIBRARY = "tailrace_messages"
# The names that the profiler gives its files, and those that it is writing.
COUNTS = re.compile(r"(rank-\d{5,}|started-\d+-\d{5,})\.json(\.partial)?", re.ASCII)


def profiled(directory: Path, program: list[str]) -> list[str]:
    """The words that start the program with the profiler, on any node: its files go to the directory. `env`
    sets what the launcher would not hand on to other nodes, and leaves the launcher itself alone.
    """
    return ["env", *(f"{name}={value}" for name, value in preload(directory).items()), *program]


def preload(directory: Path) -> dict[str, str]:
    """What the environment of a program has so that it is profiled."""
    others = [one] if (one := os.environ.get("LD_PRELOAD")) else []
    return {
        "LD_PRELOAD": ":".join([str(profiler()), *others]),
        "TAILRACE_MESSAGES": str(directory.absolute()),
    }


def profiler() -> Path:
    library = find_library(LIBRARY)
    if library is None:
        raise CommandError(
            f"the message profiler, lib{LIBRARY}.so, is not built. "
            "Fix: install again, or set TAILRACE_BIN_DIR to the programs of a build"
        )
    if set(str(library)) & set(" :"):
        raise CommandError(
            f"{library}: LD_PRELOAD takes no path with a space or colon. Fix: install elsewhere"
        )
    return library


def clear(directory: Path) -> None:
    """Removes counts of an earlier program, and no other file."""
    for path in directory.glob("*.json*"):
        if COUNTS.fullmatch(path.name):
            path.unlink()
