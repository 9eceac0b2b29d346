# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace run`: checks a case, runs the native program on its ranks, follows it, says how it went."""

import json
import os
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tailrace.account import (
    add_to_account,
    how_it_ended,
    read_account,
    summary,
    was_killed,
    write_failed_account,
)
from tailrace.case_options import refuse_foreign
from tailrace.casefile import Case, make_input, read_case
from tailrace.console import (
    EXIT_BAD_INPUT,
    EXIT_NO,
    EXIT_OK,
    EXIT_RUN_FAILED,
    EXIT_STOPPED,
    CommandError,
    count_of,
    taken,
)
from tailrace.job import Job, JobResult, run_to_end
from tailrace.launch import (
    Launcher,
    Layout,
    Machine,
    check_processes,
    child_environment,
    default_threads,
    find_launcher,
    launch_command,
    resolve_bind,
    transport_environment,
)
from tailrace.messages.counts import read_profile
from tailrace.messages.preload import clear, profiled
from tailrace.programs import launch_info, simulation_program
from tailrace.progress import make_progress
from tailrace.run_files import RunAccount
from tailrace.run_lock import claimed, is_unused
from tailrace.strategies import dedicated_ranks, spawned_processes

# Files by which a run describes itself: those of a replaced run must not be taken for the new one's.
ACCOUNT_FILES = ("run.json", "progress.json", "report.html")
# The directory of a run that has what the message profiler counted.
MESSAGES = "messages"
# How a run ended that wrote all that it had to.
COMPLETE = ("finished", "stopped")


@dataclass(frozen=True)
class RunRequest:
    """What `tailrace run` was asked; native_options go to the native program as they are."""

    case: Path
    ranks: int = 1
    threads: int | None = None
    out: Path | None = None
    settings: list[str] = field(default_factory=list)
    native_options: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """Of settings that were given by options: key -> option."""
    bind: str = "auto"
    launcher: str | None = None
    oversubscribe: bool = False
    allow_outside: bool = False
    overwrite: bool = False
    profile: str | None = None
    check: bool = False
    report: bool = True
    json: bool = False


KEY_OF_OPTION = {
    "write": ("write", "strategy"),
    "sink": ("write", "sink"),
    "exchange": ("exchange", "transport"),
    "trace": ("trace", "mode"),
}


@dataclass(frozen=True)
class Plan:
    """A request with everything decided: what to run, how, and where."""

    case: Case
    program: list[str]
    launcher: Launcher
    layout: Layout
    run_dir: Path
    directory: Path | None = None
    """Where the program is started, if not here: its words may name files from there."""
    transport: str | None = None
    """Of exchanges, if the request or the case names one."""
    lock: int | None = None
    """The descriptor by which the run holds its directory."""

    def environment(self) -> dict[str, str]:
        bind = "none" if self.launcher.kind == "none" else resolve_bind(self.layout)
        general = child_environment(self.layout.threads, bind, self.layout.machine.busy)
        return general | transport_environment(self.transport)


def run_case(request: RunRequest) -> int:
    """The whole command; returns the exit status."""
    plan = make_plan(request)
    program = profiled_program(request, plan)
    make_input(plan.case)
    status = check_case(plan, shows_warnings=request.check)
    if status != EXIT_OK:
        return status
    if request.check:
        print(f"{request.case}: no errors, on {count_of(plan.layout.ranks, 'rank')}")
        return EXIT_OK
    with claimed(plan.run_dir, request.overwrite) as lock:
        for name in ACCOUNT_FILES:
            (plan.run_dir / name).unlink(missing_ok=True)
        clear(plan.run_dir / MESSAGES)
        # The directory is there: we hold it. Other files that are in the way, the check has refused.
        words = program if request.overwrite else [*program, "--overwrite"]
        return carry_out(request, replace(plan, program=words, lock=lock))


