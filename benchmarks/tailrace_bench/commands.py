# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench`: one sub-command per benchmark."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.commands.bench import Directory, JsonFile, Layouts, Pairs, Steps, parse_layouts, publish
from tailrace.commands.options import finite
from tailrace_bench import BENCHMARKS
from tailrace_bench.advice_command import advice
from tailrace_bench.choices import Page, known_words, refuse
from tailrace_bench.fragments_command import fragments
from tailrace_bench.gpu_command import gpu
from tailrace_bench.heat_command import heat, study_heat
from tailrace_bench.language_command import language
from tailrace_bench.molecules_case import FLUIDS
from tailrace_bench.network_command import network
from tailrace_bench.poisson_command import poisson
from tailrace_bench.start_command import start
from tailrace_bench.subsystems_command import subsystems

Outputs = Annotated[int, typer.Option(metavar="N", min=2, help="Outputs of a run.")]
ComputeMs = Annotated[
    float, typer.Option(metavar="MS", min=0.1, callback=finite, help="Computing per output.")
]


def grid_option(default: str) -> typer.models.OptionInfo:
    return typer.Option("--grid", metavar="N", min=16, help=f"Points per axis (default: {default}).")


def ranks_option(default: str = "") -> typer.models.OptionInfo:
    text = f"Ranks that compute (default: {default})." if default else "Ranks that compute."
    return typer.Option("-n", "--ranks", metavar="N", min=1, help=text)


def list_benchmarks(context: typer.Context) -> None:
    """Measure speed by ratios: interleaved repetitions, medians, intervals.

    Measure on a quiet machine; the load and what other programs used are reported with the results.
    """
    if context.invoked_subcommand is None:
        for name, text in BENCHMARKS.items():
            typer.echo(f"tailrace bench {name:12} {text}")


def ultrasound(
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NXxNYxNZ", help="Points, also as N for a cube, NXxNY (default: a set of 13)."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="one|many", help="Signals of the source (default: one)."),
    ] = None,
    layout: Layouts = None,
    steps: Steps = 0,
    pairs: Pairs = 7,
    reference: Annotated[
        Path | None, typer.Option(metavar="PROGRAM", help="k-Wave's kspaceFirstOrder-OMP, to compare with.")
    ] = None,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Time per step of the ultrasound program, what bounds it, its memory against the prediction."""
    from tailrace_bench import ultrasound as benchmark
    from tailrace_bench import ultrasound_tables

    request = benchmark.Request(
        grids=tuple(map(benchmark.parse_grid, grid)) if grid else benchmark.GRIDS,
        sources=known_words("--source", source, ("one", "many")) if source else ("one",),
        layouts=parse_layouts(layout),
        pairs=pairs,
        steps=steps,
        reference=reference,
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), ultrasound_tables.print_document, json)


def molecules(
    molecules: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, help="About so many (default: 32000; of lj also 2048 to 1000000)."),
    ] = None,
    fluid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"{', '.join(FLUIDS)} (default: all)."),
    ] = None,
    layout: Layouts = None,
    steps: Steps = 0,
    pairs: Pairs = 7,
    reference: Annotated[
        str, typer.Option(metavar="PROGRAM", help="That of LAMMPS (lmp), to compare with (lj).")
    ] = "",
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Microseconds and memory of the molecules program, per molecule and step."""
    from tailrace_bench import molecules as benchmark
    from tailrace_bench import molecules_tables

    request = benchmark.Request(
        fluids=known_words("--fluid", fluid, tuple(FLUIDS)),
        molecules=tuple(molecules or ()),
        layouts=parse_layouts(layout),
        pairs=pairs,
        steps=steps,
        reference=reference,
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), molecules_tables.print_document, json)


