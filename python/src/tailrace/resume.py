# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace resume`: resumes a run from its newest checkpoint, on any number of ranks."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from tailrace.account import read_account
from tailrace.case_options import refuse_foreign
from tailrace.casefile import npb_case, read_case
from tailrace.console import EXIT_OK, CommandError
from tailrace.launch import Layout, Machine, check_processes, default_threads, find_launcher
from tailrace.programs import find_program, launch_info
from tailrace.run import Plan, RunRequest, carry_out, check_case
from tailrace.run_files import COUNT, TEXT, read_table
from tailrace.run_lock import held
from tailrace.strategies import dedicated_ranks, spawned_processes

START_FILE = "start.json"
START = {"program": TEXT, "arguments": [TEXT], "directory": TEXT, "ranks": COUNT}


@dataclass(frozen=True)
class ResumeRequest:
    """What `tailrace resume` was asked; what is None stays as the run had it."""

    run_dir: Path
    ranks: int | None = None
    threads: int | None = None
    native_options: dict[str, str] = field(default_factory=dict)
    settings: list[str] = field(default_factory=list)
    """Keys that change, each as KEY=VALUE."""
    keys: dict[str, str] = field(default_factory=dict)
    """Of these: key -> option by which it was given."""
    bind: str = "auto"
    launcher: str | None = None
    oversubscribe: bool = False
    report: bool = True
    json: bool = False


@dataclass(frozen=True)
class Start:
    """How a run was started, as its program left it in start.json."""

    program: str
    arguments: list[str]
    directory: Path
    ranks: int
    executable: Path | None = None
    """Where the program was, if it is still there: one of one's own is nowhere else to be found."""

    def value(self, option: str) -> str | None:
        """What is behind an option, the last time it is given."""
        found = None
        for word, after in zip(self.arguments, self.arguments[1:], strict=False):
            if word == option:
                found = after
            elif word.startswith(f"{option}="):
                found = word.removeprefix(f"{option}=")
        return found

    def values(self, option: str) -> list[str]:
        pairs = zip(self.arguments, self.arguments[1:], strict=False)
        return [after for word, after in pairs if word == option]


def resume_run(request: ResumeRequest) -> int:
    """The whole command; returns the exit status."""
    with held(request.run_dir) as lock:
        check_unfinished(request.run_dir)
        plan, as_run = make_plan(request, read_start(request.run_dir))
        status = check_case(plan)
        return carry_out(as_run, replace(plan, lock=lock)) if status == EXIT_OK else status


def check_unfinished(run_dir: Path) -> None:
    account = read_account(run_dir)
    if (account or {}).get("status") == "finished":
        raise CommandError(f"{run_dir}: the run has finished: there is nothing to resume.")
    check_has_checkpoints(run_dir)


def check_has_checkpoints(run_dir: Path) -> None:
    if not run_dir.is_dir():
        raise CommandError(f"{run_dir}: there is no such run directory.")
    if not (run_dir / "checkpoints").is_dir():
        raise CommandError(
            f"{run_dir}: has no checkpoints to resume from. A run takes them as [checkpoint] of its case "
            "says, on SIGUSR1, and when it is stopped in good order."
        )


def read_start(run_dir: Path) -> Start:
    found = read_table(run_dir / START_FILE, START | {"executable": TEXT})
    missing = [key for key in START if key not in found.table]
    if missing:
        why = found.problems or [
            f"{run_dir / START_FILE}: " + (f"{missing[0]} is missing" if found.there else "it is missing")
        ]
        raise CommandError(
            f"{why[0]}. It says how the run was started. Fix: start the native program with --resume and its "
            "earlier options"
        )
    start = found.table
    executable = Path(start.get("executable", ""))
    words = without_faults(start["arguments"])
    there = executable if os.access(executable, os.X_OK) and executable.is_file() else None
    return Start(start["program"], words, Path(start["directory"]), start["ranks"], there)


def without_faults(words: list[str]) -> list[str]:
    """A failure that was put in on purpose has had its time."""
    faults = [at for at, word in enumerate(words) if word == "--fault"]
    left_out = {*faults, *(at + 1 for at in faults)}
    kept = [word for at, word in enumerate(words) if at not in left_out]
    return [word for word in kept if not word.startswith("--fault=")]


def make_plan(request: ResumeRequest, start: Start) -> tuple[Plan, RunRequest]:
    """What to start, and the same as a request for a run, for the account of one that dies."""
    program = find_program(start.program) or start.executable
    if program is None:
        raise CommandError(f"{start.program} is not found. Build it, or set TAILRACE_BIN_DIR.")
    case_name = start.value("--case") or npb_case(start.arguments)
    if case_name is None:
        raise CommandError(
            f"{request.run_dir}: the run had no case file; start {start.program} with --resume."
        )
    run_dir = request.run_dir.absolute()
    settings = [*start.values("--set"), *request.settings]
    case = read_case(start.directory / case_name, settings)
    refuse_foreign(program, case, request.native_options, request.keys)
    ranks = request.ranks or start.ranks
    machine = Machine.here()
    threads = request.threads or default_threads(ranks, os.environ, machine)
    strategy = request.native_options.get("write") or start.value("--write") or case.strategy
    world = ranks + dedicated_ranks(strategy)
    launcher = find_launcher(launch_info(program), request.launcher, world)
    words = [str(program), *start.arguments, "--out", str(run_dir), "-t", str(threads), "--resume"]
    words += [word for setting in request.settings for word in ("--set", setting)]
    for name, value in request.native_options.items():
        words += [f"--{name}", value]
    layout = Layout(world, threads, request.bind, machine, spawned_processes(strategy), request.oversubscribe)
    check_processes(layout)
    as_run = RunRequest(
        case=case.path,
        ranks=ranks,
        threads=threads,
        out=run_dir,
        settings=settings,
        native_options=request.native_options,
        bind=request.bind,
        report=request.report,
        json=request.json,
    )
    transport = request.native_options.get("exchange") or start.value("--exchange") or case.transport
    return Plan(case, words, launcher, layout, run_dir, start.directory, transport), as_run