def profiled_program(request: RunRequest, plan: Plan) -> list[str]:
    """The words of the program, behind those that start it with the profiler."""
    if request.profile not in (None, "messages"):
        raise CommandError(f"--profile {request.profile}: unknown. There is: messages.")
    return profiled(plan.run_dir / MESSAGES, plan.program) if request.profile else plan.program


def carry_out(request: RunRequest, plan: Plan) -> int:
    """Starts what is planned and follows it to its end; returns the exit status."""
    command = launch_command(plan.launcher, plan.layout, [*plan.program, "--quiet"])
    started = time.time()
    earlier = read_account(plan.run_dir)
    with make_progress() as progress:
        where = (plan.launcher, plan.run_dir, progress, plan.directory)
        result = Job(command, plan.environment(), *where, lock=plan.lock).run()
    account = finalize_account(request, plan, result, started, earlier)
    if account is None:
        raise CommandError(
            f"{how_it_ended(result.returncode, result.messages)[0]}.", exit_status(result, account)
        )
    if died_late(result, account):
        reason, _ = how_it_ended(result.returncode, result.messages)
        print(f"tailrace: warning: {reason}, after the run had {account['status']}.", file=sys.stderr)
    if request.profile:
        account = add_to_account(plan.run_dir, account, "messages", counted_messages(plan.run_dir))
    print_summary(request, plan.run_dir, account)
    return exit_status(result, account)


def make_plan(request: RunRequest) -> Plan:
    case = read_case(request.case, request.settings)
    program = simulation_program(case.simulation, str(case.path))
    refuse_foreign(program, case, request.native_options, request.keys)
    machine = Machine.here()
    threads = request.threads or default_threads(request.ranks, os.environ, machine)
    # -n counts the ranks that compute; those that only write come on top.
    strategy = request.native_options.get("write", case.strategy)
    ranks = request.ranks + dedicated_ranks(strategy)
    launcher = find_launcher(launch_info(program), request.launcher, ranks)
    run_dir = choose_run_dir(request)
    words = [str(program), *case.words(), "--out", str(run_dir), "-t", str(threads)]
    for setting in request.settings:
        words += ["--set", setting]
    for name, value in request.native_options.items():
        words += [f"--{name}", value]
    if request.bind == "none":  # else the launcher binds ranks, and they their writers
        words += ["--bind", "none"]
    if request.overwrite:
        words.append("--overwrite")
    if request.allow_outside:
        words.append("--allow-outside")
    layout = Layout(ranks, threads, request.bind, machine, spawned_processes(strategy), request.oversubscribe)
    check_processes(layout)
    transport = request.native_options.get("exchange") or case.transport
    return Plan(case, words, launcher, layout, run_dir, transport=transport)


def choose_run_dir(request: RunRequest) -> Path:
    """--out, or the first of runs/CASE, runs/CASE-2, ... that is free."""
    if request.out is not None:
        if request.out.exists() and not request.overwrite:
            raise taken(request.out)
        return request.out
    first = Path("runs") / request.case.stem.replace(":", "-")
    if request.overwrite or not first.exists():
        return first
    number = 2
    while (run_dir := first.with_name(f"{first.name}-{number}")).exists():
        number += 1
    return run_dir


def check_case(plan: Plan, *, shows_warnings: bool = False) -> int:
    """Lets one process of the native program look at the case before anything is made; its words go out as
    they are. Warnings about a case without errors are left to the run, unless they are to be shown.
    """
    words = [*plan.program, "--check", "--ranks", str(plan.layout.ranks)]
    done = run_to_end(words, plan.environment(), plan.directory)
    if done.returncode != EXIT_OK or shows_warnings:
        sys.stderr.write(done.stdout + done.stderr)
    if done.returncode == EXIT_OK:
        return EXIT_OK
    if done.returncode == EXIT_BAD_INPUT:
        return EXIT_BAD_INPUT
    reason, _ = how_it_ended(done.returncode, [])
    raise CommandError(f"{plan.case.path}: the check of the case failed: {reason}.", EXIT_RUN_FAILED)


