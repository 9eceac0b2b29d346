# SPDX-License-Identifier: BSD-3-Clause
"""Where the native programs are, and which launcher belongs to them."""

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tailrace.console import CommandError

PACKAGE = Path(__file__).resolve().parent
# What the programs of some simulations need beside what all need.
NEEDS = {"heat": "p4est for the MPI in use (Debian: libp4est-dev, for Open MPI)"}
NOT_SIMULATIONS = ("bench", "checkpoint", "devices", "fragments", "placement", "transports", "writer")


@dataclass(frozen=True)
class LaunchInfo:
    """What the build wrote about its MPI: implementation (openmpi, mpich, other), version and launcher."""

    implementation: str = "other"
    version: str = ""
    mpiexec: str = ""


def checkout_root() -> Path | None:
    """The source checkout this package runs from, or None when it is installed."""
    root = PACKAGE.parents[2]
    return root if (root / "CMakeLists.txt").is_file() and (root / "pyproject.toml").is_file() else None


def program_directories() -> list[Path]:
    """Where programs are looked for, best first: TAILRACE_BIN_DIR, the package, the checkout's build."""
    directories = []
    if named := os.environ.get("TAILRACE_BIN_DIR"):
        directories.append(Path(named))
    directories.append(PACKAGE / "bin")
    if root := checkout_root():
        directories.append(root / "build" / "bin")
    return directories


@functools.cache
def build(*names: str) -> None:
    """Has the start wrapper, if it started this command, build these programs of its checkout."""
    builder = os.environ.get("TAILRACE_BUILDER")
    if builder and "TAILRACE_BIN_DIR" not in os.environ:
        status = subprocess.run([builder, "--build", *names], check=False).returncode
        if status != 0:
            sys.exit(status)


def find_program(name: str) -> Path | None:
    """The program of this name, built first in a checkout. Simulations start tailrace-writer themselves."""
    simulation = name.removeprefix("tailrace-")
    if simulation in simulations_of_checkout():
        build(name, "tailrace-writer")
    elif simulation in NOT_SIMULATIONS:
        build(name)
    return found_program(name)


def found_program(name: str) -> Path | None:
    for directory in program_directories():
        program = directory / name
        if program.is_file() and os.access(program, os.X_OK):
            return program.absolute()
    return None


def find_library(name: str, target: str = "") -> Path | None:
    """The library libNAME.so that is loaded into programs, built first in a checkout, by its own name or as
    this target.
    """
    build(target or name)
    paths = (directory / f"lib{name}.so" for directory in program_directories())
    return next((path.absolute() for path in paths if path.is_file()), None)


def simulations_of_checkout() -> set[str]:
    """The simulations whose programs the checkout would build: a directory of `sims` each."""
    root = checkout_root()
    return {path.parent.name for path in root.glob("sims/*/CMakeLists.txt")} if root else set()


def known_simulations() -> list[str]:
    """The simulations whose programs are there or can be built."""
    names = simulations_of_checkout() if "TAILRACE_BUILDER" in os.environ else set()
    for directory in program_directories():
        for program in directory.glob("tailrace-*"):
            name = program.name.removeprefix("tailrace-")
            if (
                program.suffix == ""
                and os.access(program, os.X_OK)
                and name.split("-")[0] not in NOT_SIMULATIONS
            ):
                names.add(name)
    return sorted(names)


def simulation_program(simulation: str, origin: str) -> Path:
    """The program of a simulation; origin says, for the message, who asked for it."""
    program = find_program(f"tailrace-{simulation}")
    if program is not None:
        return program
    if simulation in NEEDS:
        raise CommandError(f"{origin}: tailrace-{simulation} was not built: it needs {NEEDS[simulation]}.")
    known = known_simulations()
    if not known:
        places = ", ".join(str(directory) for directory in program_directories())
        raise CommandError(f"no native programs found in {places}. Build them, or set TAILRACE_BIN_DIR.")
    raise CommandError(f'{origin}: simulation "{simulation}" is unknown. Known: {", ".join(known)}.')


def launch_info(program: Path) -> LaunchInfo:
    """What lies beside the program about its MPI; nothing known when the file is not there."""
    path = program.parent / "tailrace-launch.json"
    if not path.is_file():
        return LaunchInfo()
    try:
        return LaunchInfo(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise CommandError(f"{path}: damaged: {error}. Fix: build again") from None
