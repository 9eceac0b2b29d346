# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the ultrasound benchmark."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text
from tailrace_bench import model

TIME_AIM = 0.75
MEMORY_AIM = 0.10


def print_document(document: dict[str, Any], console: Console) -> None:
    for row in document["rows"][:1]:
        console.print(coverage_text(row["step_s"]))
    print_times(document["rows"], console)
    print_bounds(document["rows"], console)
    if document["comparisons"]:
        print_comparisons(document["comparisons"], console)
    print_verdicts(document, console)
    console.print(watch_text(document["conditions"]))


def print_times(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Time per step", "grid, source, cores", "ms", "CPU ms", "memory", "predicted", "deviation"
    )
    for row in rows:
        predicted = row["predicted_memory_bytes"]
        peak = row["peak_memory_bytes"]
        table.add_row(
            label(row),
            with_interval(from_dict(row["step_s"]), 1e3),
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
        "Against the reference, pair by pair",
        "grid, source, cores",
        "time ratio",
        "CPU ratio",
        "largest difference of the results",
    )
    for row in comparisons:
        table.add_row(
            label(row),
            with_interval(from_dict(row["time_ratio"]), digits=3),
            with_interval(from_dict(row["cpu_ratio"]), digits=3),
            f"{row['result_difference']:.1e} of the peak",
        )
    console.print(table)
    console.print()


def label(row: dict[str, Any]) -> str:
    return f"{row['grid'][0]}^3, {row['source']}, {row['variant']}"


def print_verdicts(document: dict[str, Any], console: Console) -> None:
    for row in document["comparisons"]:
        ratio = row["time_ratio"]["median"]
        answer = "met" if ratio <= TIME_AIM else "missed"
        console.print(f"aim: {TIME_AIM} of the reference's time, {label(row)}: {ratio:.3f}, {answer}")
    deviations = [
        abs(row["peak_memory_bytes"] / row["predicted_memory_bytes"] - 1)
        for row in document["rows"]
        if row["predicted_memory_bytes"]
    ]
    if deviations:
        answer = "met" if max(deviations) <= MEMORY_AIM else "missed"
        console.print(
            f"aim: memory within {100 * MEMORY_AIM:.0f} % of the prediction: {100 * max(deviations):.1f} %, "
            f"{answer}"
        )
