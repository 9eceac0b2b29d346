# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace inspect`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tailrace.account import time_line
from tailrace.commands.checkpoint import print_verdicts
from tailrace.commands.options import Json
from tailrace.console import EXIT_NO, EXIT_OK, count_of
from tailrace.inspect import DatasetInfo, FileInfo, Inspection, inspect_path
from tailrace.time_parts import hidden_fraction
from tailrace.units import bytes_text, duration_text, number_text, wide_console


def register(app: typer.Typer) -> None:
    app.command("inspect")(inspect)


def inspect(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|DIR", help="HDF5 file, run directory or checkpoint.", show_default=False
        ),
    ],
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Read every value: checksums, NaN, range; exit status 1 on a problem. "
            "Verify the checkpoints too; exit status 1 when one is damaged.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """What is in a file or run directory: datasets, shapes, units, complete samples, checksums."""
    result = inspect_path(path, verify)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print(result, wide_console())
    raise typer.Exit(EXIT_NO if result.damaged or result.all_problems else EXIT_OK)


def _print(result: Inspection, console: Console) -> None:
    if result.run is not None:
        _print_run(result.run, console)
    if result.file is not None:
        _print_file(result.file, console)
    if result.others:
        console.print("\n[bold]other files[/bold]")
        for name, size in result.others:
            console.print(f"  {escape(name)}  {bytes_text(size)}")
    if result.checkpoints:
        console.print("\n[bold]checkpoints[/bold]")
        print_verdicts(result.checkpoints, console)
    for problem in result.all_problems:
        console.print(f"[red]problem[/red]  {escape(problem)}")


def _print_run(run: dict, console: Console) -> None:
    console.print(f"[bold]{escape(run.get('title') or 'run')}[/bold]  {escape(run.get('simulation', ''))}")
    reason = f" ({run['reason']})" if run.get("reason") else ""
    console.print(f"  status    {escape(run.get('status', 'unknown') + reason)}")
    if run.get("error"):
        console.print(f"  error     {escape(str(run['error'].get('message', '')))}")
    console.print(f"  {_what_ran(run)}")
    ranks, threads = (count_of(run.get(f"{noun}s", 1), noun) for noun in ("rank", "thread"))
    console.print(f"  started   {escape(run.get('started', 'unknown'))} on {ranks} x {threads}")
    if run.get("wall_s") is not None:
        console.print(f"  wall      {duration_text(run['wall_s'])}")
    if split := time_line(run):
        console.print(f"            {split}")
    if (fraction := hidden_fraction(run.get("per_rank", []))) is not None:
        hidden = f"{100 * fraction:.0f} % of copying and writing"
        console.print(f"  hidden    {hidden} ({escape(run.get('strategy', 'unknown'))})")
    console.print()


def _what_ran(run: dict) -> str:
    """The steps, or of a fragment program its file and arguments."""
    program = (run.get("config") or {}).get("program") or {}
    if not program.get("file"):
        return f"steps     {run.get('steps', 'unknown')} of {run.get('steps_planned', 'unknown')}"
    return "program   " + escape(" ".join([program["file"], *map(str, program.get("arguments") or [])]))


def _print_file(info: FileInfo, console: Console) -> None:
    kind = info.attributes.get("file_type", "HDF5")
    version = ".".join(info.attributes.get(f"{part}_version", "?") for part in ("major", "minor"))
    title = f"k-Wave {kind} file, format {version}" if kind != "HDF5" else "HDF5 file"
    console.print(f"[bold]{escape(info.path)}[/bold]  {title}, {bytes_text(info.size_bytes)}")
    for name in ("file_description", "created_by", "creation_date"):
        if info.attributes.get(name):
            console.print(f"  {name.replace('_', ' ')}  {escape(info.attributes[name])}")
    if info.steps_recorded is not None:
        by = f" by {info.writers} writers" if info.writers else ""
        console.print(f"  recorded  {info.steps_recorded} of {info.steps_planned} steps{by}")
    for note in info.notes:
        console.print(f"  [yellow]{escape(note)}[/yellow]")
    arrays = [entry for entry in info.datasets if entry.value is None]
    if arrays:
        console.print()
        console.print(_table(arrays))
    _print_scalars([entry for entry in info.datasets if entry.value is not None], console)


def _table(entries: list[DatasetInfo]) -> Table:
    scanned = any(entry.scan for entry in entries)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("dataset", no_wrap=True)
    table.add_column("holds")
    table.add_column("unit", no_wrap=True)
    table.add_column("shape", no_wrap=True)
    table.add_column("type", no_wrap=True)
    for name in ("samples", "size", *(("range", "xxh3") if scanned else ())):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in entries:
        holds = ", ".join(part for part in (entry.quantity, entry.reduction) if part)
        cells = [entry.path, holds, entry.unit, " x ".join(map(str, entry.shape)), entry.type]
        cells += [_samples(entry), bytes_text(entry.size_bytes)]
        if entry.scan:
            cells += [_range(entry), entry.scan.xxh3]
        table.add_row(*(escape(cell) for cell in cells))
    return table


def _samples(entry: DatasetInfo) -> str:
    if entry.samples_stored is None or entry.samples is None:
        return ""
    return f"{entry.samples} of {entry.samples_stored}"


def _range(entry: DatasetInfo) -> str:
    if entry.scan.minimum is None:
        return "empty"
    return f"{number_text(entry.scan.minimum)} .. {number_text(entry.scan.maximum)}"


def _print_scalars(entries: list[DatasetInfo], console: Console) -> None:
    if not entries:
        return
    table = Table.grid(padding=(0, 3))
    cells = [f"{entry.path} = {number_text(entry.value)} {entry.unit}".rstrip() for entry in entries]
    columns = 3
    rows = -(-len(cells) // columns)
    for row in range(rows):
        table.add_row(*(escape(cell) for cell in cells[row::rows]))
    console.print("\n[bold]scalars[/bold]")
    console.print(table)
