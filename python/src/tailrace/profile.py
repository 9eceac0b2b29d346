# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace profile messages`: starts a program with the message profiler, and shows what it counted."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tailrace.console import EXIT_OK, EXIT_RUN_FAILED, CommandError, taken
from tailrace.launch import (
    Layout,
    check_bind,
    check_processes,
    find_launcher,
    launch_command,
    root_permission,
)
from tailrace.messages.balance import summary
from tailrace.messages.classes import POWERS, Rates, parse_classes
from tailrace.messages.counts import Profile, read_profile
from tailrace.messages.pairs import profile_text, read_pairs_file
from tailrace.messages.preload import COUNTS, clear, profiled, profiler
from tailrace.messages.show import print_profile, print_sizes
from tailrace.programs import launch_info
from tailrace.units import wide_console

PAIRS, PAGE = "messages.txt", "messages.html"
NOBODY = (
    "no process has counted a message. Is it an MPI program, linked dynamically, with the MPI that Tailrace "
    "was built with? One that is linked with a profiler of its own, or that uses MPI sessions or, under "
    "MPICH, `use mpi_f08`, cannot be observed"
)


@dataclass(frozen=True)
class Request:
    """How the counts are shown."""

    classes: str = POWERS
    rates: Path | None = None
    json: bool = False

    def measured(self) -> Rates | None:
        return read_rates(self.rates) if self.rates else None


@dataclass(frozen=True)
class Start:
    """What is started, and how."""

    program: list[str]
    ranks: int
    out: Path | None
    bind: str
    launcher: str | None
    oversubscribe: bool
    overwrite: bool = False


def read_rates(path: Path) -> Rates:
    """Sizes with messages per second."""
    try:
        pairs = json.loads(path.read_text(encoding="utf-8"))["rates"]
        found = [(float(size), float(rate)) for size, rate in pairs]
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise CommandError(
            f"--rates {path}: {error}. Give JSON with rates: [[size, messages/s], ...]."
        ) from None
    if not found or any(size < 0 or not 0 < rate < float("inf") for size, rate in found):
        raise CommandError(
            f"--rates {path}: rates: sizes and rates must be positive, and there must be some."
        )
    return found


def show_known(path: Path, request: Request, program: list[str]) -> None:
    """A directory of counts, or a text of pairs."""
    if program:
        raise CommandError(f"--read {path}: shows what is there; leave out {program[0]!r}.")
    if path.is_dir():
        show(read_counts(path), request)
        return
    sizes = read_pairs_file(path)
    if not sizes.total.messages:
        raise CommandError(f"{path}: no pairs count:size are there.")
    if request.json:
        print(json.dumps({"sizes": sorted(sizes.exact.items()), **sizes.total.as_dict()}))
        return
    print_sizes(sizes, request.classes, request.measured(), str(path), wide_console())


def start_and_show(start: Start, request: Request) -> int:
    """Returns the exit status: 3 if the program failed, after what it counted was shown."""
    command, directory = command_of(start, request)
    print(f"tailrace: {shlex.join(command)}", file=sys.stderr)
    status = subprocess.run(command, env=dict(os.environ) | root_permission(), check=False).returncode
    if status != 0:
        print(f"tailrace: the program ended with status {status}", file=sys.stderr)
    profile = read_counts(directory)
    (directory / PAIRS).write_text(profile_text(profile))
    show(profile, request)
    write_profile_page(directory / PAGE, profile, request, start.program)
    print(f"tailrace: {directory / PAGE}", file=sys.stderr)
    return EXIT_OK if status == 0 else EXIT_RUN_FAILED


def command_of(start: Start, request: Request) -> tuple[list[str], Path]:
    """The whole command line, and the directory of the counts. Whatever can be wrong is found out here."""
    if not start.program:
        raise CommandError(
            "no program. Give one after --, such as: tailrace profile messages -n 2 -- ./program"
        )
    if shutil.which(start.program[0]) is None:
        raise CommandError(f"{start.program[0]}: there is no such program.")
    directory = start.out or free_directory()
    check_directory(directory, start.overwrite)
    parse_classes(request.classes, 0)
    request.measured()
    check_bind(start.bind)
    library = profiler()
    launcher = find_launcher(launch_info(library), start.launcher, start.ranks)
    layout = Layout(start.ranks, 1, start.bind, oversubscribe=start.oversubscribe)
    check_processes(layout)
    clear(directory)
    directory.mkdir(parents=True, exist_ok=True)
    return launch_command(launcher, layout, profiled(directory, start.program)), directory


def check_directory(directory: Path, overwrite: bool) -> None:
    """Raises CommandError for a directory in which counts would replace, or be among, what is there."""
    names = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
    others = [name for name in names if name not in (PAIRS, PAGE) and not COUNTS.fullmatch(name)]
    if others or (directory.exists() and not directory.is_dir()):
        what = f"has {others[0]}, which is of no profile" if others else "is no directory"
        raise CommandError(f"--out {directory}: {what}. Name another --out.")
    if names and not overwrite:
        raise taken(directory)


def free_directory() -> Path:
    """The first of messages, messages-2, ... that is not there."""
    path, number = Path("messages"), 2
    while path.exists():
        path, number = Path(f"messages-{number}"), number + 1
    return path


def read_counts(directory: Path) -> Profile:
    profile = read_profile(directory)
    if not profile.processes:
        raise CommandError("; ".join([*profile.problems, f"{directory}: {NOBODY}."]), EXIT_RUN_FAILED)
    return profile


def show(profile: Profile, request: Request) -> None:
    for problem in profile.problems:
        print(f"tailrace: warning: {problem}", file=sys.stderr)
    if request.json:
        print(json.dumps(summary(profile), indent=2))
    else:
        print_profile(profile, request.classes, request.measured(), wide_console())


def write_profile_page(path: Path, profile: Profile, request: Request, program: list[str]) -> None:
    from tailrace.report.messages_section import messages_section
    from tailrace.report.page import write_page

    hosts = sorted({process.host for process in profile.processes})
    facts = [
        ("program", shlex.join(program)),
        ("ranks", str(len(profile.ranks))),
        ("hosts", ", ".join(hosts)),
        ("MPI", profile.processes[0].mpi),
    ]
    section = messages_section(profile, request.classes, request.measured())
    title, subtitle = f"Messages of {Path(program[0]).name}", f"{len(profile.ranks)} ranks"
    write_page(path, title, subtitle, [section], facts=facts)
