# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the benchmark of molecules."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace.units import bytes_text
from tailrace_bench.molecules_case import LJ
from tailrace_bench.summary import mean_and_worst, met, own_rows

# Microseconds per molecule and step of the liquid, by cores.
SPEED_AIMS = {1: 0.29, 2: 0.15}
DIGITS = 3


def print_document(document: dict[str, Any], console: Console) -> None:
    console.print(coverage_text(document["rows"][0]["us"]))
    print_times(document["rows"], console)
    print_parts(own_rows(document["rows"]), console)
    if document["comparisons"]:
        print_comparisons(document["comparisons"], console)
        print_ratios(document["comparisons"], console)
    for line in verdicts(document["rows"]):
        console.print(line)
    console.print(watch_text(document["conditions"]))


def print_times(rows: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Time and memory",
        "fluid, molecules, cores",
        "us/molecule/step",
        "B/molecule in the steps",
        "at most",
        "a process without",
    )
    for row in rows:
        memory = []
        if "parts" in row:
            memory = [f"{row[f'{key}_bytes_per_molecule']:.0f}" for key in ("resident", "peak")]
            memory.append(bytes_text(row["empty_bytes"] / row["ranks"]))
        table.add_row(row["name"], with_interval(from_dict(row["us"]), digits=DIGITS), *memory)
    console.print(table)
    console.print()


def print_parts(rows: list[dict[str, Any]], console: Console) -> None:
    names = list(dict.fromkeys(part for row in rows for part in row["parts"]["parts_us"]))
    table = make_table(
        "Where the time goes, us/molecule/step, the slowest rank of each (one run)",
        "fluid, molecules, cores",
        *names,
        "pairs/molecule",
    )
    for row in rows:
        parts = row["parts"]
        cells = [f"{parts['parts_us'].get(name, 0):.{DIGITS}f}" for name in names]
        table.add_row(row["name"], *cells, f"{parts['pairs_per_molecule']:.1f}")
    console.print(table)
    console.print()


def print_comparisons(comparisons: list[dict[str, Any]], console: Console) -> None:
    table = make_table(
        "Time over that of LAMMPS on as many cores, pair by pair",
        "fluid, molecules, cores",
        "over",
        "ratio",
        "potential energies differ by",
    )
    for row in comparisons:
        table.add_row(
            row["name"],
            row["reference"],
            with_interval(from_dict(row["time_ratio"]), digits=DIGITS),
            f"{row['energy_difference']:.1e}",
        )
    console.print(table)
    console.print()


def print_ratios(comparisons: list[dict[str, Any]], console: Console) -> None:
    """Over all fluids and sizes, for each way to run and the faster of LAMMPS's on as many cores."""
    for ranks, threads in dict.fromkeys((row["ranks"], row["threads"]) for row in comparisons):
        worse: dict[str, dict[str, Any]] = {}
        for row in comparisons:
            if (row["ranks"], row["threads"]) == (ranks, threads):
                worse[row["name"]] = max(worse.get(row["name"], row), row, key=time_ratio)
        console.print(
            mean_and_worst(
                f"time over the faster LAMMPS's, {ranks} x {threads}",
                list(worse.values()),
                time_ratio,
                lambda row: row["name"],
            )
        )
    console.print()


def time_ratio(row: dict[str, Any]) -> float:
    return row["time_ratio"]["median"]


def verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """Which aims are met; without the rows that one speaks of, nothing of it."""
    own = own_rows(rows)
    return [*(line for cores in SPEED_AIMS for line in speed_verdict(own, cores)), *memory_verdict(own)]


def speed_verdict(own: list[dict[str, Any]], cores: int) -> list[str]:
    """Of the best way on so many cores, for each number of molecules."""
    found = []
    compared = [row for row in own if row["fluid"] == LJ.name and row["ranks"] * row["threads"] == cores]
    for molecules in dict.fromkeys(row["molecules"] for row in compared):
        best = min(
            (row for row in compared if row["molecules"] == molecules), key=lambda row: row["us"]["median"]
        )
        aim, time_us = SPEED_AIMS[cores], best["us"]["median"]
        found.append(f"aim: {aim} us, {best['name']}: {time_us:.3f}, {met(time_us <= aim)}")
    return found


def memory_verdict(own: list[dict[str, Any]]) -> list[str]:
    """Of the worst row of each fluid; few molecules drown in what a process needs anyway."""
    found = []
    for fluid in dict.fromkeys(row["fluid"] for row in own if row["memory_aim"] is not None):
        worst = max(
            (row for row in own if row["fluid"] == fluid),
            key=lambda row: row["resident_bytes_per_molecule"],
        )
        aim, needed = worst["memory_aim"], worst["resident_bytes_per_molecule"]
        found.append(
            f"aim: at most {aim} B/molecule in the steps, {worst['name']}: {needed:.0f}, {met(needed <= aim)}"
        )
    return found
