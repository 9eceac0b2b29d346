# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the benchmark of heat."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text
from tailrace_bench.summary import mean_and_worst, met, own_rows

# Mop/s by class, ranks and threads; shares of the time.
SPEED_AIMS = {("A", 1, 1): 115, ("A", 2, 1): 215, ("A", 1, 2): 205, ("B", 1, 1): 95, ("B", 2, 1): 180}
ADAPTATION_AIM, EXCHANGE_AIM = 0.02, 0.05
MILLI = 1e3


def print_document(document: dict[str, Any], console: Console) -> None:
    rows = document["rows"]
    console.print(coverage_text(rows[0]["step_s"]))
    print_times(rows, console)
    print_parts(own_rows(rows), console)
    if document["comparisons"]:
        print_comparisons(document["comparisons"], console)
    if document["ways"]:
        print_ways(document["ways"], console)
        print_compared(document["compared"], console)
    for line in verdicts(rows):
        console.print(line)
    console.print(watch_text(document["conditions"]))


def print_times(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Time, and points advanced as NPB counts them",
        "class, ranks x threads",
        "ms per step",
        "Mop/s",
        "verification",
        "difference",
        "elements at most",
        "memory",
        "predicted",
    )
    for row in rows:
        cells = [
            with_interval(from_dict(row["step_s"]), MILLI, digits=2),
            with_interval(from_dict(row["mops"])),
        ]
        cells.append(row["verification"])
        if "parts" in row:
            difference = row["difference"]
            cells += ["" if difference is None else f"{difference:.1e}", str(row["elements"])]
            cells += [bytes_text(row["peak_memory_bytes"]), bytes_text(row["predicted_memory_bytes"])]
        table.add_row(row["name"], *cells)
    console.print(table)
    console.print()


def print_parts(rows: list[dict[str, Any]], console: Console) -> None:
    names = list(rows[0]["parts"])
    title = "Where the time goes: % of the time of rank 0, medians"
    table = make_table(title, "class, ranks x threads", *names)
    for row in rows:
        table.add_row(row["name"], *(f"{100 * row['parts'][name]['median']:.1f}" for name in names))
    console.print(table)
    console.print()


def print_comparisons(comparisons: list[dict[str, Any]], console: Console) -> None:
    title = "Time over that of NPB on as many cores or fewer, whichever is faster, pair by pair"
    table = make_table(title, "class, ranks x threads", "over", "ratio")
    for row in comparisons:
        table.add_row(row["name"], row["reference"], with_interval(from_dict(row["time_ratio"]), digits=2))
    console.print(table)
    for ranks, threads in dict.fromkeys((row["ranks"], row["threads"]) for row in comparisons):
        same = [row for row in comparisons if (row["ranks"], row["threads"]) == (ranks, threads)]
        what = f"time over NPB's, {ranks} x {threads}"
        console.print(mean_and_worst(what, same, time_ratio, lambda row: row["name"]))
    console.print()


def time_ratio(row: dict[str, Any]) -> float:
    return row["time_ratio"]["median"]


def print_ways(ways: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        f"Class {ways[0]['class']} on {ways[0]['ranks']} ranks: transports, owners of mortar points, sums",
        "way",
        "ms per step",
        "over the first",
        "exchange, %",
        "messages",
        "sent",
        "chosen",
        "verification",
    )
    for row in ways:
        table.add_row(
            row["name"].partition(", ")[2],
            with_interval(from_dict(row["step_s"]), MILLI, digits=2),
            with_interval(from_dict(row["over_usual"]), digits=2),
            f"{100 * row['parts']['exchange']['median']:.1f}",
            str(row["messages"]),
            bytes_text(row["sent_bytes"]),
            " ".join(dict.fromkeys(row["chosen"])),
            row["verification"],
        )
    console.print(table)
    console.print()


def print_compared(compared: list[dict[str, Any]], console: Console) -> None:
    table = make_table("Way over way, pair by pair", "", "time of a step", "of that, exchange")
    for row in compared:
        cells = [with_interval(from_dict(row[name]), digits=2) for name in ("step_ratio", "exchange_ratio")]
        table.add_row(row["name"], *cells)
    console.print(table)
    console.print()


def verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """Which aims are met, of those that speak of a row."""
    return [line for row in own_rows(rows) for line in [*speed_verdict(row), *share_verdicts(row)]]


def speed_verdict(row: dict[str, Any]) -> list[str]:
    aim = SPEED_AIMS.get((row["class"], row["ranks"], row["threads"]))
    if aim is None:
        return []
    mops = row["mops"]["median"]
    return [f"aim: {aim} Mop/s, {row['name']}: {mops:.0f}, {met(mops >= aim)}"]


def share_verdicts(row: dict[str, Any]) -> list[str]:
    """Of classes from A on: smaller ones have little to do between adaptations and exchanges."""
    aims = {"adaptation": ADAPTATION_AIM} | ({"exchange": EXCHANGE_AIM} if row["ranks"] == 2 else {})
    if row["class"] in ("S", "W"):
        return []
    shares = {name: row["parts"][name]["median"] for name in aims}
    return [
        f"aim: {name} at most {100 * aim:.0f} % of the time, {row['name']}: {100 * shares[name]:.1f} %, "
        f"{met(shares[name] <= aim)}"
        for name, aim in aims.items()
    ]
