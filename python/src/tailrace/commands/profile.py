# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace profile`."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import Bind, Json, Oversubscribe, Ranks, Starter

Program = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- PROGRAM [ARG]...", help="Any MPI program, with its arguments."),
]
Directory = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where the counts go (default: messages, messages-2, ...)."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier profile in --out.")]
Classes = Annotated[
    str,
    typer.Option(
        "--classes",
        metavar="CLASSES",
        help="Classes of sizes: powers (of two), darshan, or sizes such as 32-40,69-80.",
    ),
]
Measured = Annotated[
    Path | None,
    typer.Option(
        "--rates", metavar="FILE", help='JSON with measured "rates": pairs of size and messages per second.'
    ),
]
Known = Annotated[
    Path | None,
    typer.Option(
        "--read", metavar="PATH", help="Show this instead: a directory of counts, or a text of count:size."
    ),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, help="Who sends which messages, and what fragments do with their time."
    )
    group.callback()(lambda: None)
    group.command("messages")(messages)
    group.command("fragments")(fragments)
    group.command("compare")(compare)
    app.add_typer(group, name="profile")


def messages(
    program: Program = None,
    ranks: Ranks = 1,
    out: Directory = None,
    overwrite: Overwrite = False,
    classes: Classes = "powers",
    rates: Measured = None,
    read: Known = None,
    bind: Bind = "auto",
    launcher: Starter = None,
    oversubscribe: Oversubscribe = False,
    json: Json = False,
) -> None:
    """Count the messages of an MPI program: of which sizes, from whom to whom, and when.

    The program is started as it is, with a library in front of its MPI. Its directory of counts gets a page.
    """
    from tailrace.profile import Request, Start, show_known, start_and_show

    request = Request(classes=classes, rates=rates, json=json)
    if read is not None:
        show_known(read, request, program or [])
        return
    start = Start(program or [], ranks, out, bind, launcher, oversubscribe, overwrite)
    raise typer.Exit(start_and_show(start, request))


def fragments(
    directory: Annotated[Path, typer.Argument(metavar="RUNDIR", help="Run directory.", show_default=False)],
    info: Annotated[
        Path | None,
        typer.Option("--info", metavar="DIR", help="Pictures of the stages go there, as SVG and PNG."),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option("--explain", metavar="RULE", help="What a rule of the advice looks at, and found."),
    ] = None,
    json: Json = False,
) -> None:
    """Show what the traces of a fragment program say: totals, stages, shares of time, critical path, values.

    The exit status is 3 if numbers that must be equal are not, which names the rank.
    """
    from tailrace.profile_fragments import show_run

    raise typer.Exit(show_run(directory, info, rule, json))


RunDirectory = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.", show_default=False)]


def compare(
    first: RunDirectory,
    second: RunDirectory,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="A page with all of it.")] = None,
    json: Json = False,
) -> None:
    """Show what changed between two runs of a fragment program: times, stages, values, critical path."""
    from tailrace.profile_fragments import compare_runs

    compare_runs(first, second, page, json)
