# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench language`, and its table."""

from typing import Annotated, Any

import typer
from rich.console import Console

from tailrace.commands.bench import Directory, JsonFile, Pairs

LINES = (2_500, 10_000, 40_000)
MIB = 1 << 20


def language(
    lines: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=200, help="Lines of programs to check (default: 2500, 10000, 40000)."),
    ] = None,
    pairs: Pairs = 5,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Time and memory of checks of fragment programs by length, of a run, and of one changed body of many."""
    from tailrace.bench import document
    from tailrace.units import wide_console
    from tailrace_bench import language as benchmark

    document.check_writable(json)
    found = benchmark.measure(benchmark.Request(tuple(lines or LINES), pairs, directory))
    document.write_document(found, json)
    print_document(found, wide_console())


def print_document(document: dict[str, Any], console: Console) -> None:
    from tailrace.bench.document import coverage_text, make_table, with_interval
    from tailrace.bench.host import watch_text
    from tailrace.bench.stats import from_dict

    rows = document["rows"]
    table = make_table("Commands of the fragment language", "command", "s", "MiB", "over the compiler alone")
    for row in rows:
        seconds = with_interval(from_dict(row["wall_s"]), digits=2)
        memory, over = (
            with_interval(from_dict(row[key]), scale, digits) if key in row else ""
            for key, scale, digits in (("memory_bytes", 1 / MIB, 0), ("over_compiler", 1.0, 2))
        )
        table.add_row(row["name"], seconds, memory, over)
    console.print(coverage_text(rows[0]["wall_s"]))
    console.print(table)
    console.print(watch_text(document["conditions"]))
