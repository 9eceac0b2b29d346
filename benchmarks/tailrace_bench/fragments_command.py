# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench fragments`."""

from typing import Annotated

import typer

from tailrace.commands.bench import JsonFile, publish
from tailrace.console import CommandError
from tailrace_bench.choices import known_words
from tailrace_bench.task_graphs import KERNELS, PATTERNS

QUICK_PATTERNS = ("trivial", "stencil_1d", "all_to_all")
USUAL_STEPS, QUICK_STEPS = 1000, 100
USUAL_FRAGMENTS, QUICK_FRAGMENTS = 20_000, 5_000
USUAL_MESSAGES, QUICK_MESSAGES = 2000, 50
COUNTED_RANKS = (2, 4, 8, 16, 32, 64)


def fragments(
    pattern: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"{', '.join(PATTERNS)} (default: all).")
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"What tasks do: {', '.join(KERNELS)} (default: compute)."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="fragments, mpi, openmp, starpu, tbb (default: those of the build)."
        ),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND",
            help="Another program that prints its tasks and seconds; {pattern}, {kernel}, {width}, {steps}, "
            "{radix}, {bytes}, {graphs}, {iterations} and {cores} are replaced.",
        ),
    ] = None,
    width: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=4096, help="Points of a step (default: the cores).")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", min=2, max=10_000_000, help="Steps (default: 1000).")
    ] = None,
    radix: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Inputs of nearest, spread, random_* (default: 3, or width)."),
    ] = None,
    size: Annotated[
        int, typer.Option("--bytes", metavar="N", min=16, max=1 << 28, help="Of each output.")
    ] = 16,
    graphs: Annotated[int, typer.Option(metavar="N", min=1, max=63, help="Graphs at once.")] = 1,
    cores: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="That each system has (default: all).")
    ] = None,
    parts: Annotated[bool, typer.Option(help="Also chains, hops, requests, ids, bytes and messages.")] = True,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="Count messages, bytes and memory on 2 to 64 ranks, time nothing."),
    ] = False,
    counted_ranks: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=2, max=1024, help="With --counts: so many ranks (default: 2 to 64)."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three patterns, few steps, two repetitions: a look.")
    ] = False,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Interleaved repetitions (default: 7).")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Task graphs by fragments, plain MPI, OpenMP tasks and others; what the parts of a fragment cost."""
    from tailrace.cores import usable_cores
    from tailrace_bench import fragments as benchmark
    from tailrace_bench import fragments_tables, task_graphs

    if counts:
        ranks = tuple(counted_ranks or COUNTED_RANKS)
        return publish(lambda: benchmark.count(ranks), fragments_tables.print_counts, json)
    if counted_ranks:
        raise CommandError("--counted-ranks has no meaning without --counts. Fix: leave it out.")
    wide = width or cores or usable_cores()
    request = benchmark.Request(
        patterns=known_words("--pattern", pattern, PATTERNS, QUICK_PATTERNS if quick else PATTERNS),
        kernels=known_words("--kernel", kernel, KERNELS, ("compute",)),
        width=wide,
        steps=steps or (QUICK_STEPS if quick else USUAL_STEPS),
        radix=known_radix(radix, wide),
        bytes=size,
        graphs=graphs,
        cores=cores or usable_cores(),
        systems=tuple(system or ()),
        peers=tuple(task_graphs.parse_peer(text) for text in peer or ()),
        factor=8 if quick else 2,
        pairs=pairs or (2 if quick else 7),
        parts=parts,
        fragments=QUICK_FRAGMENTS if quick else USUAL_FRAGMENTS,
        messages=QUICK_MESSAGES if quick else USUAL_MESSAGES,
    )
    publish(lambda: benchmark.measure(request), fragments_tables.print_document, json)


def known_radix(radix: int | None, width: int) -> int:
    if radix is not None and radix > width:
        raise CommandError(f"--radix {radix}: above the width {width}. Fix: give --width {radix} or more.")
    return radix or min(3, width)
