# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace trace`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tailrace.console import CommandError


class Format(StrEnum):
    perfetto = "perfetto"
    csv = "csv"


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Traces of a run: what every thread did, and when.")
    group.callback()(lambda: None)
    group.command("export")(export)
    app.add_typer(group, name="trace")


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Run directory.", show_default=False)],
    form: Annotated[
        Format,
        typer.Option("--format", help="perfetto: for ui.perfetto.dev and chrome://tracing; csv: a table."),
    ] = Format.perfetto,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write (default: DIR/trace.json or DIR/trace.csv)."),
    ] = None,
) -> None:
    """Write the traces of all ranks, on one clock, into one file for other tools.

    As CSV the records of a fragment program are a table of their own, in DIR/trace_fragments.csv.
    """
    from tailrace.trace import read_run
    from tailrace.trace.export import write_csv, write_perfetto

    run = read_run(directory)
    for problem in run.problems:
        typer.echo(f"tailrace: warning: {problem}", err=True)
    if not run.ranks:
        raise CommandError(
            f"{directory}: no trace of a run is there. "
            "Fix: the directory of a run that was started without --trace off"
        )
    path = output or directory / ("trace.csv" if form is Format.csv else "trace.json")
    for written in (write_csv if form is Format.csv else write_perfetto)(run, path):
        typer.echo(str(written))
