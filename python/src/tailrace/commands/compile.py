# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace compile`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tailrace.commands.options import Json
from tailrace.console import EXIT_BAD_INPUT, EXIT_OK


def register(app: typer.Typer) -> None:
    app.command("compile")(compile_program)


Program = Annotated[Path, typer.Argument(metavar="PROGRAM", help="A program of the fragment language (.fa).")]
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


CppDirectories = Annotated[
    str,
    typer.Option(
        "--cpp-dir", metavar="A:B", help="Where the C++ sources are (default: the program's directory)."
    ),
]
CppSources = Annotated[str, typer.Option("--cpp-source", metavar="F:G", help="Further C++ sources.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="FILE.so: the bodies and the serialised program; FILE.json: the serialised program alone "
        "(default: PROGRAM.so in the current directory).",
    ),
]


def compile_program(
    program: Program,
    check: Annotated[bool, typer.Option("--check", help="Only look for errors.")] = False,
    output: Output = None,
    defines: Defines = None,
    warnings: Warnings = "on",
    cpp_directories: CppDirectories = "",
    cpp_sources: CppSources = "",
    as_json: Json = False,
) -> None:
    """Check a program of the fragment language and compile it.

    All errors come out together, each with its place, its line and a fix, before the C++ compiler is started.
    Only bodies and sources that have changed are compiled again.
    """
    from tailrace.fragments.check import check_program
    from tailrace.fragments.compile import build_object, sources_of, write_document

    bound, problems = check_program(program, defines or ())
    problems = problems.steered(warnings)
    target = output or Path(program.stem + ".so")
    if not problems.errors and not check:
        if target.suffix == ".json":
            write_document(bound, target)
        else:
            build_object(bound, sources_of(program, cpp_directories, cpp_sources), target, problems)
    if as_json:
        found = [one.as_dict() for one in problems.shown()]
        typer.echo(json.dumps({"program": str(program), "problems": found}))
    elif text := problems.as_text():
        typer.echo(text, err=True)
    raise typer.Exit(EXIT_BAD_INPUT if problems.errors else EXIT_OK)
