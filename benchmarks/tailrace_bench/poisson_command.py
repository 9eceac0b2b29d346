# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench poisson`."""

from typing import Annotated

import typer

from tailrace.commands.bench import JsonFile, Layouts, parse_layouts, publish
from tailrace_bench.choices import known_words

METHODS = ("jacobi", "gauss-seidel", "cg")


def poisson(
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="CELLS/BLOCKS", help="Such as 512x512/128x128 (default: nine, 2D and 3D)."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"{', '.join(METHODS)} (default: all).")
    ] = None,
    layout: Layouts = None,
    sweeps: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of a round, which ends with a look at the residual.")
    ] = 50,
    quick: Annotated[bool, typer.Option("--quick", help="Two small cases, two repetitions: a look.")] = False,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Interleaved repetitions (default: 5).")
    ] = None,
    slowed: Annotated[
        bool, typer.Option("--slowed", help="Also two ranks, of which one has half of its core.")
    ] = False,
    json: JsonFile = None,
) -> None:
    """Time per sweep of Poisson's equation by fragments against a plain MPI solver on as many cores."""
    from tailrace_bench import poisson as benchmark
    from tailrace_bench import poisson_tables

    request = benchmark.Request(
        cases=tuple(map(benchmark.parse_case, case or ())) or benchmark.usual_cases(quick),
        methods=known_words("--method", method, METHODS),
        layouts=parse_layouts(layout),
        sweeps=sweeps,
        pairs=pairs or (2 if quick else 5),
        slowed=slowed,
    )
    publish(lambda: benchmark.measure(request), poisson_tables.print_document, json)
