# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the ultrasound benchmark."""

import math
from collections.abc import Callable
from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text
from tailrace_bench import model
from tailrace_bench.summary import mean_and_worst
from tailrace_bench.ultrasound import SHORT, grid_text

TIME_AIM = 0.70
PREDICTION_AIM = 0.10
MEMORY_AIM = 1.10


def print_document(document: dict[str, Any], console: Console) -> None:
    for row in document["rows"][:1]:
        console.print(coverage_text(row["step_s"]))
    print_times(document["rows"], console)
    print_bounds(document["rows"], console)
    if document["comparisons"]:
        print_comparisons(document["comparisons"], console)
    print_short(document["short"], console)
    print_summary(document, console)
    print_verdicts(document, console)
    console.print(watch_text(document["conditions"]))


def print_times(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Time per step",
        "grid, source, cores",
        "ms",
        "ns/point",
        "CPU ms",
        "memory",
        "predicted",
        "deviation",
    )
    for row in rows:
        predicted = row["predicted_memory_bytes"]
        peak = row["peak_memory_bytes"]
        table.add_row(
            label(row),
            with_interval(from_dict(row["step_s"]), 1e3),
            f"{1e9 * seconds_per_point(row):.1f}",
            f"{1e3 * row['cpu_s_per_step']['median']:.1f}",
            bytes_text(peak),
            bytes_text(predicted),
            "-" if predicted is None else f"{100 * (peak / predicted - 1):+.1f} %",
        )
    console.print(table)
    console.print()


def print_bounds(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "What bounds it",
        "grid, source, cores",
        "transforms ms",
        "share",
        "moved per step",
        "bandwidth",
        "memory alone ms",
        "share",
    )
    for row in rows:
        if "transforms_s" not in row:
            continue
        table.add_row(
            label(row),
            f"{1e3 * row['transforms_s']:.1f}",
            f"{100 * row['transforms_share']:.0f} %",
            bytes_text(row["bytes_per_step"]),
            f"{bytes_text(row['bandwidth_bytes_s'])}/s",
            f"{1e3 * row['memory_s']:.1f}",
            f"{100 * row['memory_share']:.0f} %",
        )
    console.print(table)
    for source in sorted({row["source"] for row in rows}):
        step = model.total(source)
        console.print(
            f"source {source}: {step.plane_forward} forward and {step.plane_inverse} inverse plane "
            f"transforms, {step.column_forward} and {step.column_inverse} along z, {step.spectra:g} passes "
            f"over a spectrum, {step.fields:g} over a field; between machines {step.exchanges} exchanges"
        )
    console.print()


def print_comparisons(comparisons: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Against the reference on as many cores or on fewer, whichever is faster, pair by pair",
        "grid, source, cores",
        "reference threads",
        "time ratio",
        "CPU ratio",
        "memory ratio",
        "largest difference of the results",
    )
    for row in comparisons:
        table.add_row(
            label(row),
            str(row["reference_threads"]),
            with_interval(from_dict(row["time_ratio"]), digits=3),
            with_interval(from_dict(row["cpu_ratio"]), digits=3),
            f"{row['memory_ratio']:.2f}",
            f"{row['result_difference']:.1e} of the peak",
        )
    console.print(table)
    console.print()


def print_short(short: dict[str, dict[str, Any]], console: Console) -> None:
    grid, steps = SHORT
    for name, found in short.items():
        text = with_interval(from_dict(found), 1e3, digits=0)
        console.print(f"whole process, {steps} steps of {grid_text(grid)}, {name}: {text} ms")
    console.print()


def print_summary(document: dict[str, Any], console: Console) -> None:
    """Geometric mean over the grids, and the worst of them, for each number of cores."""
    ours = [row for row in document["rows"] if not is_reference(row)]
    summarise("ns per point and step", ours, lambda row: 1e9 * seconds_per_point(row), console)
    summarise(
        "time over the reference's",
        document["comparisons"],
        lambda row: row["time_ratio"]["median"],
        console,
    )
    console.print()


def summarise(
    what: str, rows: list[dict[str, Any]], value: Callable[[dict[str, Any]], float], console: Console
) -> None:
    for variant in dict.fromkeys(row["variant"] for row in rows):
        chosen = [row for row in rows if row["variant"] == variant]
        console.print(mean_and_worst(f"{what}, {variant}", chosen, value, lambda row: grid_text(row["grid"])))


def is_reference(row: dict[str, Any]) -> bool:
    return row["predicted_memory_bytes"] is None


def seconds_per_point(row: dict[str, Any]) -> float:
    return row["step_s"]["median"] / math.prod(row["grid"])


def label(row: dict[str, Any]) -> str:
    return f"{grid_text(row['grid'])}, {row['source']}, {row['variant']}"


def print_verdicts(document: dict[str, Any], console: Console) -> None:
    for row in document["comparisons"]:
        ratio = row["time_ratio"]["median"]
        answer = "met" if ratio <= TIME_AIM else "missed"
        console.print(f"aim: {TIME_AIM} of the reference's time, {label(row)}: {ratio:.3f}, {answer}")
        answer = "met" if row["memory_ratio"] <= MEMORY_AIM else "missed"
        memory = f"{row['memory_ratio']:.2f}, {answer}"
        console.print(f"aim: {MEMORY_AIM} of the reference's memory, {label(row)}: {memory}")
    deviations = [
        abs(row["peak_memory_bytes"] / row["predicted_memory_bytes"] - 1)
        for row in document["rows"]
        if row["predicted_memory_bytes"]
    ]
    if deviations:
        answer = "met" if max(deviations) <= PREDICTION_AIM else "missed"
        console.print(
            f"aim: memory within {100 * PREDICTION_AIM:.0f} % of the prediction: "
            f"{100 * max(deviations):.1f} %, {answer}"
        )
