# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace resume`."""

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import (
    Balance,
    Bind,
    CheckpointEvery,
    CheckpointEveryS,
    Exchange,
    Fault,
    LiveBytes,
    LiveFragments,
    Oversubscribe,
    Starter,
    Threads,
    WallLimit,
    Write,
)
from tailrace.console import CommandError


def resume(
    run_dir: Annotated[Path, typer.Argument(metavar="DIR", help="Run directory of a run that did not end.")],
    ranks: Annotated[
        int | None,
        typer.Option("-n", "--ranks", metavar="RANKS", min=1, help="MPI ranks (default: as many as before)."),
    ] = None,
    threads: Threads = None,
    write: Write = None,
    exchange: Exchange = None,
    bind: Bind = "auto",
    launcher: Starter = None,
    oversubscribe: Oversubscribe = False,
    fault: Fault = None,
    wall_limit: WallLimit = None,
    balance: Balance = None,
    live_fragments: LiveFragments = None,
    live_bytes: LiveBytes = None,
    checkpoint_every: CheckpointEvery = None,
    checkpoint_every_s: CheckpointEveryS = None,
    as_started: Annotated[
        bool,
        typer.Option(
            "--as-started",
            help="Continue a fragment program as it was started, although its sources have changed since.",
        ),
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print run.json instead of the summary.")] = False,
) -> None:
    """Resume a run from its newest checkpoint that is whole, in the same directory.

    The number of ranks, of threads, who writes and how ranks exchange values may change; the result is one
    output without a seam. How fragments run may change too, and of a fragment program when checkpoints are
    taken.
    """
    values = {name: value for name, value in locals().items() if value is not None}
    from tailrace.resume import ResumeRequest, resume_run
    from tailrace.resume_fragments import ProgramResume, is_of_program, resume_program

    same = ("run_dir", "ranks", "threads", "bind", "launcher", "oversubscribe", "json")
    how = {name: values[name] for name in same if name in values} | {"report": not no_report}
    own, others = (OF_PROGRAMS, OF_CASES) if is_of_program(run_dir) else (OF_CASES, OF_PROGRAMS)
    if wrong := [name for name in others - own if name in values]:
        option = wrong[0].replace("_", "-")
        raise CommandError(f"--{option}: not for the run in {run_dir}. Fix: leave it out")
    options = {name.replace("_", "-"): str(values[name]) for name in own if name in values}
    if own is OF_PROGRAMS:
        raise typer.Exit(
            resume_program(ProgramResume(**how, as_started=as_started, native_options=options))
        )
    if as_started:
        raise CommandError(f"--as-started: not for the run in {run_dir}. Fix: leave it out")
    settings = [f"fragments.{name}={dumps(values[name])}" for name in FRAGMENTS if name in values]
    native = {name: value for name, value in options.items() if name.replace("-", "_") not in FRAGMENTS}
    raise typer.Exit(resume_run(ResumeRequest(**how, native_options=native, settings=settings)))


FRAGMENTS = ("balance", "live_fragments", "live_bytes")
OF_CASES = {"write", "exchange", "fault", "wall_limit", *FRAGMENTS}
OF_PROGRAMS = {"wall_limit", "checkpoint_every", "checkpoint_every_s", *FRAGMENTS}


def register(app: typer.Typer) -> None:
    app.command()(resume)
