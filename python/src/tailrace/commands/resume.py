# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace resume`."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import Bind, Exchange, Fault, Oversubscribe, Starter, Threads, WallLimit, Write


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
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print run.json instead of the summary.")] = False,
) -> None:
    """Resume a run from its newest checkpoint that is whole, in the same directory.

    The number of ranks, of threads, who writes and how ranks exchange values may change; the result is one
    output without a seam.
    """
    from tailrace.resume import ResumeRequest, resume_run

    options = {"write": write, "exchange": exchange, "fault": fault, "wall-limit": wall_limit}
    request = ResumeRequest(
        run_dir=run_dir,
        ranks=ranks,
        threads=threads,
        native_options={name: value for name, value in options.items() if value is not None},
        bind=bind,
        launcher=launcher,
        oversubscribe=oversubscribe,
        report=not no_report,
        json=json,
    )
    raise typer.Exit(resume_run(request))


def register(app: typer.Typer) -> None:
    app.command()(resume)
