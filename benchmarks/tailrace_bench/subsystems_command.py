# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench subsystems`, and its tables."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tailrace.commands.bench import Directory, JsonFile, Pairs, publish
from tailrace_bench.choices import known_words
from tailrace_bench.summary import met

MESSAGE_AIM_S, ANALYSER_AIM_S, ANALYSER_AIM_BYTES = 30e-9, 60.0, 2 << 30
AIMED_RECORDS = 10_000_000


def subsystems(
    subsystem: Annotated[
        list[str] | None,
        typer.Option(metavar="fragments|messages|recording|analyser", help="What to measure (default: all)."),
    ] = None,
    pairs: Pairs = 7,
    fragments: Annotated[int, typer.Option(metavar="N", min=100, help="Of the small programs.")] = 20_000,
    records: Annotated[
        int, typer.Option(metavar="N", min=1000, help="That the analyser reads.")
    ] = AIMED_RECORDS,
    ranks: Annotated[
        int, typer.Option("-n", "--ranks", metavar="N", min=2, help="Whose records they are.")
    ] = 64,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Parts of fragments, and what observing costs: the message profiler per message, records of fragments
    per body, and reading many of them.
    """
    from tailrace_bench import subsystems as benchmark

    chosen = known_words("--subsystem", subsystem, benchmark.SUBSYSTEMS)
    request = benchmark.Request(chosen, pairs, fragments, records, ranks, directory)
    publish(lambda: benchmark.measure(request), print_document, json)


def print_document(document: dict[str, Any], console: Console) -> None:
    from tailrace.bench.host import watch_text

    if "fragments" in document:
        console.print(parts_table(document["fragments"]))
    for line in lines(document):
        console.print(line, highlight=False)
    console.print(watch_text(document["conditions"]))


def parts_table(rows: list[dict[str, Any]]) -> Table:
    from tailrace.bench.document import make_table, with_interval
    from tailrace.bench.stats import from_dict

    table = make_table("Parts of fragments", "part", "ranks", "value", "unit")
    for row in rows:
        table.add_row(
            row["name"], str(row["ranks"]), with_interval(from_dict(row["value"]), digits=3), row["unit"]
        )
    return table


def lines(document: dict[str, Any]) -> list[str]:
    """What observing costs, beside the aims."""
    from tailrace.bench.document import with_interval
    from tailrace.bench.stats import from_dict
    from tailrace.units import bytes_text

    found = []
    if "messages" in document:
        more = from_dict(document["messages"]["more_s"])
        found.append(
            f"message profiler: {with_interval(more, 1e9, 0)} ns more per message with both of its ends "
            f"(aim: 30 at each end: {met(more.median < 2 * MESSAGE_AIM_S)})"
        )
    for row in document.get("recording", []):
        over = from_dict(row["over"])
        verdict = met(over.median < 1 + row["aim"])
        found.append(
            f"recording ({row['mode']}), bodies of {row['body_us']:g} us: {with_interval(over, digits=3)} "
            f"times as long (aim: {1 + row['aim']:g}: {verdict})"
        )
    if "analyser" in document:
        one = document["analyser"]
        holds = one["seconds"] < ANALYSER_AIM_S and one["memory_bytes"] < ANALYSER_AIM_BYTES
        memory = bytes_text(one["memory_bytes"])
        found.append(
            f"analyser: {one['records']} records of {one['ranks']} ranks in {one['seconds']:.1f} s "
            f"({one['cpu_s']:.1f} s of a core) with {memory} "
            f"(aim: 10^7 of 64 in 60 s with 2 GiB: {met(holds)})"
        )
    return found
