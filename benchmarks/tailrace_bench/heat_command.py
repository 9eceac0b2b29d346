# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench heat`."""

from typing import Annotated

import typer

from tailrace.commands.bench import Directory, JsonFile, Layouts, parse_layouts, publish
from tailrace_bench.choices import known_words

CLASSES = ("S", "W", "A", "B", "C", "D")
USUAL_CLASSES, QUICK_CLASSES = ("S", "W", "A"), ("S", "W")
PAIRS, QUICK_PAIRS = 7, 2


def heat(
    npb_class: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="NAME", help="S, W, A, B, C or D (default: S, W, A)."),
    ] = None,
    layout: Layouts = None,
    ways: Annotated[
        bool,
        typer.Option(
            help="Also every transport, every distribution and fast sums, on 2 ranks, with class W."
        ),
    ] = True,
    reference: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="NPB's UA to compare with: a directory with ua.S.x ..., or one with {class}."
        ),
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="S and W, two repetitions: a look, not a measurement.")
    ] = False,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Interleaved repetitions (default: 7).")
    ] = None,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Time per step and Mop/s of NPB's UA by class, ranks and threads, and where the time goes."""
    from tailrace_bench import heat as benchmark
    from tailrace_bench import heat_tables

    request = benchmark.Request(
        classes=known_words("--class", npb_class, CLASSES, QUICK_CLASSES if quick else USUAL_CLASSES),
        layouts=parse_layouts(layout),
        pairs=pairs or (QUICK_PAIRS if quick else PAIRS),
        ways=ways,
        reference=reference,
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), heat_tables.print_document, json)
