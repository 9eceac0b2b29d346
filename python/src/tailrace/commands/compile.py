# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace compile`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import Json
from tailrace.console import EXIT_BAD_INPUT, EXIT_OK, CommandError


def register(app: typer.Typer) -> None:
    app.command("compile")(compile_program)


Programs = Annotated[
    list[Path], typer.Argument(metavar="PROGRAM", help="Programs of the fragment language (.fa).")
]
Defines = Annotated[
    list[str] | None,
    typer.Option("-D", metavar="NAME=VALUE", help="Define a macro, as #define before the first line does."),
]
Warnings = Annotated[
    str,
    typer.Option(
        "--warnings",
        metavar="HOW",
        help="on, off, error (they count as errors), or the codes that are shown, such as SYN5,SEM7.",
    ),
]


def compile_program(
    programs: Programs,
    check: Annotated[bool, typer.Option("--check", help="Only look for errors.")] = False,
    defines: Defines = None,
    warnings: Warnings = "on",
    as_json: Json = False,
) -> None:
    """Check programs of the fragment language.

    All errors come out together, each with its place, its line and a fix, before anything is run.
    """
    from tailrace.fragments.check import check_program

    if not check:
        raise CommandError("nothing to do. Fix: --check")
    status = EXIT_OK
    for path in programs:
        problems = check_program(path, defines or ())[1].steered(warnings)
        if as_json:
            typer.echo(
                json.dumps({"program": str(path), "problems": [one.as_dict() for one in problems.shown()]})
            )
        elif text := problems.as_text():
            typer.echo(text, err=True)
        status = EXIT_BAD_INPUT if problems.errors else status
    raise typer.Exit(status)
