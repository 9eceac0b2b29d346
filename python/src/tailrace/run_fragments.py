# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace run PROGRAM.fa`: compiles a program of the fragment language and runs it on all ranks.

Its standard output is that of the command; all that the command says goes to standard error. With --json the
account alone is on standard output. The run directory has what every run's has.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tailrace.account import headline, how_it_ended, was_killed, write_account
from tailrace.casefile import PROGRAM_SOURCE, PYTHON_PROGRAM, refuse_directory
from tailrace.console import EXIT_BAD_INPUT, EXIT_OK, EXIT_RUN_FAILED, EXIT_STOPPED, CommandError, taken
from tailrace.fragments.compile import Source, compile_with_files
from tailrace.fragments.folders import may_write, passing_folder
from tailrace.fragments.problems import Problems
from tailrace.fragments.record import ended_account, new_account, problems_said
from tailrace.job import MESSAGES_KEPT, Job, JobResult
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
from tailrace.programs import find_library, find_program, launch_info, program_directories
from tailrace.progress import PlainProgress
from tailrace.run_files import RunAccount
from tailrace.run_lock import LOCK, held

NATIVE = "tailrace-fragments"
# What a run directory has for one that resumes it.
START_FILE, CHECKPOINTS, KEPT_PROGRAM = "start.json", "checkpoints", "program"
TRACES = "trace"
STATUS_FILE = "status"
STOPPED = re.compile(r"stopped in good order \((.*)\)")
# The options of `tailrace run` that a program knows; those of a source, which one that is compiled has not.
COMMON_OPTIONS = {"case", "arguments", "ranks", "threads", "bind", "launcher", "oversubscribe"}
COMMON_OPTIONS |= {"balance", "live_fragments", "live_bytes", "depth"}
OF_CHECKPOINTS = {"checkpoint_every", "checkpoint_every_s", "wall_limit"}
COMMON_OPTIONS |= OF_CHECKPOINTS | {"trace"}
COMMON_OPTIONS |= {"out", "overwrite", "no_report", "json"}
SOURCE_OPTIONS = {
    "defines",
    "warnings",
    "cpp_directories",
    "cpp_sources",
    "debug",
    "unoptimised",
    "build_dir",
    "as_luna",
}
NO_OUTPUTS = "a fragment program has no outputs but its standard output so far"
REASONS = {
    "settings": "a fragment program has no keys. Fix: its arguments behind its name, or -D for macros",
    "write": NO_OUTPUTS,
    "sink": NO_OUTPUTS,
    "exchange": "the ranks of a fragment program send each other messages, for which there is one transport",
    "device": "fragments run on the processor",
    "pace": NO_OUTPUTS,
    "allow_outside": NO_OUTPUTS,
    "check": "it has no case that a run could check. Fix: tailrace compile --check PROGRAM.fa",
    "fault": "fragment programs know no faults but those of tailrace-fragments --fault",
    "profile": "only runs of cases start the message profiler. Fix: tailrace compile, then tailrace profile "
    "messages -- tailrace-fragments PROGRAM.so",
}


@dataclass(frozen=True)
class ProgramRequest:
    """What `tailrace run` was asked; the program is a source, a shared object or a serialised form."""

    source: Source
    arguments: Sequence[str] = ()
    ranks: int = 1
    threads: int = 1
    """Threads of each rank that run bodies."""
    bind: str = "auto"
    launcher: str | None = None
    oversubscribe: bool = False
    out: Path | None = None
    """The run directory to make; None: the first of runs/NAME, runs/NAME-2, ... that is free."""
    name: str = ""
    """Of that directory; the program's if it is empty."""
    overwrite: bool = False
    report: bool = True
    json: bool = False
    trace: bool = False
    """Whether the run directory has traces."""
    resumes: bool = False
    """The run directory has a checkpoint to begin with."""
    lock: int | None = None
    """The descriptor by which the run holds its directory."""
    native_options: dict[str, str] = field(default_factory=dict)
    """Options of the native program: name -> value."""


def check_options(program: Path, given: dict[str, str]) -> None:
    """Raises CommandError for an option that means nothing to the program; `given`: name in Python -> as it
    is written.
    """
    in_python = program.suffix == PYTHON_PROGRAM
    of_source = SOURCE_OPTIONS if program.suffix == PROGRAM_SOURCE else {"warnings"} if in_python else set()
    for name in (name for name in given if name not in COMMON_OPTIONS | of_source):
        why = "it is in Python" if in_python else "it is compiled already"
        raise CommandError(
            f"{given[name]}: not for {program}: {why if name in SOURCE_OPTIONS else REASONS[name]}."
        )


