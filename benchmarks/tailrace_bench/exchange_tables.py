# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the exchange benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict

MICROSECONDS = 1e6


def print_document(document: dict[str, Any], console: Console) -> None:
    console.print(f"{document['settings']['ranks']} ranks, {document['mpi']}")
    console.print(coverage_text(document["rows"][0]["time_s"]["gather auto"]))
    table = make_table(
        "Gathers: time over that of messages written by hand with the same bytes",
        "load, numbers",
        "by hand, us",
        "auto",
        "best transport",
        "its ratio",
        "scatter-add auto, us",
        "map, us",
    )
    for row in document["rows"]:
        table.add_row(*line_of(row))
    console.print(table)
    console.print(watch_text(document["conditions"]))


def line_of(row: dict[str, Any]) -> list[str]:
    times, against = row["time_s"], row["against_hand"]
    return [
        f"{row['load']}, {row['components']}",
        with_interval(from_dict(times["gather by hand"]), MICROSECONDS),
        with_interval(from_dict(against["auto"]), digits=2),
        row["best"],
        with_interval(from_dict(against[row["best"]]), digits=2),
        with_interval(from_dict(times["scatter_add auto"]), MICROSECONDS),
        f"{MICROSECONDS * times['build auto']['median']:.0f}",
    ]
