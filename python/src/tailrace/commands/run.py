# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace run`."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import (
    AllowOutside,
    Bind,
    Case,
    Fault,
    Oversubscribe,
    Pace,
    Profile,
    Ranks,
    Settings,
    Sink,
    Starter,
    Threads,
    WallLimit,
    Write,
)

Directory = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Run directory to make (default: runs/CASE, runs/CASE-2, ...)."
    ),
]
Trace = Annotated[
    str | None,
    typer.Option(metavar="MODE", help="Trace of every thread: off, on, papi (with hardware counters)."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing run directory.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")]
Json = Annotated[bool, typer.Option("--json", help="Print run.json instead of the summary.")]


def run(
    case: Case,
    ranks: Ranks = 1,
    threads: Threads = None,
    out: Directory = None,
    settings: Settings = None,
    write: Write = None,
    sink: Sink = None,
    bind: Bind = "auto",
    launcher: Starter = None,
    oversubscribe: Oversubscribe = False,
    allow_outside: AllowOutside = False,
    fault: Fault = None,
    pace: Pace = None,
    trace: Trace = None,
    profile: Profile = None,
    wall_limit: WallLimit = None,
    overwrite: Overwrite = False,
    no_report: NoReport = False,
    json: Json = False,
) -> None:
    """Run a case; the result, its account and a report go into one new directory.

    Ctrl-C, SIGTERM and the wall-clock limit stop the run in good order; a second Ctrl-C kills it.
    """
    from tailrace.run import RunRequest, run_case

    native = given(write=write, sink=sink, fault=fault, pace=pace, trace=trace, wall_limit=wall_limit)
    request = RunRequest(
        case=case,
        ranks=ranks,
        threads=threads,
        out=out,
        settings=settings or [],
        native_options=native,
        bind=bind,
        launcher=launcher,
        oversubscribe=oversubscribe,
        allow_outside=allow_outside,
        overwrite=overwrite,
        profile=profile,
        report=not no_report,
        json=json,
    )
    raise typer.Exit(run_case(request))


def given(**options: str | None) -> dict[str, str]:
    """The options that were given, by the names that the native programs have for them."""
    return {name.replace("_", "-"): value for name, value in options.items() if value is not None}


def register(app: typer.Typer) -> None:
    app.command()(run)
