# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench gpu`, and its table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.commands.bench import Directory, JsonFile, publish

SEISMIC_GRIDS = (97, 248, 504)
ULTRASOUND_GRIDS = ("64", "120", "127", "128", "256", "480x384", "1024x1024")


def gpu(
    device: Annotated[
        str, typer.Option(metavar="DEVICE", help="Which one, by its number; emulated measures nothing.")
    ] = "0",
    seismic_grid: Annotated[
        list[int] | None, typer.Option(metavar="N", min=16, help="Points per axis (default: 97, 248, 504).")
    ] = None,
    ultrasound_grid: Annotated[
        list[str] | None,
        typer.Option(metavar="GRID", help=f"N, NXxNY or NXxNYxNZ (default: {', '.join(ULTRASOUND_GRIDS)})."),
    ] = None,
    steps: Annotated[int, typer.Option(metavar="N", min=5, help="Timed steps.")] = 100,
    pairs: Annotated[int, typer.Option(metavar="N", min=1, help="Interleaved repetitions.")] = 7,
    reference: Annotated[
        Path | None, typer.Option(metavar="PROGRAM", help="k-Wave's kspaceFirstOrder-CUDA, to compare with.")
    ] = None,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Steps of both wave simulations on a device, and what sources and samples add to them."""
    from tailrace_bench import gpu as benchmark
    from tailrace_bench.ultrasound import parse_grid

    request = benchmark.Request(
        device,
        tuple(seismic_grid or SEISMIC_GRIDS),
        tuple(parse_grid(text) for text in ultrasound_grid or ULTRASOUND_GRIDS),
        pairs,
        steps,
        reference,
        directory,
    )
    publish(lambda: benchmark.measure(request), print_document, json)


def print_document(document: dict[str, Any], console: Any) -> None:
    from tailrace.bench.document import coverage_text, make_table, with_interval
    from tailrace.bench.host import watch_text
    from tailrace.bench.stats import from_dict
    from tailrace_bench.ultrasound import grid_text

    table = make_table(
        "Steps on a device", "work", "grid", "ms", "Gsamples/s", "over the first", "reference over ours"
    )
    for row in document["rows"]:
        peer = row.get("reference_over_ours")
        table.add_row(
            f"{row['program'].removeprefix('tailrace-')}: {row['work']}",
            grid_text(row["grid"]),
            with_interval(from_dict(row["step_s"]), 1e3, 3),
            with_interval(from_dict(row["samples_s"]), 1e-9, 2),
            with_interval(from_dict(row["over_first"]), 1, 3),
            with_interval(from_dict(peer), 1, 2) if peer else "",
        )
    console.print(table)
    console.print(coverage_text(document["rows"][0]["step_s"]))
    console.print(watch_text(document["conditions"]))
