# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace report`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import Json
from tailrace.data.directory import read_directory


def register(app: typer.Typer) -> None:
    app.command("report")(report)


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Run directory.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write the page (default: DIR/report.html)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """One self-contained HTML page: pictures of the result, timeline, overlap, advice."""
    # plotly takes long to import; other commands must not wait for it
    from tailrace.report import write_report

    written = write_report(directory, output)
    for problem in read_directory(directory).damage:
        typer.echo(f"tailrace: warning: {problem}", err=True)
    typer.echo(
        json.dumps({"report": str(written), "size_bytes": written.stat().st_size})
        if as_json
        else str(written)
    )