def output(
    rows: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Rows to measure, such as paced/50/1/even or 'paced/*'."),
    ] = None,
    list_rows: Annotated[bool, typer.Option("--list-rows", help="Name the rows and stop.")] = False,
    strategies: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Ways to write (default: all of this build).")
    ] = None,
    boxes: Annotated[bool, typer.Option(help="Also 256 boxes against one.")] = True,
    ranks: Annotated[list[int] | None, ranks_option("half of the cores, 2 to 4")] = None,
    outputs: Outputs = 50,
    sample_mib: Annotated[int, typer.Option(metavar="N", min=1, help="MiB of an output.")] = 2,
    compute_ms: ComputeMs = 20.0,
    box_mib: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, help="MiB of the boxes' samples (default: 8 and 64)."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few rows, three repetitions: a look, not a measurement.")
    ] = False,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Interleaved repetitions (default: 7).")
    ] = None,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Every strategy under many loads: paced, flushed and throttled storage; 256 boxes against one."""
    from tailrace.cores import usable_cores
    from tailrace_bench import output as benchmark
    from tailrace_bench import output_rows, output_tables

    chosen = output_rows.select_rows(tuple(rows or ()), quick)
    if list_rows:
        for row in chosen:
            typer.echo(row.name)
        return
    request = benchmark.Request(
        rows=tuple(chosen),
        strategies=tuple(strategies or ()),
        boxes=boxes,
        ranks=tuple(ranks or (min(4, max(2, usable_cores() // 2)),)),
        outputs=outputs,
        pairs=pairs or (3 if quick else 7),
        sample_mib=sample_mib,
        compute_ms=compute_ms,
        box_mib=tuple(box_mib or ((8,) if quick else (8, 64))),
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), output_tables.print_document, json)


def trace(
    grid: Annotated[list[int] | None, grid_option("32, 64, 128")] = None,
    ranks: Annotated[list[int] | None, ranks_option("1 and 2")] = None,
    steps: Steps = 0,
    pairs: Pairs = 15,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """What the trace costs: the ultrasound program with and without it, one after the other."""
    from tailrace_bench import trace as benchmark
    from tailrace_bench import trace_tables

    request = benchmark.Request(
        grids=tuple(grid or (32, 64, 128)),
        ranks=tuple(ranks or (1, 2)),
        pairs=pairs,
        steps=steps,
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), trace_tables.print_document, json)


def checkpoint(
    study: Annotated[
        str,
        typer.Option(metavar="molecules", help="Instead: the study of states of molecules, all formats."),
    ] = "",
    molecules: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, help="Of the study, about so many (default: 0.33 and 3 million)."),
    ] = None,
    formats: Annotated[
        list[str] | None, typer.Option("--format", metavar="NAME", help="Of the study (default: all).")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="The page of the study (default: study.html)."),
    ] = None,
    particles: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, help="Particles of 116 bytes (default: 1 and 10 million)."),
    ] = None,
    spread: Annotated[
        list[str] | None,
        typer.Option(metavar="uniform|clustered", help="How they lie in space (default: both)."),
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option("--size", metavar="MIB", min=1, help="Of a field (default: 128)."),
    ] = None,
    ranks: Annotated[list[int] | None, ranks_option("1, 2, 4; of the study to 64")] = None,
    strategies: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy", metavar="STRATEGY", help="Who writes (default: blocking, threads, leaders)."
        ),
    ] = None,
    compress: Annotated[
        str, typer.Option(metavar="none|zstd[:LEVEL]", help="How cells are stored.")
    ] = "none",
    cold: Annotated[
        bool, typer.Option("--cold", help="Restart from the device instead of the page cache.")
    ] = False,
    headers: Annotated[bool, typer.Option(help="Also ways to read a header on all ranks.")] = True,
    cost: Annotated[bool, typer.Option(help="Also what a run loses to checkpoints.")] = True,
    pairs: Pairs = 7,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Checkpoints and restarts, beside a plain write and read of as many bytes.

    Each state is written to the directory and flushed, and where there is /dev/shm, to memory, where flushing
    costs nothing. With --study molecules a state of molecules is written and read in all formats of MarDyn
    and ls1 mardyn and in ours.
    """
    from tailrace_bench import checkpoint as benchmark
    from tailrace_bench import checkpoint_tables

    if study:
        others = {"--particles": particles, "--spread": spread, "--size": size, "--strategy": strategies}
        refuse(others | {"--cold": cold, "--no-cost": not cost}, "with --study")
        known_words("--study", [study], ("molecules",))
        page = html or Path("study.html")
        return study_molecules(molecules, ranks, formats, headers, pairs, page, directory, json)
    refuse({"--molecules": molecules, "--format": formats, "--html": html}, "without --study molecules")
    spreads = known_words("--spread", spread or ["uniform", "clustered"], ("uniform", "clustered"))
    given = particles or size
    states = [
        benchmark.State(particles=count, spread=word)
        for count in (particles or (() if given else (1_000_000, 10_000_000)))
        for word in spreads
    ]
    states += [benchmark.State(field_mib=mib) for mib in (size or (() if given else (128,)))]
    request = benchmark.Request(
        states=tuple(states),
        ranks=tuple(ranks or (1, 2, 4)),
        strategies=tuple(strategies or ("blocking", "threads", "leaders")),
        pairs=pairs,
        compress=compress,
        cold=cold,
        headers=headers,
        cost=cost,
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), checkpoint_tables.print_document, json)


