# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the exchange benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict

MICROSECONDS, NANOSECONDS = 1e6, 1e9


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
        "best other way by hand",
        "its ratio",
        "scatter-add auto, us",
        "map, us",
    )
    for row in document["rows"]:
        table.add_row(*line_of(row))
    console.print(table)
    print_libraries(document, console)
    print_puts(document["puts"], console)
    print_aims(document["aims"], console)
    console.print(watch_text(document["conditions"]))


def line_of(row: dict[str, Any]) -> list[str]:
    times, against, others = row["time_s"], row["against_hand"], row["other_hands"]
    other = min(others, key=lambda name: others[name]["median"])
    return [
        f"{row['load']}, {row['components']}",
        with_interval(from_dict(times["by hand isend"]), MICROSECONDS),
        with_interval(from_dict(against["auto"]), digits=2),
        row["best"],
        with_interval(from_dict(against[row["best"]]), digits=2),
        other,
        with_interval(from_dict(others[other]), digits=2),
        with_interval(from_dict(times["scatter_add auto"]), MICROSECONDS),
        f"{MICROSECONDS * times['build auto']['median']:.0f}",
    ]


def print_libraries(document: dict[str, Any], console: Console) -> None:
    versions = document["rows"][0]["libraries"]
    console.print("; ".join(f"{name}: {version}" for name, version in versions.items()))
    names = sorted({name for row in document["rows"] for name in row["libraries_against_auto"]})
    if not names:
        return
    table = make_table("Gather and scatter-add: time of libraries over that of auto", "load, numbers", *names)
    for row in document["rows"]:
        against = row["libraries_against_auto"]
        cells = [
            with_interval(from_dict(against[name]), digits=2) if name in against else "" for name in names
        ]
        table.add_row(f"{row['load']}, {row['components']}", *cells)
    console.print(table)


def print_puts(puts: dict[str, Any], console: Console) -> None:
    for name, found in puts.items():
        rate = with_interval(from_dict(found), NANOSECONDS)
        console.print(f"a value of 8 bytes put {name}: {rate} ns")


def print_aims(aims: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Aims, and the row that is farthest from each", "", "wanted", "found", "load, numbers", ""
    )
    for aim in aims:
        met = "met" if aim["met"] else "missed"
        table.add_row(aim["aim"], aim["wanted"], f"{aim['worst']:.2f}", aim["where"], met)
    console.print(table)


def print_counts(document: dict[str, Any], console: Console) -> None:
    table = make_table(
        f"UA class C: {document['elements']} elements, {document['points']} mortar points",
        "ranks, rule",
        "remote per point",
        "counted elsewhere",
        "most read / mean",
        "most read of / mean",
        "peers",
        "most bytes of a map",
    )
    for row in document["rows"]:
        elsewhere = row["counted_elsewhere"]
        table.add_row(
            f"{row['ranks']}, {row['rule']}",
            f"{row['remote_per_point']:.3f}",
            "" if elsewhere is None else f"{elsewhere:.3f}",
            f"{row['reads_max_over_mean']:.2f}",
            f"{row['read_max_over_mean']:.2f}",
            f"{row['peers']:.1f}",
            str(row["max_map_bytes"]),
        )
    console.print(table)
    print_real(document["real"], console)


def print_real(rows: list[dict[str, Any]], console: Console) -> None:
    """Mean over ranks and most; loads of a kind one below the other."""
    table = make_table(
        "A map and one gather by all ranks: mean and most of a rank",
        "load, ranks",
        "positions",
        "values read of others",
        "remote per point",
        "messages",
        "bytes",
        "memory of the map",
    )
    for row in rows:
        remote = row["landing"]["mean"] * row["ranks"] / row["points"]
        both = [
            f"{row[name]['mean']:.1f}; {row[name]['most']}"
            for name in ("positions", "landing", "messages", "bytes", "memory_bytes")
        ]
        table.add_row(f"{row['load']}, {row['ranks']}", *both[:2], f"{remote:.3f}", *both[2:])
    console.print(table)
