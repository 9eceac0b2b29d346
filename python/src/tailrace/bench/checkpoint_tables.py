"""The tables of the checkpoint benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text

AIM_RATE, AIM_COST = 0.9, 0.01


def print_document(document: dict[str, Any], console: Console) -> None:
    first = document["rows"][0]["plain_over_write"]
    console.print(
        f"Medians of {len(first['samples'])} interleaved repetitions, in brackets the interval that holds "
        f"the median with {100 * first['coverage']:.0f} % (order statistics). Rates are those of a plain "
        "write with fsync and a plain read by one process in the same repetition, over its own.\n"
    )
    print_rows(document["rows"], console)
    print_costs(document["costs"], console)
    console.print(verdict(document))
    console.print(watch_text(document["conditions"]))


def print_rows(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Checkpoints of a field, and restarts",
        "size, ranks, strategy",
        "plain write, s",
        "checkpoint, s",
        "of the plain rate",
        "plain read, s",
        "restart on: s",
        "of the plain rate",
    )
    for row in rows:
        seconds = row["seconds"]
        head = [
            f"{bytes_text(row['bytes'])}, {row['ranks']}, {row['strategy']}",
            f"{seconds['plain_write']['median']:.3f}",
            f"{seconds['write']['median']:.3f}",
            with_interval(from_dict(row["plain_over_write"]), digits=2),
            f"{seconds['plain_read']['median']:.3f}",
        ]
        for count, ratio in row["plain_over_restart"].items():
            restart = f"{count}: {seconds[f'restart_on_{count}']['median']:.3f}"
            table.add_row(*head, restart, with_interval(from_dict(ratio), digits=2))
            head = [""] * len(head)
    console.print(table)
    console.print()


def print_costs(costs: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "What a run loses to a checkpoint every 50 steps of 20 ms",
        "size, ranks",
        "held up",
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
    write = min(row["plain_over_write"]["median"] for row in document["rows"])
    restart = min(ratio["median"] for row in document["rows"] for ratio in row["plain_over_restart"].values())
    cost = max(cost["held_up_share"]["median"] for cost in document["costs"])
    aims = [
        (f"{AIM_RATE:.0%} of the plain rate in writing", write >= AIM_RATE, f"{write:.0%}"),
        (f"{AIM_RATE:.0%} of the plain rate in restarts", restart >= AIM_RATE, f"{restart:.0%}"),
        (f"a run held up for less than {AIM_COST:.0%}", cost < AIM_COST, f"{cost:.2%}"),
    ]
    return "\n".join(
        f"Aim, {aim}: {'met' if met else 'missed'} (worst row {worst})." for aim, met, worst in aims
    )
