"""`tailrace bench`: one sub-command per benchmark."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.bench import BENCHMARKS
from tailrace.console import CommandError

JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write all results here.")]
Directory = Annotated[
    Path | None,
    typer.Option("--dir", metavar="DIR", help="Where to put the files (default: the temporary directory)."),
]
Pairs = Annotated[int, typer.Option(metavar="N", min=1, help="Interleaved repetitions.")]


def list_benchmarks(context: typer.Context) -> None:
    """Measure speed by ratios: interleaved repetitions, medians, intervals.

    Measure on a quiet machine; the load and what other programs used are reported with the results.
    """
    if context.invoked_subcommand is None:
        for name, text in BENCHMARKS.items():
            typer.echo(f"tailrace bench {name:12} {text}")


def ultrasound(
    grid: Annotated[
        list[int] | None, typer.Option(metavar="N", min=16, help="Points per axis [default: 128 and 256].")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="one|many", help="Signals of the source [default: both, at 256 many]."),
    ] = None,
    layout: Annotated[
        list[str] | None,
        typer.Option(metavar="RxT", help="Ranks x threads [default: 1x1, 1xCORES, CORESx1]."),
    ] = None,
    steps: Annotated[
        int, typer.Option(metavar="N", min=0, help="Timed steps (default: as suits the grid).")
    ] = 0,
    pairs: Pairs = 7,
    reference: Annotated[
        Path | None, typer.Option(metavar="PROGRAM", help="k-Wave's kspaceFirstOrder-OMP, to compare with.")
    ] = None,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Time per step of the ultrasound program, what bounds it, its memory against the prediction."""
    from tailrace.bench import document, ultrasound_tables
    from tailrace.bench import ultrasound as benchmark
    from tailrace.units import wide_console

    document.check_writable(json)
    request = benchmark.Request(
        grids=tuple(grid or (128, 256)),
        sources=tuple(known_source(name) for name in source or ()),
        layouts=tuple(parse_layout(text) for text in layout) if layout else benchmark.default_layouts(),
        pairs=pairs,
        steps=steps,
        reference=reference,
        directory=directory,
    )
    found = benchmark.measure(request)
    document.write_document(found, json)
    ultrasound_tables.print_document(found, wide_console())


def output(
    part: Annotated[
        list[str] | None, typer.Option(metavar="overlap|boxes", help="What to measure [default: both].")
    ] = None,
    ranks: Annotated[
        list[int] | None, typer.Option("-n", "--ranks", metavar="N", min=1, help="Ranks [default: 1 and 2].")
    ] = None,
    share: Annotated[
        list[float] | None,
        typer.Option(metavar="X", min=0.01, help="Writing over computing [default: 0.2, 0.5, 0.8]."),
    ] = None,
    outputs: Annotated[int, typer.Option(metavar="N", min=2, help="Outputs of a run.")] = 50,
    sample_mib: Annotated[int, typer.Option(metavar="N", min=1, help="MiB of an output.")] = 2,
    compute_ms: Annotated[float, typer.Option(metavar="MS", min=0.1, help="Computing per output.")] = 40.0,
    box_mib: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, help="MiB of the boxes' samples [default: 8 and 64]."),
    ] = None,
    pairs: Pairs = 7,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """How much of the writing hides behind the computation, paced and flushed; 256 boxes against one."""
    from tailrace.bench import document, output_tables
    from tailrace.bench import output as benchmark
    from tailrace.units import wide_console

    document.check_writable(json)
    request = benchmark.Request(
        parts=tuple(known_part(name) for name in part or ("overlap", "boxes")),
        ranks=tuple(ranks or (1, 2)),
        shares=tuple(share or (0.2, 0.5, 0.8)),
        outputs=outputs,
        pairs=pairs,
        sample_mib=sample_mib,
        compute_ms=compute_ms,
        box_mib=tuple(box_mib or (8, 64)),
        directory=directory,
    )
    found = benchmark.measure(request)
    document.write_document(found, json)
    output_tables.print_document(found, wide_console())


def known_part(name: str) -> str:
    if name not in ("overlap", "boxes"):
        raise CommandError(f"--part {name}: unknown. Choose one of overlap, boxes.")
    return name


def known_source(name: str) -> str:
    if name not in ("one", "many"):
        raise CommandError(f"--source {name}: unknown. Choose one of one, many.")
    return name


def parse_layout(text: str) -> tuple[int, int]:
    ranks, separator, threads = text.partition("x")
    if not separator or not ranks.isdigit() or not threads.isdigit() or "0" in (ranks, threads):
        raise CommandError(f"--layout {text}: write ranks and threads like 2x1.")
    return int(ranks), int(threads)


def register(app: typer.Typer) -> None:
    group = typer.Typer(invoke_without_command=True, add_completion=False)
    group.callback()(list_benchmarks)
    group.command("ultrasound")(ultrasound)
    group.command("output")(output)
    app.add_typer(group, name="bench")