def as_tables(options: dict[str, str]) -> dict[str, Any]:
    """Options by the keys of a case that they set, as the native program writes them; others by their
    names.
    """
    found: dict[str, Any] = {}
    for name, value in options.items():
        table, key = KEY_OF_OPTION.get(name, (None, name))
        (found if table is None else found.setdefault(table, {}))[key] = value
    return found


def finalize_account(
    request: RunRequest, plan: Plan, result: JobResult, started: float, earlier: RunAccount | None
) -> RunAccount | None:
    """The run's account, written here for a run that died without; None when it made no directory either, or
    left that of an earlier run or segment as it was.
    """
    account = read_account(plan.run_dir)
    if earlier is not None and account == earlier:
        return None
    if account is not None or is_unused(plan.run_dir) or result.returncode == EXIT_BAD_INPUT:
        return account
    reason, rank = how_it_ended(result.returncode, result.messages)
    known: RunAccount = {
        "simulation": plan.case.simulation,
        "program": Path(plan.program[0]).name,
        "config": {"case": {"file": str(request.case)}, "set": request.settings}
        | as_tables(request.native_options),
        "ranks": plan.layout.ranks,
        "threads": plan.layout.threads,
        "strategy": request.native_options.get("write"),
        "sink": request.native_options.get("sink"),
    }
    return write_failed_account(plan.run_dir, known, started, reason, rank)


def died_late(result: JobResult, account: RunAccount | None) -> bool:
    """Whether the launcher or a rank was killed when the run was complete. Its account is the last that a
    run writes, once all ranks have agreed on how it ended.
    """
    return was_killed(result.returncode, result.messages) and (account or {}).get("status") in COMPLETE


def counted_messages(run_dir: Path) -> dict[str, Any]:
    """Totals of the messages for run.json; what is wrong with them is said."""
    from tailrace.messages.balance import summary

    found = summary(read_profile(run_dir / MESSAGES))
    for line in [*found["problems"], *found["differences"]]:
        print(f"tailrace: warning: messages: {line}", file=sys.stderr)
    if not found["ranks"]:
        print("tailrace: warning: messages: no rank has counted any", file=sys.stderr)
    return found


def exit_status(result: JobResult, account: RunAccount | None) -> int:
    """The program's own status where it has one of the agreed meanings, else a failure of the run."""
    status = (account or {}).get("status")
    if (result.returncode == EXIT_OK and status in COMPLETE) or died_late(result, account):
        return EXIT_OK if status == "finished" else EXIT_STOPPED
    if result.returncode == EXIT_NO and status == "finished":
        return EXIT_NO  # the result is there, and is not what it should be
    if result.returncode in (EXIT_BAD_INPUT, EXIT_STOPPED):
        return result.returncode
    return EXIT_RUN_FAILED


def print_summary(request: RunRequest, run_dir: Path, account: RunAccount) -> None:
    """Prints the summary and the report's path; with --json the account alone is on standard output."""
    stream = sys.stderr if request.json else sys.stdout
    for line in summary(run_dir, account):
        print(line, file=stream)
    if account.get("status") != "finished" and any((run_dir / "checkpoints").glob("step-*[0-9]")):
        print(f"resume it: tailrace resume {run_dir}", file=stream)
    if request.report and account.get("status") in ("finished", "stopped"):
        report = make_report(run_dir)
        if report is not None:
            print(f"report: {report}", file=stream)
    if request.json:
        print(json.dumps(account, indent=2))


def make_report(run_dir: Path) -> Path | None:
    """The report; the run is not lost when it cannot be made, so that is said and not raised."""
    from tailrace.report import write_report

    try:
        return write_report(run_dir, None)
    except Exception as error:
        print(f"tailrace: no report: {type(error).__name__}: {error}", file=sys.stderr)
        print(f"tailrace: `tailrace report {run_dir}` makes it later.", file=sys.stderr)
        return None
