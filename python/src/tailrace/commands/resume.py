# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace resume`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.commands.options import (
    FRAGMENTS,
    AsStarted,
    Bind,
    CheckpointEvery,
    CheckpointEveryS,
    Device,
    Exchange,
    Fault,
    Oversubscribe,
    Starter,
    Threads,
    WallLimit,
    Write,
    also,
    keys_asked,
    settings_of,
)
from tailrace.console import CommandError


@also(FRAGMENTS)
def resume(
    run_dir: Annotated[Path, typer.Argument(metavar="DIR", help="Run directory of a run that did not end.")],
    ranks: Annotated[
        int | None,
        typer.Option("-n", "--ranks", metavar="RANKS", min=1, help="MPI ranks (default: as many as before)."),
    ] = None,
    threads: Threads = None,
    write: Write = None,
    exchange: Exchange = None,
    device: Device = None,
    bind: Bind = "auto",
    launcher: Starter = None,
    oversubscribe: Oversubscribe = False,
    fault: Fault = None,
    wall_limit: WallLimit = None,
    checkpoint_every: CheckpointEvery = None,
    checkpoint_every_s: CheckpointEveryS = None,
    as_started: AsStarted = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print run.json instead of the summary.")] = False,
    **more: Any,
) -> None:
    """Resume a run from its newest checkpoint that is whole, in the same directory.

    The number of ranks, of threads, who writes, what computes and how ranks exchange values may change; the
    result is one output without a seam. How fragments run may change too, and of a fragment program when
    checkpoints are taken.
    """
    given = {name: value for name, value in {**locals(), **more}.items() if value is not None}
    raise typer.Exit(start(given))


def start(values: dict[str, Any]) -> int:
    """Resumes a case or a fragment program; `values` are those that were given."""
    from tailrace.resume import ResumeRequest, resume_run
    from tailrace.resume_fragments import ProgramResume, is_of_program, resume_program

    same = ("run_dir", "ranks", "threads", "bind", "launcher", "oversubscribe", "json")
    how = {name: values[name] for name in same if name in values} | {"report": not values["no_report"]}
    own, others = (OF_PROGRAMS, OF_CASES) if is_of_program(values["run_dir"]) else (OF_CASES, OF_PROGRAMS)
    if wrong := [name for name in others - own if name in values]:
        option = wrong[0].replace("_", "-")
        raise CommandError(f"--{option}: not for the run in {values['run_dir']}. Fix: leave it out")
    options = {name.replace("_", "-"): str(values[name]) for name in own if name in values}
    if own is OF_PROGRAMS:
        how["as_started"] = values["as_started"]
        return resume_program(ProgramResume(**how, native_options=options))
    if values["as_started"]:
        raise CommandError(f"--as-started: not for the run in {values['run_dir']}. Fix: leave it out")
    native = {name: value for name, value in options.items() if name.replace("-", "_") not in FRAGMENTS}
    how |= {"settings": settings_of(values), "keys": keys_asked(values)}
    return resume_run(ResumeRequest(**how, native_options=native))


OF_CASES = {"write", "exchange", "device", "fault", "wall_limit", *FRAGMENTS}
OF_PROGRAMS = {"wall_limit", "checkpoint_every", "checkpoint_every_s", *FRAGMENTS}


def register(app: typer.Typer) -> None:
    app.command()(resume)
