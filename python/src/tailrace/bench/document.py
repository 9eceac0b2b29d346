# SPDX-License-Identifier: BSD-3-Clause
"""What benchmarks have in common in their JSON, their progress and their tables."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.table import Table

from tailrace import __version__
from tailrace.bench.host import Watch, describe_machine
from tailrace.bench.stats import Spread
from tailrace.console import CommandError

FORMAT = "tailrace-bench"
FORMAT_VERSION = 1


def make_document(name: str, settings: dict[str, Any], watch: Watch, commands: list[str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "benchmark": name,
        "version": __version__,
        "machine": describe_machine(),
        "settings": settings,
        "conditions": watch.stop(),
        "commands": commands,
    }


def check_writable(path: Path | None, option: str = "--json") -> None:
    """Fails before the measurement, not after it."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise CommandError(f"{option} {path}: cannot be written. Give a file in a directory that exists.")


def write_document(document: dict[str, Any], path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(document, indent=1) + "\n")


def say(line: str) -> None:
    """Progress, on standard error."""
    print(line, file=sys.stderr, flush=True)


def make_table(title: str, *columns: str) -> Table:
    """A table whose first column is text and whose other columns are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def with_interval(value: Spread, scale: float = 1.0, digits: int = 1) -> str:
    """Median and interval, such as 45.1 (44.8 .. 45.9)."""
    low, middle, high = (f"{scale * number:.{digits}f}" for number in (value.low, value.median, value.high))
    return f"{middle} ({low} .. {high})"


def coverage_text(value: dict[str, Any]) -> str:
    """How a table came by its medians and intervals, of one of the values in a document."""
    return (
        f"medians of {len(value['samples'])} interleaved repetitions; in brackets the interval that holds "
        f"the median with {100 * value['coverage']:.0f} % (order statistics)\n"
    )
