# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace plan`."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import (
    AllowOutside,
    Bind,
    Case,
    Json,
    Oversubscribe,
    Pace,
    Ranks,
    Settings,
    Sink,
    Starter,
    Threads,
)


def plan(
    case: Case,
    ranks: Ranks = 1,
    threads: Threads = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Directory on the file system that the run will write to (default: runs, or this one).",
        ),
    ] = None,
    settings: Settings = None,
    sink: Sink = None,
    bind: Bind = "auto",
    launcher: Starter = None,
    oversubscribe: Oversubscribe = False,
    allow_outside: AllowOutside = False,
    pace: Pace = None,
    json: Json = False,
) -> None:
    """Predict how long a case takes under each way of writing, and say what auto would choose, and why.

    The first outputs of the case are computed and written for measuring, and removed again. Exit status 1 if
    the case has too few outputs for that.
    """
    from tailrace.planning import plan_case
    from tailrace.run import RunRequest

    options = {"sink": sink, "pace": pace}
    request = RunRequest(
        case=case,
        ranks=ranks,
        threads=threads,
        settings=settings or [],
        native_options={name: value for name, value in options.items() if value is not None},
        bind=bind,
        launcher=launcher,
        oversubscribe=oversubscribe,
        allow_outside=allow_outside,
        json=json,
    )
    raise typer.Exit(plan_case(request, directory))


def register(app: typer.Typer) -> None:
    app.command()(plan)