def study_molecules(
    molecules: list[int] | None,
    ranks: list[int] | None,
    formats: list[str] | None,
    headers: bool,
    pairs: int,
    html: Path,
    directory: Path | None,
    json: Path | None,
) -> None:
    """States of molecules in files: the study's findings beside ours, on one page."""
    from tailrace.bench import document
    from tailrace.units import wide_console
    from tailrace_bench import study_molecules as benchmark
    from tailrace_bench import study_molecules_page

    document.check_writable(html, "--html")
    request = benchmark.Request(
        molecules=tuple(molecules or (330_000, 3_000_000)),
        ranks=tuple(ranks or (1, 2, 4, 8, 16, 32, 64)),
        formats=known_words("--format", formats, tuple(benchmark.FORMATS)),
        pairs=pairs,
        headers=headers,
        directory=directory,
    )
    found = benchmark.measure(request)
    document.write_document(found, json)
    study_molecules_page.write_page(found, html)
    study_molecules_page.print_document(found, wide_console())
    typer.echo(f"page: {html}")


def seismic(
    grid: Annotated[list[int] | None, grid_option("97, 152, 167 and 248")] = None,
    equations: Annotated[
        list[str] | None, typer.Option(metavar="isotropic|vti|tti", help="Which equations (default: all).")
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option(metavar="numbers|arrays", help="Properties of the medium (default: both)."),
    ] = None,
    layout: Layouts = None,
    steps: Steps = 0,
    pairs: Pairs = 7,
    devito: Annotated[
        Path | None,
        typer.Option(metavar="PYTHON", help="A Python that has Devito, to compare with (tti, arrays)."),
    ] = None,
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Points per second of the seismic program, its share of the memory's bandwidth, its memory."""
    from tailrace_bench import seismic as benchmark
    from tailrace_bench import seismic_tables

    request = benchmark.Request(
        grids=tuple(grid or (97, 152, 167, 248)),
        equations=known_words("--equations", equations, benchmark.EQUATIONS),
        properties=known_words("--properties", properties, benchmark.PROPERTIES),
        layouts=parse_layouts(layout),
        pairs=pairs,
        steps=steps,
        # As it was given: behind a link of a virtual environment another Python would be found.
        devito=devito.absolute() if devito else None,
        directory=directory,
    )
    publish(lambda: benchmark.measure(request), seismic_tables.print_document, json)


def exchange(
    load: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Index vectors to measure (default: all).")
    ] = None,
    components: Annotated[
        list[int] | None, typer.Option(metavar="N", min=1, help="Numbers per value (default: 1 and 4).")
    ] = None,
    ranks: Annotated[int, ranks_option("2")] = 2,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="In which all take turns (default: 30).")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One number per value, 15 rounds: a look.")] = False,
    puts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Single values to put per rank (default: 1,000,000).",
        ),
    ] = None,
    count: Annotated[
        bool, typer.Option("--count", help="Count what rules of ownership cost, measure nothing.")
    ] = False,
    counted_ranks: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            min=1,
            help="With --count: inspected ranks (default: 8, 64 and 512); up to the most, also real ones.",
        ),
    ] = None,
    json: JsonFile = None,
) -> None:
    """Gathers and scatter-adds by every transport and `auto`, against gathers written by hand."""
    from tailrace_bench import exchange as benchmark
    from tailrace_bench import exchange_tables

    if count:
        ranks_counted = tuple(counted_ranks or benchmark.COUNTED_RANKS)
        real = tuple(row for row in benchmark.REAL if row[1] <= max(ranks_counted))
        return publish(lambda: benchmark.count(ranks_counted, real), exchange_tables.print_counts, json)
    request = benchmark.Request(
        loads=known_words("--load", load, benchmark.LOADS),
        components=tuple(components or ((1,) if quick else (1, 4))),
        ranks=ranks,
        rounds=rounds or (15 if quick else 30),
        puts=puts if puts is not None else (200_000 if quick else 1_000_000),
    )
    publish(lambda: benchmark.measure(request), exchange_tables.print_document, json)


