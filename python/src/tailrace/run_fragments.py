# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace run PROGRAM.fa`: compiles a program of the fragment language and runs it on all ranks.

Its standard output is that of the command; all that the command says goes to standard error.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tailrace.account import headline, how_it_ended, was_killed
from tailrace.casefile import PROGRAM_SOURCE
from tailrace.console import EXIT_BAD_INPUT, EXIT_OK, EXIT_RUN_FAILED, CommandError
from tailrace.fragments.compile import Source, compile_source
from tailrace.fragments.folders import passing_folder
from tailrace.job import Job, JobResult
from tailrace.launch import (
    Launcher,
    Layout,
    check_bind,
    check_processes,
    child_environment,
    find_launcher,
    launch_command,
    resolve_bind,
)
from tailrace.programs import find_program, launch_info, program_directories
from tailrace.progress import PlainProgress

NATIVE = "tailrace-fragments"
# The options of `tailrace run` that a program knows; those of a source, which one that is compiled has not.
COMMON_OPTIONS = {"case", "arguments", "ranks", "bind", "launcher", "oversubscribe"}
SOURCE_OPTIONS = {"defines", "warnings", "cpp_directories", "cpp_sources"}
NO_DIRECTORY = "there is no run directory with an account and a report of a fragment program so far"
NO_OUTPUTS = "a fragment program has no outputs but its standard output so far"
REASONS = {
    "threads": "bodies run on one thread of each rank so far. Fix: -n for more ranks",
    "out": NO_DIRECTORY,
    "overwrite": NO_DIRECTORY,
    "no_report": NO_DIRECTORY,
    "json": f"{NO_DIRECTORY}; tailrace compile --json has errors and warnings",
    "settings": "a fragment program has no keys. Fix: its arguments behind its name, or -D for macros",
    "write": NO_OUTPUTS,
    "sink": NO_OUTPUTS,
    "exchange": "the ranks of a fragment program send each other messages, for which there is one transport",
    "pace": NO_OUTPUTS,
    "allow_outside": NO_OUTPUTS,
    "trace": "fragment programs leave no trace so far",
    "wall_limit": "a fragment program cannot stop in good order so far",
    "fault": "fragment programs know no faults but those of tailrace-fragments --fault",
    "profile": "Fix: tailrace compile, then tailrace profile messages -- tailrace-fragments PROGRAM.so",
}


@dataclass(frozen=True)
class ProgramRequest:
    """What `tailrace run` was asked; the program is a source, a shared object or a serialised form."""

    source: Source
    arguments: Sequence[str] = ()
    ranks: int = 1
    bind: str = "auto"
    launcher: str | None = None
    oversubscribe: bool = False


def check_options(program: Path, given: dict[str, str]) -> None:
    """Raises CommandError for an option that means nothing to the program; `given`: name in Python -> as it
    is written.
    """
    known = COMMON_OPTIONS | (SOURCE_OPTIONS if program.suffix == PROGRAM_SOURCE else set())
    for name in (name for name in given if name not in known):
        compiled = "it is compiled already" if name in SOURCE_OPTIONS else ""
        raise CommandError(f"{given[name]}: not for {program}: {compiled or REASONS[name]}.")


def run_program(request: ProgramRequest) -> int:
    """The whole command; returns the exit status."""
    check_bind(request.bind)
    if not request.source.program.is_file():
        raise CommandError(f"{request.source.program}: there is no such program.")
    with made(request.source) as file:
        return EXIT_BAD_INPUT if file is None else run_file(request, file)


@contextmanager
def made(source: Source) -> Iterator[Path | None]:
    """What the native program takes: an object that is there for the run, or what was compiled before. None
    if the source has errors, which are said.
    """
    if source.program.suffix != PROGRAM_SOURCE:
        yield source.program
        return
    with passing_folder("programs") as folder:
        target = folder / f"{source.program.stem}.so"
        problems = compile_source(source, target)
        if text := problems.as_text():
            print(text, file=sys.stderr)
        yield None if problems.errors else target


def run_file(request: ProgramRequest, file: Path) -> int:
    native = native_program()
    layout = Layout(request.ranks, 1, request.bind, oversubscribe=request.oversubscribe)
    check_processes(layout)
    launcher = find_launcher(launch_info(native), request.launcher, request.ranks)
    words = [str(native), str(file.absolute()), *request.arguments]
    command = launch_command(launcher, layout, words)
    started = time.time()
    result = Job(command, environment(launcher, layout), launcher, None, PlainProgress()).run()
    return say_end(request, result, time.time() - started)


def native_program() -> Path:
    program = find_program(NATIVE)
    if program is None:
        places = ", ".join(map(str, program_directories()))
        raise CommandError(f"{NATIVE} is not in {places}. Build it, or set TAILRACE_BIN_DIR.")
    return program


def environment(launcher: Launcher, layout: Layout) -> dict[str, str]:
    bind = "none" if launcher.kind == "none" else resolve_bind(layout)
    return child_environment(layout.threads, bind, layout.machine.busy)


def say_end(request: ProgramRequest, result: JobResult, wall_s: float) -> int:
    """Says how the program ended, unless it never began; returns the exit status."""
    if result.returncode == EXIT_BAD_INPUT:
        return EXIT_BAD_INPUT
    status = "finished" if result.returncode == EXIT_OK else "failed"
    account = {"status": status, "wall_s": wall_s, "ranks": request.ranks, "reason": reason(result)}
    print(headline(account), file=sys.stderr)
    return EXIT_OK if status == "finished" else EXIT_RUN_FAILED


def reason(result: JobResult) -> str:
    """Why it failed, where the program could not say it itself."""
    if was_killed(result.returncode, result.messages):
        return how_it_ended(result.returncode, result.messages)[0]
    known = result.returncode in (EXIT_OK, EXIT_RUN_FAILED)
    return "" if known else f"the program ended with status {result.returncode}"