def run_program(request: ProgramRequest) -> int:
    """The whole command; returns the exit status."""
    check_bind(request.bind)
    refuse_directory(request.source.program)
    if not request.source.program.is_file():
        raise CommandError(f"{request.source.program}: there is no such program.")
    source = request.source
    account = new_account(source.program, request.arguments, source.defines, request.ranks, request.threads)
    with made(request.source) as (file, problems, files):
        found = [one.as_dict() for one in problems.shown()]
        if file is None:
            return end(request, ended_account(account, EXIT_BAD_INPUT, 0.0, "", found))
        with run_directory(request) as (out, lock):
            request = replace(request, out=out, lock=lock)
            return run_file(request, keep(request, file, account, files), account, found)


def keep(request: ProgramRequest, file: Path, account: RunAccount, files: Sequence[Path]) -> Path:
    """Leaves in the run directory all that it takes to resume the run; returns the program there."""
    assert request.out is not None
    kept = request.out / f"{KEPT_PROGRAM}{file.suffix}"
    shutil.copyfile(file, kept)
    of_python = request.out / f"{KEPT_PROGRAM}{PYTHON_PROGRAM}"
    of_python.unlink(missing_ok=True)
    if request.source.program.suffix == PYTHON_PROGRAM:
        shutil.copyfile(request.source.program, of_python)
    start = {
        "program": NATIVE,
        "arguments": [*request.arguments],
        "directory": str(Path.cwd()),
        "ranks": request.ranks,
        "threads": request.threads,
        "options": request.native_options,
        "account": account,
        "digests": digests([kept, *files]),
    }
    (request.out / START_FILE).write_text(json.dumps(start, indent=2) + "\n")
    return kept


def digests(files: Iterable[Path]) -> dict[str, str]:
    return {str(path.absolute()): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@contextmanager
def made(source: Source) -> Iterator[tuple[Path | None, Problems, list[Path]]]:
    """What the native program takes: an object that is there for the run, or what was compiled before. None
    if the source has errors, which are said. Also the files that it was made of.
    """
    if source.program.suffix not in (PROGRAM_SOURCE, PYTHON_PROGRAM):
        yield source.program, Problems(), []
        return
    with passing_folder("programs") as folder:
        form = ".json" if source.program.suffix == PYTHON_PROGRAM else ".so"
        target = folder / f"{source.program.stem}{form}"
        problems, files = compile_with_files(source, target)
        if text := problems.as_text():
            print(text, file=sys.stderr)
        yield None if problems.errors else target, problems, files


@contextmanager
def run_directory(request: ProgramRequest) -> Iterator[tuple[Path, int]]:
    """The run directory, which does not stay if nothing has been written into it, and the descriptor by which
    it is held.
    """
    try:
        out = chosen_directory(request)
    except OSError as error:
        raise CommandError(
            f"{error.filename}: the run directory cannot be made: {error.strerror}. Fix: --out DIR elsewhere"
        ) from None
    with held(out) as lock:
        clear(out)
        try:
            yield out, lock
        finally:
            if not (out / "run.json").exists():
                remove_unused(out, request)


def remove_unused(out: Path, request: ProgramRequest) -> None:
    for left in (out / START_FILE, out / LOCK, *out.glob(f"{KEPT_PROGRAM}.*")):
        left.unlink(missing_ok=True)
    shutil.rmtree(out / TRACES, ignore_errors=True)
    with suppress(OSError):
        out.rmdir()
        if request.out is None:
            out.parent.rmdir()


def clear(out: Path) -> None:
    """Removes what an earlier run left."""
    for name in (CHECKPOINTS, TRACES):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in ("run.json", "report.html", START_FILE):
        (out / name).unlink(missing_ok=True)


def chosen_directory(request: ProgramRequest) -> Path:
    """Makes the run directory. Of several runs at once each has its own."""
    if request.out is not None and request.out.exists() and not request.overwrite:
        raise taken(request.out)
    first = request.out or Path("runs") / (request.name or request.source.program.stem)
    if request.out is not None or request.overwrite:
        first.mkdir(parents=True, exist_ok=True)
        if not may_write(first):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(first))
        return first
    number = 1
    while True:
        out = first.with_name(f"{first.name}-{number}") if number > 1 else first
        with suppress(FileExistsError):
            out.mkdir(parents=True)
            return out
        number += 1


