# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace compare`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tailrace.commands.options import Json, finite
from tailrace.compare import Comparison, DatasetResult, compare_files
from tailrace.units import wide_console


def register(app: typer.Typer) -> None:
    app.command("compare")(compare)


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="HDF5 file or run directory.", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="HDF5 file or run directory.", show_default=False)],
    path: Annotated[str | None, typer.Argument(metavar="PATH", help="A dataset or group.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            callback=finite,
            help="Relative difference allowed. Without it any difference counts.",
        ),
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Compare only what both files hold complete (killed runs).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Differences of two files per dataset and time step; exit status 1 when over the threshold."""
    result = compare_files(a, b, path, threshold, recorded)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print(result, wide_console())
    raise typer.Exit(1 if result.differs else 0)


def _print(result: Comparison, console: Console) -> None:
    limit = "any difference counts" if result.threshold is None else f"threshold {result.threshold:g}"
    console.print(
        f"A  {result.a}\nB  {result.b}\n{limit}; largest values over the steps of each dataset\n",
        markup=False,
    )
    compared = [entry for entry in result.datasets if not entry.problem]
    shown = [entry for entry in compared if not _is_equal_scalar(entry)]
    if shown:
        console.print(_table(shown))
    if len(compared) > len(shown):
        console.print(f"{'and ' if shown else ''}{len(compared) - len(shown)} equal scalars")
    for problem, paths in _problems(result).items():
        console.print(f"[red]{escape(problem)}[/red]: {escape(', '.join(paths))}")
    console.print(_verdict(result))


def _problems(result: Comparison) -> dict[str, list[str]]:
    """Datasets that could not be compared, by reason."""
    reasons: dict[str, list[str]] = {}
    for entry in result.datasets:
        if entry.problem:
            reasons.setdefault(entry.problem, []).append(entry.path)
    return reasons


def _is_equal_scalar(entry: DatasetResult) -> bool:
    return not entry.differs and not entry.nan_in_both and entry.values == 1


def _table(entries: list[DatasetResult]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    table.add_column("dataset", no_wrap=True)
    for name in ("steps over", "Frobenius", "infinity", "maximum", "of peak"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("note")
    for entry in entries:
        count = f"{entry.steps_over} of {entry.steps}"
        numbers = (entry.frobenius, entry.infinity, entry.maximum, entry.of_peak)
        table.add_row(
            entry.path,
            f"[red]{count}[/red]" if entry.differs else count,
            *("0" if number == 0 else f"{number:.2e}" for number in numbers),
            _note(entry),
        )
    return table


def _note(entry: DatasetResult) -> str:
    notes = [entry.note] if entry.note else []
    if entry.first_over is not None and entry.steps > 1:
        notes.append(f"first at sample {entry.first_over}, worst at {entry.worst_step}")
    if entry.not_numbers:
        notes.append(f"{entry.not_numbers} NaN or infinite in one file only")
    if entry.nan_in_both:
        notes.append(f"{entry.nan_in_both} NaN in both, left out")
    return "; ".join(notes)


def _verdict(result: Comparison) -> str:
    if not result.datasets:
        return "nothing to compare"
    steps = sum(entry.steps for entry in result.datasets)
    over = sum(entry.steps_over for entry in result.datasets)
    problems = sum(bool(entry.problem) for entry in result.datasets)
    if not result.differs:
        what = "equal" if result.threshold is None else "within the threshold"
        return f"[green]{what}[/green]: {len(result.datasets)} datasets, {steps} steps"
    parts = [f"{over} of {steps} steps over the threshold"] if over or not problems else []
    if problems:
        parts.append(f"{problems} datasets cannot be compared")
    return f"[red]different[/red]: {', '.join(parts)}"
