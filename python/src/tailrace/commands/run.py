"""`tailrace run`."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    case: Annotated[
        Path, typer.Argument(metavar="CASE", help="A case file (TOML) or a k-Wave input file (.h5).")
    ],
    ranks: Annotated[
        int, typer.Option("-n", "--ranks", metavar="RANKS", min=1, help="Number of MPI ranks.")
    ] = 1,
    threads: Annotated[
        int | None,
        typer.Option(
            "-t", "--threads", metavar="THREADS", min=1, help="Threads per rank (default: all cores / ranks)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Run directory to make (default: runs/CASE, runs/CASE-2, ...)."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the case, such as time.steps=50."),
    ] = None,
    write: Annotated[
        str | None, typer.Option(metavar="STRATEGY", help="Who writes: blocking, threads[:BUFFERS].")
    ] = None,
    sink: Annotated[
        str | None, typer.Option(metavar="SINK", help="Format of the output: hdf5, hdf5-chunked[:LEVEL].")
    ] = None,
    bind: Annotated[
        str, typer.Option(metavar="HOW", help="Bind ranks: auto, none, core, numa, socket.")
    ] = "auto",
    launcher: Annotated[
        str | None,
        typer.Option(
            metavar="LAUNCHER", help="mpirun or srun (default: the one of the MPI it was built with)."
        ),
    ] = None,
    fault: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Inject faults, to see what happens.")
    ] = None,
    pace: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Slow the sink down to emulate a device.")
    ] = None,
    wall_limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="Stop in good order after this time: 3600, 55min.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing run directory.")
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print run.json instead of the summary.")] = False,
) -> None:
    """Run a case; the result, its account and a report go into one new directory.

    Ctrl-C, SIGTERM and the wall-clock limit stop the run in good order; a second Ctrl-C kills it.
    """
    from tailrace.run import RunRequest, run_case

    options = {"write": write, "sink": sink, "fault": fault, "pace": pace, "wall-limit": wall_limit}
    request = RunRequest(
        case=case,
        ranks=ranks,
        threads=threads,
        out=out,
        settings=settings or [],
        native_options={name: value for name, value in options.items() if value is not None},
        bind=bind,
        launcher=launcher,
        overwrite=overwrite,
        report=not no_report,
        json=json,
    )
    raise typer.Exit(run_case(request))


def register(app: typer.Typer) -> None:
    app.command()(run)