def run_file(request: ProgramRequest, file: Path, account: RunAccount, problems: list[dict[str, Any]]) -> int:
    """Runs what was compiled, in its run directory; `problems` are those of the source."""
    assert request.out is not None
    native = native_program()
    layout = Layout(request.ranks, request.threads, request.bind, oversubscribe=request.oversubscribe)
    check_processes(layout)
    launcher = find_launcher(launch_info(native), request.launcher, request.ranks)
    options = [f"--{name}={value}" for name, value in request.native_options.items()]
    target = sys.stderr.fileno() if request.json else None
    shown = KeptLines()
    with passing_folder("accounts") as folder:
        options += ["-t", str(request.threads), f"--account={folder / 'account.json'}"]
        options.append(status_option(folder))
        ready = folder / "ready"
        options += [f"--checkpoints={request.out.absolute() / CHECKPOINTS}", f"--ready={ready}"]
        if request.trace:
            shutil.rmtree(request.out / TRACES, ignore_errors=True)  # of the run that is resumed
            (request.out / TRACES).mkdir()
            options += [f"--trace={request.out.absolute()}"]
        options += ["--resume"] * request.resumes + python_bodies(request, account)
        words = [str(native), *options, str(file.absolute()), *request.arguments]
        command = launch_command(launcher, layout, words)
        started = time.time()
        how = (command, environment(launcher, layout), launcher, None, shown)
        result = reported(Job(*how, output_to=target, ready=ready, lock=request.lock).run(), folder)
        account |= native_account(folder / "account.json")
    said = [*problems, *problems_said(shown.lines)]
    why = reason(result, shown.lines)
    account = ended_account(account, exit_status(result), time.time() - started, why, said)
    return end(request, account)


def status_option(folder: Path) -> str:
    """Has the native program write its exit status: Open MPI's launcher waits a second or two before it ends
    with one that is not 0.
    """
    return f"--status-file={folder / STATUS_FILE}"


def reported(result: JobResult, folder: Path) -> JobResult:
    """How a job ended, with the status that its program wrote, if it came to that."""
    path = folder / STATUS_FILE
    if result.returncode != EXIT_OK or not path.is_file():
        return result
    return replace(result, returncode=int(path.read_text()))


def python_bodies(request: ProgramRequest, account: RunAccount) -> list[str]:
    """The options by which ranks have the bodies of a program in Python, which is in the run directory."""
    assert request.out is not None
    text = request.out.absolute() / f"{KEPT_PROGRAM}{PYTHON_PROGRAM}"
    if not text.is_file():
        return []
    if request.threads > 1:
        raise CommandError(
            f"-t {request.threads}: bodies in Python run one at a time on each rank. Fix: more ranks (-n)"
        )
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    library = find_library(f"tailrace_python-{version}", "tailrace_python")
    if library is None:
        raise CommandError(
            f"libtailrace_python-{version}.so is missing: it runs bodies in Python, and takes nanobind and a "
            "Python with headers and a shared library (Debian: python3-dev). Fix: install these, build again"
        )
    words = (sys.executable, str(text), account["config"]["program"]["file"])
    return [f"--bodies={library}", "--bodies-argument=" + "\n".join(words)]


def native_account(path: Path) -> RunAccount:
    """What the ranks have written of themselves; nothing if they did not come to that."""
    return {"fragments": json.loads(path.read_text())} if path.is_file() else {}


class KeptLines(PlainProgress):
    """What is shown of a job, without the launcher's own words, is also kept."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=MESSAGES_KEPT)

    def say(self, line: str) -> None:
        self.lines.append(line)
        super().say(line)


def native_program() -> Path:
    program = find_program(NATIVE)
    if program is None:
        places = ", ".join(map(str, program_directories()))
        raise CommandError(f"{NATIVE} is not in {places}. Build it, or set TAILRACE_BIN_DIR.")
    return program


def environment(launcher: Launcher, layout: Layout) -> dict[str, str]:
    bind = "none" if launcher.kind == "none" else resolve_bind(layout)
    return child_environment(layout.threads, bind, layout.machine.busy)


def exit_status(result: JobResult) -> int:
    known = result.returncode in (EXIT_OK, EXIT_BAD_INPUT, EXIT_STOPPED)
    return result.returncode if known else EXIT_RUN_FAILED


def end(request: ProgramRequest, account: RunAccount) -> int:
    """Says how the program ended, if it began, and keeps its account; returns the exit status."""
    began = account["exit_status"] != EXIT_BAD_INPUT
    if began:
        # What the program has said itself is not said again.
        killed = account.get("error", {}).get("kind") == "killed"
        print(headline(account if killed else account | {"reason": ""}), file=sys.stderr)
        if account["status"] == "stopped":
            print(f"resume it: tailrace resume {request.out}", file=sys.stderr)
    if began:
        assert request.out is not None
        write_account(request.out, account)
        from tailrace.run import make_report  # with what draws pages

        if request.report and (report := make_report(request.out)):
            print(f"report: {report}", file=sys.stderr)
    if request.json:
        print(json.dumps(account, indent=2))
    return account["exit_status"]


def reason(result: JobResult, lines: Iterable[str]) -> str:
    """Why it failed, where the program could not say it itself, or why it stopped."""
    if result.returncode == EXIT_STOPPED:
        return next((found[1] for line in lines if (found := STOPPED.fullmatch(line))), "")
    if was_killed(result.returncode, result.messages):
        return how_it_ended(result.returncode, result.messages)[0]
    known = result.returncode in (EXIT_OK, EXIT_BAD_INPUT, EXIT_RUN_FAILED)
    return "" if known else f"the program ended with status {result.returncode}"
