# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the benchmark of poisson."""

from typing import Any

from rich.console import Console

from tailrace.bench.document import coverage_text, make_table, with_interval
from tailrace.bench.host import watch_text
from tailrace.bench.stats import from_dict
from tailrace_bench.summary import mean_and_worst, met

AIM = 1.05
# Cells, blocks, methods and ranks that the aim speaks of.
AIM_CELLS, AIM_BLOCKS, AIM_METHODS, AIM_RANKS = [2048, 2048, 1], [128, 128, 1], ("jacobi", "cg"), 2
MILLI, MICRO = 1e3, 1e6


def print_document(document: dict[str, Any], console: Console) -> None:
    rows = document["rows"]
    console.print(coverage_text(rows[0]["fragments_s"]))
    table = make_table(
        "Sweeps by fragments, and by plain MPI on as many cores",
        "cells/blocks, method, ranks x threads",
        "blocks",
        "fragments, ms",
        "plain MPI, ms",
        "ratio",
        "more per block and core, us",
    )
    for row in rows:
        table.add_row(
            row["name"],
            str(row["block_count"]),
            with_interval(from_dict(row["fragments_s"]), MILLI, digits=3),
            with_interval(from_dict(row["mpi_s"]), MILLI, digits=3),
            with_interval(from_dict(row["ratio"]), digits=2),
            f"{MICRO * more_per_block(row):.1f}",
        )
    console.print(table)
    for line in [*means(rows), *verdicts(rows)]:
        console.print(line)
    console.print(watch_text(document["conditions"]))


def more_per_block(row: dict[str, Any]) -> float:
    """Core seconds that fragments take longer for a sweep over a block."""
    longer_s = row["fragments_s"]["median"] - row["mpi_s"]["median"]
    return longer_s * row["ranks"] * row["threads"] / row["block_count"]


def means(rows: list[dict[str, Any]]) -> list[str]:
    """By ranks and threads."""
    lines = []
    usual = [row for row in rows if not row.get("slowed")]
    for ranks, threads in dict.fromkeys((row["ranks"], row["threads"]) for row in usual):
        same = [row for row in usual if (row["ranks"], row["threads"]) == (ranks, threads)]
        what = f"time over plain MPI, {ranks} x {threads}"
        lines.append(mean_and_worst(what, same, ratio, lambda row: row["name"]))
    return lines


def ratio(row: dict[str, Any]) -> float:
    return row["ratio"]["median"]


def verdicts(rows: list[dict[str, Any]]) -> list[str]:
    """With one rank slowed by half, fragments are to be faster, if they may move."""
    lines = []
    for row in rows:
        found, shape = ratio(row), (row["cells"], row["blocks"], row["ranks"])
        if shape != (AIM_CELLS, AIM_BLOCKS, AIM_RANKS) or row["method"] not in AIM_METHODS:
            continue
        if not row.get("slowed"):
            lines.append(
                f"aim: at most {AIM} times plain MPI, {row['name']}: {found:.2f}, {met(found <= AIM)}"
            )
        elif row["name"].endswith("balance auto"):
            lines.append(f"aim: faster than plain MPI, {row['name']}: {found:.2f}, {met(found < 1)}")
    return lines
