# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench start`."""

from typing import Annotated

import typer

from tailrace.commands.bench import Directory, JsonFile, Layouts, Pairs, parse_layouts
from tailrace.console import CommandError

SIMULATIONS = ("ultrasound", "seismic", "molecules", "heat", "poisson")


def start(
    simulation: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"{', '.join(SIMULATIONS)} (default: all).")
    ] = None,
    layout: Layouts = None,
    pairs: Pairs = 5,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Time to the first step and from the last step to the prompt, and what `tailrace run` adds to it."""
    from tailrace.bench import document
    from tailrace.units import wide_console
    from tailrace_bench import start as benchmark
    from tailrace_bench import start_tables

    document.check_writable(json)
    for name in simulation or ():
        if name not in SIMULATIONS:
            raise CommandError(f"--simulation {name}: unknown. Choose one of {', '.join(SIMULATIONS)}.")
    request = benchmark.Request(tuple(simulation or SIMULATIONS), parse_layouts(layout), pairs, directory)
    found = benchmark.measure(request)
    document.write_document(found, json)
    start_tables.print_document(found, wide_console())
