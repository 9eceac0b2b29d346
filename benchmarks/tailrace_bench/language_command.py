# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench language`, and its table."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tailrace.commands.bench import Directory, JsonFile, Pairs

LINES = (2_500, 10_000, 40_000, 200_000, 1_000_000)
QUICK = 40_000
MIB = 1 << 20


def language(
    lines: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=200, help="Lines of programs to check (default: 2500 to 10^6)."),
    ] = None,
    pairs: Pairs = 5,
    directory: Directory = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="LUNA_HOME", help="A built LuNA, with which fragments are compared."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out programs of more than 40,000 lines.")
    ] = False,
    only_fragments: Annotated[
        bool, typer.Option("--only-fragments", help="Leave out checks, runs and the changed body.")
    ] = False,
    json: JsonFile = None,
) -> None:
    """Time and memory of checks of fragment programs by length, of a run, of one changed body of many, and of
    a fragment, beside one of the interface in C++ and one of LuNA.
    """
    from tailrace.bench import document
    from tailrace.units import wide_console
    from tailrace_bench import language as benchmark

    document.check_writable(json)
    known = [count for count in LINES if count <= QUICK or not quick]
    request = benchmark.Request(tuple(lines or known), pairs, directory, reference, not only_fragments)
    found = benchmark.measure(request)
    document.write_document(found, json)
    print_document(found, wide_console())


def print_document(document: dict[str, Any], console: Console) -> None:
    from tailrace.bench.document import coverage_text, make_table, with_interval
    from tailrace.bench.host import watch_text
    from tailrace.bench.stats import from_dict

    rows = document["rows"]
    columns = "s", "MiB", "us per further line", "bytes per further line", "over the compiler alone"
    table = make_table("Commands of the fragment language", "command", *columns)
    for row in rows:
        seconds = with_interval(from_dict(row["wall_s"]), digits=2)
        memory, over = (
            with_interval(from_dict(row[key]), scale, digits) if key in row else ""
            for key, scale, digits in (("memory_bytes", 1 / MIB, 0), ("over_compiler", 1.0, 2))
        )
        line = [
            f"{row[key] * scale:.0f}" if key in row else ""
            for key, scale in (("line_s", 1e6), ("line_bytes", 1))
        ]
        table.add_row(row["name"], seconds, memory, *line, over)
    console.print(coverage_text(document["fragments"][0]["language_ns"]))
    if rows:
        console.print(table)
    console.print(fragments_table(document["fragments"]))
    memory = document["memory"]
    console.print(
        f"A fragment that waits for two reals: {memory['language_bytes']:.0f} bytes in the language, "
        f"{memory['c++_bytes']:.0f} in C++"
    )
    if document["programs"]:
        console.print(programs_table(document["programs"]))
    console.print(watch_text(document["conditions"]))


def fragments_table(rows: list[dict[str, Any]]) -> Table:
    from tailrace.bench.document import make_table, with_interval
    from tailrace.bench.stats import from_dict

    columns = {"language_ns": "language [ns]", "counted_ns": "with times of lines [ns]"}
    columns |= {"c++_ns": "C++ [ns]", "luna_ns": "LuNA [ns]"}
    columns |= {"over_c++": "language / C++", "over_luna": "language / LuNA"}
    table = make_table("A fragment", "program", "ranks", *columns.values())
    for row in rows:
        cells = [
            with_interval(from_dict(row[key]), digits=2 if key.startswith("over") else 0)
            if key in row
            else ""
            for key in columns
        ]
        table.add_row(row["name"], str(row["ranks"]), *cells)
    return table


def programs_table(rows: list[dict[str, Any]]) -> Table:
    from tailrace.bench.document import make_table, with_interval
    from tailrace.bench.stats import from_dict

    columns = {"language_s": "Tailrace [s]", "luna_s": "LuNA [s]", "over_luna": "Tailrace / LuNA"}
    table = make_table("Whole programs of LuNA's", "program", "ranks", *columns.values())
    for row in rows:
        cells = [with_interval(from_dict(row[key]), digits=2) for key in columns]
        table.add_row(row["name"], str(row["ranks"]), *cells)
    return table
