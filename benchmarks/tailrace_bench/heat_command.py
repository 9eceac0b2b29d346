# SPDX-License-Identifier: BSD-3-Clause
"""The options of `tailrace bench heat` and `tailrace bench study heat`."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.bench import Directory, JsonFile, Layouts, parse_layouts, publish
from tailrace.console import CommandError
from tailrace_bench.choices import Page, known_words, refuse

CLASSES = ("S", "W", "A", "B", "C", "D")
USUAL_CLASSES, QUICK_CLASSES = ("S", "W", "A"), ("S", "W")
PAIRS, QUICK_PAIRS, STUDY_PAIRS = 7, 2, 5
MODEL_RANKS, QUICK_RANKS = (2, 16, 128, 512, 1024, 2048), (16, 128, 1024, 2048)


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
    way: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="Of these, only those whose name contains this, as `transport get`."
        ),
    ] = None,
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
    count: Annotated[
        list[int] | None,
        typer.Option(
            metavar="RANKS",
            min=2,
            help="Measure nothing, count what so many ranks send, inspected rank by rank (class C).",
        ),
    ] = None,
    real: Annotated[
        list[int] | None,
        typer.Option(
            metavar="RANKS",
            min=2,
            help="With --count: the program counts on so many, too (default: 2, 4, ... 64 up to the most).",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(metavar="N", min=6, help="With --count: of each run of the program (default: 6)."),
    ] = None,
    weak: Annotated[
        bool, typer.Option(help="With --count: also A, B, C on 4, 16, 64 ranks, as many elements on each.")
    ] = True,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Time per step and Mop/s of NPB's UA by class, ranks and threads, and where the time goes."""
    from tailrace_bench import heat as benchmark
    from tailrace_bench import heat_tables

    if count:
        refuse(
            {"--layout": layout, "--reference": reference, "--pairs": pairs, "--quick": quick, "--way": way},
            "with --count",
        )
        return count_messages(npb_class, count, real, steps, weak, directory, json)
    refuse({"--real": real, "--steps": steps, "--no-weak": not weak}, "without --count")
    if not ways:
        refuse({"--way": way}, "with --no-ways")
    request = benchmark.Request(
        classes=known_words("--class", npb_class, CLASSES, QUICK_CLASSES if quick else USUAL_CLASSES),
        layouts=parse_layouts(layout),
        pairs=pairs or (QUICK_PAIRS if quick else PAIRS),
        ways=ways,
        names=tuple(way or ()),
        reference=reference,
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), heat_tables.print_document, json)


def count_messages(
    npb_class: list[str] | None,
    ranks: list[int],
    real: list[int] | None,
    steps: int | None,
    weak: bool,
    directory: Path | None,
    json: Path | None,
) -> None:
    """`tailrace bench heat --count`."""
    from tailrace_bench import heat_counts as benchmark
    from tailrace_bench import heat_counts_tables

    counted, *others = known_words("--class", npb_class, tuple(benchmark.CLASSES), ("C",))
    if others:
        raise CommandError("--class is given more than once. Fix: one class with --count.")
    on_real = tuple(real or (one for one in benchmark.REAL_RANKS if one <= max(ranks)))
    request = benchmark.Request(
        npb_class=counted,
        ranks=tuple(sorted({*ranks, *on_real})),
        real=on_real,
        steps=steps or benchmark.ADAPT_EVERY + 1,
        weak=weak,
        directory=directory,
    )
    if request.steps > request.middle:
        raise CommandError(f"--steps {request.steps}: at most {request.middle} of class {counted}.")
    publish(lambda: benchmark.measure(request), heat_counts_tables.print_document, json)


def study_heat(
    npb_class: Annotated[
        str, typer.Option("--class", metavar="NAME", help="Of the profile (default: B, --quick: A).")
    ] = "",
    ranks: Annotated[
        list[int] | None,
        typer.Option(
            "--count",
            metavar="RANKS",
            min=2,
            help="Inspected, and modelled (default: 2, 16, 128, 512, 1024, 2048; --quick: four of these).",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller class, two repetitions: a look, not a measurement.")
    ] = False,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Interleaved repetitions (default: 5, --quick: 2).")
    ] = None,
    html: Page = Path("study.html"),
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """NPB's UA on Blue Gene/P with one-sided exchange: the study's findings beside ours, measured, inspected
    rank by rank, and modelled for up to 2048 ranks.
    """
    from tailrace.bench import document
    from tailrace.units import wide_console
    from tailrace_bench import study_heat as benchmark
    from tailrace_bench import study_heat_page

    document.check_writable(json)
    document.check_writable(html, "--html")
    known_words("--class", [npb_class] if npb_class else None, CLASSES)
    request = benchmark.Request(
        npb_class=npb_class or ("A" if quick else "B"),
        pairs=pairs or (QUICK_PAIRS if quick else STUDY_PAIRS),
        ranks=tuple(sorted({*(ranks or (QUICK_RANKS if quick else MODEL_RANKS))})),
        directory=directory,
    )
    found = benchmark.measure(request)
    document.write_document(found, json)
    study_heat_page.write_page(found, html)
    study_heat_page.print_document(found, wide_console())
    typer.echo(f"page: {html}")
