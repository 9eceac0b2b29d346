# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace list`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from tailrace.commands.options import Json
from tailrace.console import CommandError
from tailrace.runs import RunEntry, find_runs
from tailrace.units import bytes_text, wide_console

COLORS = {"finished": "green", "failed": "red", "killed": "red", "damaged": "red", "stopped": "yellow"}


def register(app: typer.Typer) -> None:
    app.command("list")(list_runs)


def list_runs(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to look.")] = Path(),
    as_json: Json = False,
) -> None:
    """The runs at and below a directory: status, steps, size, when."""
    if not directory.is_dir():
        raise CommandError(f"{directory}: there is no such directory.")
    found = find_runs(directory)
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in found], indent=2))
    elif found:
        wide_console().print(_table(found))
    else:
        typer.echo(f"{directory}: no runs at or below it")


def _table(found: list[RunEntry]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "simulation", "status"):
        table.add_column(name, no_wrap=True)
    for name in ("steps", "size", "started"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in found:
        color = COLORS.get(entry.status, "cyan")
        status = f"[{color}]{escape(entry.status)}[/{color}]"
        started = entry.started.replace("T", " ")[:16]
        cells = [_steps(entry), bytes_text(entry.size_bytes), escape(started)]
        table.add_row(escape(entry.path), escape(entry.simulation), status, *cells)
    return table


def _steps(entry: RunEntry) -> str:
    if entry.steps is None:
        return "-"
    return str(entry.steps) if entry.steps_planned is None else f"{entry.steps} of {entry.steps_planned}"
