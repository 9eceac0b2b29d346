# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints in the formats of other programs, which the program of the simulation reads and writes."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tailrace.account import how_it_ended
from tailrace.casefile import read_case
from tailrace.checkpoints.listing import list_checkpoints
from tailrace.console import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, EXIT_RUN_FAILED, CommandError
from tailrace.job import QuietLauncher, run_to_end
from tailrace.kwave import FileError
from tailrace.launch import (
    Launcher,
    Layout,
    Machine,
    child_environment,
    default_threads,
    find_launcher,
    launch_command,
)
from tailrace.programs import find_program, known_simulations, launch_info, simulation_program
from tailrace.resume import START_FILE, Start, read_start

# An option of native programs whose simulation knows foreign formats, with their names.
OFFERS = re.compile(r"--checkpoint-format (\S+)")
OURS = "tailrace"
NAME_ONE = "Name its run with --run DIR, or its case with --case FILE."


@dataclass(frozen=True)
class ConvertRequest:
    """What `tailrace checkpoint convert` was asked."""

    source: Path
    target: Path
    format: str
    run_dir: Path | None = None
    case: Path | None = None
    ranks: int = 1


def convert_checkpoint(request: ConvertRequest) -> int:
    """The whole command; returns the exit status."""
    start = find_start(request)
    program = find_program(start.program)
    if program is None:
        raise CommandError(f"{start.program} is not found. Build it, or set TAILRACE_BIN_DIR.")
    if not formats_of(program):
        raise CommandError(f"{program.name} knows no other format of checkpoints than Tailrace's own.")
    words = [str(program), *start.arguments, "--checkpoint-from", str(choose_source(request.source))]
    words += ["--checkpoint-to", str(request.target.absolute()), "--checkpoint-format", request.format]
    status = start_program(program, words, start, request.ranks)
    if status == EXIT_BAD_INPUT and not start.arguments:
        print(f"{request.source}: no run was named, nor found. {NAME_ONE}", file=sys.stderr)
    return status


def find_start(request: ConvertRequest) -> Start:
    """Which program, with which options before those of the conversion: as of the run to which the checkpoint
    belongs, whose input and options define the state, or of its case. Files of some formats need neither.
    """
    if request.case is not None:
        case = read_case(request.case, [])
        program = simulation_program(case.simulation, str(request.case))
        return Start(program.name, ["--case", str(request.case.absolute())], Path.cwd(), request.ranks)
    run_dir = request.run_dir or find_run(request)
    if run_dir is not None:
        return read_start(run_dir)
    if request.format != OURS and not request.source.is_dir():
        return Start(program_for(request.format), [], Path.cwd(), request.ranks)
    raise CommandError(
        f"{request.source}: of which run? Neither this nor {request.target} lies in a run directory. "
        f"{NAME_ONE}"
    )


def program_for(wanted: str) -> str:
    """The first simulation's program that knows the format."""
    known: list[str] = []
    for name in (f"tailrace-{simulation}" for simulation in known_simulations()):
        program = find_program(name)
        formats = [] if program is None else formats_of(program)
        if wanted in formats:
            return name
        known += [one for one in formats if one not in known]
    raise CommandError(f"--to {wanted}: no simulation knows this format. Fix: one of {', '.join(known)}.")


def find_run(request: ConvertRequest) -> Path | None:
    """The directory of a run in which the source or the target lies."""
    for path in (request.source.absolute(), request.target.absolute()):
        for directory in (path, *path.parents):
            if (directory / START_FILE).is_file():
                return directory
    return None


def choose_source(source: Path) -> Path:
    """The newest checkpoint that looks whole, of a run directory; any other name as it is."""
    if not source.is_dir():
        return source.absolute()
    usable = [each for each in list_checkpoints(source) if each.usable and not each.partial]
    if not usable:
        raise FileError(f"{source}: no complete checkpoint is there. Fix: tailrace checkpoint list {source}")
    return usable[-1].path.absolute()


def formats_of(program: Path) -> list[str]:
    """Names of the formats that the simulation of a program knows; none if it knows no foreign ones."""
    reported = subprocess.run(
        [program, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    found = OFFERS.search(reported.stdout)
    return found[1].split("|") if found else []


def start_program(program: Path, words: list[str], start: Start, ranks: int) -> int:
    machine = Machine.here()
    layout = Layout(ranks, default_threads(ranks, os.environ, machine), "none", machine)
    launcher = find_launcher(launch_info(program), None, ranks) if ranks > 1 else Launcher("none")
    command = launch_command(launcher, layout, words)
    done = run_to_end(command, child_environment(layout.threads), start.directory)
    if done.returncode == EXIT_OK:
        sys.stdout.write(done.stdout)
        return EXIT_OK
    quiet = QuietLauncher()
    lines = [kept for line in done.stderr.splitlines() for kept in quiet.filter(line)]
    print(*lines, *quiet.rest(), sep="\n", file=sys.stderr)
    # Where nobody asked for a case, a bad command line ends the program with k-Wave's status 1.
    if done.returncode in (EXIT_NO, EXIT_BAD_INPUT):
        return EXIT_BAD_INPUT
    reason, _ = how_it_ended(done.returncode, [])
    raise CommandError(f"the checkpoint was not converted: {reason}.", EXIT_RUN_FAILED)
