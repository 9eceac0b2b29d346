# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the seismic benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text
from tailrace_bench.summary import mean_and_worst

MEGA = 1e-6
# Points per second with a value per point at 152^3 on two cores.
SPEED_AIM, AIM_GRID, AIM_CORES = 225e6, 152, 2
MEMORY_AIM = 0.10


def print_document(document: dict[str, Any], console: Console) -> None:
    console.print(coverage_text(document["rows"][0]["samples_s"]))
    print_speeds(document["rows"], console)
    if document["comparisons"]:
        print_comparisons(document["comparisons"], console)
        print_ratios(document["comparisons"], console)
    for line in verdicts(document["rows"]):
        console.print(line)
    console.print(watch_text(document["conditions"]))


def print_speeds(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Speed",
        "grid, equations, properties, cores",
        "Msamples/s",
        "bytes/sample",
        "of bandwidth",
        "memory",
        "predicted",
        "deviation",
    )
    for row in rows:
        table.add_row(label(row), with_interval(from_dict(row["samples_s"]), MEGA), *own_cells(row))
    console.print(table)
    console.print()


def own_cells(row: dict[str, Any]) -> list[str]:
    """What is known of our own program only."""
    if "bytes_per_sample" not in row:
        return []
    peak, predicted = row["peak_memory_bytes"], row["predicted_memory_bytes"]
    return [
        str(row["bytes_per_sample"]),
        f"{100 * row['bandwidth_share']:.0f} % of {bytes_text(row['bandwidth_bytes_s'])}/s",
        bytes_text(peak),
        bytes_text(predicted),
        f"{100 * deviation(row):+.1f} %",
    ]


def deviation(row: dict[str, Any]) -> float:
    return row["peak_memory_bytes"] / row["predicted_memory_bytes"] - 1


def print_comparisons(comparisons: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Against Devito, pair by pair",
        "grid, equations, properties, cores",
        "speed ratio",
        "largest difference of the results",
    )
    for row in comparisons:
        table.add_row(
            label(row),
            with_interval(from_dict(row["speed_ratio"]), digits=3),
            f"{row['result_difference']:.1e} of the peak",
        )
    console.print(table)
    console.print()


def print_ratios(comparisons: list[dict[str, Any]], console: Console) -> None:
    """Over all grids, for each way to run."""
    for variant in dict.fromkeys(row["variant"] for row in comparisons):
        console.print(
            mean_and_worst(
                f"speed over Devito's, {variant}",
                [row for row in comparisons if row["variant"] == variant],
                lambda row: row["speed_ratio"]["median"],
                lambda row: f"{row['grid']}^3",
                worst=min,
            )
        )
    console.print()


def label(row: dict[str, Any]) -> str:
    return f"{row['grid']}^3, {row['equations']}, {row['properties']}, {row['variant']}"


def verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """Which aims are met; without the rows that one speaks of, nothing of it."""
    own = [row for row in rows if "bytes_per_sample" in row]
    return speed_verdict(own) + memory_verdict(own)


def speed_verdict(own: list[dict[str, Any]]) -> list[str]:
    compared = [
        row
        for row in own
        if (row["grid"], row["equations"], row["properties"]) == (AIM_GRID, "tti", "arrays")
        and row["ranks"] * row["threads"] == AIM_CORES
    ]
    if not compared:
        return []
    best = max(compared, key=lambda row: row["samples_s"]["median"])
    rate = best["samples_s"]["median"]
    return [
        f"aim: {MEGA * SPEED_AIM:.0f} Msamples/s, {label(best)}: {MEGA * rate:.1f}, "
        f"{'met' if rate >= SPEED_AIM else 'missed'}"
    ]


def memory_verdict(own: list[dict[str, Any]]) -> list[str]:
    worst = max(own, key=lambda row: abs(deviation(row)))
    share = abs(deviation(worst))
    return [
        f"aim: memory within {100 * MEMORY_AIM:.0f} % of the prediction, worst {label(worst)}: "
        f"{100 * share:.1f} %, {'met' if share <= MEMORY_AIM else 'missed'}"
    ]