def study_ultrasound(
    ranks: Annotated[int, ranks_option()] = 2,
    outputs: Outputs = 50,
    compute_ms: ComputeMs = 20.0,
    pairs: Pairs = 7,
    html: Page = Path("study.html"),
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Overlapped output under k-Wave's loads: the study's findings beside ours, on one page."""
    from tailrace.bench import document
    from tailrace_bench import study as benchmark

    document.check_writable(json)
    document.check_writable(html, "--html")
    found = benchmark.measure(benchmark.Request(ranks, outputs, pairs, compute_ms, directory))
    report_study(found, html, json)


def study_seismic(
    grid: Annotated[list[int] | None, grid_option("120 and 152, --quick: 120")] = None,
    outputs: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, help="Snapshots after the first (default: 50, --quick: 10)."),
    ] = None,
    ranks: Annotated[int, ranks_option()] = 1,
    threads: Annotated[
        int | None,
        typer.Option(
            "-t", "--threads", metavar="N", min=1, help="That compute (default: all cores but one)."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="One grid, few snapshots, two repetitions: a look.")
    ] = False,
    pairs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Interleaved repetitions (default: 5, --quick: 2)."),
    ] = None,
    html: Page = Path("study.html"),
    directory: Directory = None,
    json: JsonFile = None,
) -> None:
    """Snapshots behind one computing process, a slow and a fast device: the study's speed-ups beside ours."""
    from tailrace.bench import document
    from tailrace.cores import usable_cores
    from tailrace_bench import study_seismic as benchmark

    document.check_writable(json)
    document.check_writable(html, "--html")
    request = benchmark.Request(
        grids=tuple(grid or ((120,) if quick else (120, 152))),
        outputs=outputs or (10 if quick else 50),
        pairs=pairs or (2 if quick else 5),
        ranks=ranks,
        threads=threads or max(1, (usable_cores() - 1) // ranks),
        directory=directory,
    )
    report_study(benchmark.measure(request), html, json)


def report_study(found: dict[str, Any], html: Path, json: Path | None) -> None:
    from tailrace.bench import document
    from tailrace.units import wide_console
    from tailrace_bench import study_page

    document.write_document(found, json)
    study_page.write_page(found, html)
    study_page.print_document(found, wide_console())
    typer.echo(f"page: {html}")


def benchmarks() -> typer.Typer:
    """The group of commands."""
    group = typer.Typer(invoke_without_command=True, add_completion=False)
    group.callback()(list_benchmarks)
    group.command("ultrasound")(ultrasound)
    group.command("output")(output)
    group.command("seismic")(seismic)
    group.command("molecules")(molecules)
    group.command("heat")(heat)
    group.command("fragments")(fragments)
    group.command("poisson")(poisson)
    studies = typer.Typer(
        no_args_is_help=True, help="A reference study, scaled down: its findings beside ours."
    )
    studies.command("ultrasound")(study_ultrasound)
    studies.command("seismic")(study_seismic)
    studies.command("heat")(study_heat)
    group.add_typer(studies, name="study")
    group.command("exchange")(exchange)
    group.command("checkpoint")(checkpoint)
    group.command("network")(network)
    group.command("start")(start)
    group.command("language")(language)
    group.command("gpu")(gpu)
    group.command("subsystems")(subsystems)
    group.command("advice")(advice)
    group.command("trace")(trace)
    return group
