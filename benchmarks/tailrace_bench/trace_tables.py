# SPDX-License-Identifier: BSD-3-Clause
"""The table of the trace benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text

AIM = 1.01


def print_document(document: dict[str, Any], console: Console) -> None:
    first = document["rows"][0]["time_ratio"]
    console.print(
        f"Medians of {len(first['samples'])} interleaved pairs, in brackets the interval that holds the "
        f"median with {100 * first['coverage']:.0f} % (order statistics).\n"
    )
    table = make_table(
        "With a trace against without",
        "grid, ranks",
        "s without",
        "time, on / off",
        "CPU, on / off",
        "events per s and rank",
        "lost",
        "size",
    )
    for row in document["rows"]:
        seconds = row["stepping_s"]["on"]["median"]
        table.add_row(
            f"{row['grid']}^3, {row['ranks']}",
            f"{row['stepping_s']['off']['median']:.3f}",
            with_interval(from_dict(row["time_ratio"]), digits=4),
            with_interval(from_dict(row["cpu_ratio"]), digits=4),
            f"{row['records'] / row['ranks'] / seconds:.0f}",
            str(row["lost"]),
            bytes_text(row["bytes"]),
        )
    console.print(table)
    console.print(verdict(document["rows"]))
    console.print(watch_text(document["conditions"]))


def verdict(rows: list[dict[str, Any]]) -> str:
    """Whether the trace costs less than one hundredth, as far as the intervals say."""
    worst = max(rows, key=lambda row: row["time_ratio"]["median"])
    ratio = from_dict(worst["time_ratio"])
    if ratio.high <= AIM:
        reported = "met"
    elif ratio.low > AIM:
        reported = "missed"
    else:
        reported = "not decided: the interval holds the aim"
    row = with_interval(ratio, digits=4)
    return f"\nAim, at most {AIM:.2f} of the time without: {reported} (worst row {row})."
