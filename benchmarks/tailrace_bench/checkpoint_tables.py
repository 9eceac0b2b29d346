# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the checkpoint benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text

AIM_RATE, AIM_OTHER, AIM_COST = 0.9, 1.1, 0.01


def print_document(document: dict[str, Any], console: Console) -> None:
    first = document["rows"][0]["plain_over_write"]
    console.print(
        f"Medians of {len(first['samples'])} interleaved repetitions, in brackets the interval that holds "
        f"the median with {100 * first['coverage']:.0f} % (order statistics). Rates are those of a plain "
        "write, flushed where the checkpoint is, and a plain read by one process in the same repetition, "
        "over its own.\n"
    )
    print_writes(document["rows"], console)
    print_restarts(document["rows"], console)
    if document["headers"]:
        print_headers(document["headers"], console)
    if document["costs"]:
        print_costs(document["costs"], console)
    console.print(verdict(document))
    console.print(watch_text(document["conditions"]))


def name_of(row: dict[str, Any]) -> str:
    where = "flushed" if row["flushed"] else "in memory"
    compressed = "" if row["compress"] == "none" else f"{row['compress']}, "
    return f"{row['state']}, {where}, {compressed}{row['strategy']}, {row['ranks']}"


def print_writes(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Checkpoints",
        "state, where, strategy, ranks",
        "bytes",
        "plain, s",
        "handed over, s",
        "complete, s",
        "of the plain rate",
        "memory",
    )
    for row in rows:
        seconds = row["seconds"]
        table.add_row(
            name_of(row),
            bytes_text(row["bytes"]),
            *(f"{seconds[key]['median']:.3f}" for key in ("plain_write", "handed", "complete")),
            with_interval(from_dict(row["plain_over_write"]), digits=2),
            bytes_text(row["save_extra_bytes"]),
        )
    console.print(table)
    console.print()


def print_restarts(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Restarts",
        "state, where, strategy, ranks",
        "plain, s",
        "on",
        "s",
        "of the plain rate",
        "over its own",
        "read / needed",
        "memory",
    )
    for row in rows:
        for count, restart in row["restarts"].items():
            table.add_row(
                name_of(row),
                f"{row['seconds']['plain_read']['median']:.3f}",
                count,
                f"{restart['seconds']['median']:.3f}",
                with_interval(from_dict(restart["plain_over_restart"]), digits=2),
                with_interval(from_dict(restart["over_own"]), digits=2),
                f"{restart['read_over_needed']:.3f}",
                bytes_text(restart["extra_bytes"]),
            )
    console.print(table)
    console.print()


def print_headers(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "A header on all ranks",
        "size, ranks",
        "read by one and sent, ms",
        "each reads, over that",
        "MPI-IO, collective, over that",
    )
    for row in rows:
        table.add_row(
            f"{bytes_text(row['bytes'])}, {row['ranks']}",
            with_interval(from_dict(row["seconds"]["broadcast"]), scale=1e3, digits=2),
            *(
                with_interval(from_dict(row["over_broadcast"][way]), digits=2)
                for way in ("each", "collective")
            ),
        )
    console.print(table)
    console.print()


def print_costs(costs: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "What a run loses to a checkpoint every 50 steps of 20 ms",
        "size, ranks",
        "stalled",
        "time, with / without",
    )
    for cost in costs:
        table.add_row(
            f"{bytes_text(cost['bytes'])}, {cost['ranks']}",
            with_interval(from_dict(cost["held_up_share"]), scale=100, digits=2) + " %",
            with_interval(from_dict(cost["with_over_without"]), digits=3),
        )
    console.print(table)
    console.print()


def verdict(document: dict[str, Any]) -> str:
    """The aims, each with its worst row."""
    rows = document["rows"]
    restarts = [restart for row in rows for restart in row["restarts"].values()]
    write = min(row["plain_over_write"]["median"] for row in rows)
    restart = min(restart["plain_over_restart"]["median"] for restart in restarts)
    other = max(restart["over_own"]["median"] for restart in restarts)
    aims = [
        (f"{AIM_RATE:.0%} of the plain rate in writing", write >= AIM_RATE, f"{write:.0%}"),
        (f"{AIM_RATE:.0%} of the plain rate in restarts", restart >= AIM_RATE, f"{restart:.0%}"),
        ("restarts on other ranks within 10 % of those on the same", other <= AIM_OTHER, f"{other:.0%}"),
    ]
    if document["costs"]:
        cost = max(cost["held_up_share"]["median"] for cost in document["costs"])
        aims.append((f"a run stalled for less than {AIM_COST:.0%}", cost < AIM_COST, f"{cost:.2%}"))
    return "\n".join(
        f"Aim, {aim}: {'met' if met else 'missed'} (worst row {worst})." for aim, met, worst in aims
    )
