# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace compile`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailrace.commands.options import PROGRAM, RUN_OF_PROGRAM, Json, also, program_source
from tailrace.console import EXIT_BAD_INPUT, EXIT_NO, EXIT_OK, CommandError

if TYPE_CHECKING:
    from tailrace.fragments.compile import Source
    from tailrace.fragments.problems import Problems


def register(app: typer.Typer) -> None:
    app.command("compile")(compile_program)


Programs = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PROGRAM",
        readable=False,  # what cannot be read says so itself
        help="A program of the fragment language (.fa); several with --format.",
    ),
]
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

Graph = Annotated[
    Path | None,
    typer.Option(
        "--graph",
        metavar="FILE",
        help="Only draw which fragments read and write which data: FILE.html, a page with the program; "
        "FILE.svg; FILE.dot or .gv, the text for Graphviz, which the others need.",
    ),
]


Server = Annotated[
    bool,
    typer.Option("--serve", help="Be a language server for editors, on standard input and output."),
]


@also(PROGRAM | RUN_OF_PROGRAM)
def compile_program(
    programs: Programs = None,
    check: Annotated[bool, typer.Option("--check", help="Only look for errors.")] = False,
    output: Output = None,
    layout: Annotated[
        bool, typer.Option("--format", help="Give programs the canonical layout, in place.")
    ] = False,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="With --format: only show what would change; exit status 1 if anything."),
    ] = False,
    graph: Graph = None,
    server: Server = False,
    as_json: Json = False,
    **more: Any,
) -> None:
    """Check a program of the fragment language and compile it.

    All errors come out together, each with its place, its line and a fix, before the C++ compiler is started.
    Only bodies and sources that have changed are compiled again. The options about running are kept in what
    is compiled, for all its runs that do not say otherwise.
    """
    if server:
        raise typer.Exit(serve_editors(programs))
    if not programs:
        raise CommandError("PROGRAM is missing. Fix: name a program (.fa)")
    if output is not None and (check or layout):
        raise CommandError("-o: not with --check or --format, which make no file. Fix: two commands")
    if layout or diff or len(programs) > 1:
        raise typer.Exit(format_programs(programs, layout, diff, more["defines"] or ()))
    from tailrace.fragments.compile import compile_source, draw_source

    program = programs[0]
    target = target_of(program, graph, output, check)
    source = source_of(program, more)
    if graph is not None:
        problems = draw_source(source, target)
    else:
        problems = compile_source(source, None if check else target)
    show(program, problems, as_json)
    raise typer.Exit(EXIT_BAD_INPUT if problems.errors else EXIT_OK)


def target_of(program: Path, graph: Path | None, output: Path | None, check: bool) -> Path:
    """The file to write; raises CommandError for one that cannot be."""
    option, target = ("-o", output or Path(program.stem + ".so")) if graph is None else ("--graph", graph)
    if graph is not None and (check or output is not None):
        raise CommandError("--graph: not with --check or -o, since it only draws. Fix: two commands")
    if graph is not None and graph.suffix not in (".dot", ".gv", ".svg", ".html"):
        forms = "FILE.html, FILE.svg, FILE.dot or FILE.gv"
        raise CommandError(f"--graph {graph}: no form of a drawing. Fix: {forms}")
    if graph is None and not target.is_dir() and target.suffix not in (".so", ".json"):
        raise CommandError(f"-o {target}: no form of a compiled program. Fix: FILE.so or FILE.json")
    if not target.parent.is_dir():
        raise CommandError(f"{option} {target}: there is no directory {target.parent}. Fix: make it")
    return target


def serve_editors(programs: list[Path] | None) -> int:
    if programs:
        raise CommandError("--serve: editors name the programs. Fix: --serve alone")
    try:
        from tailrace.fragments.serve import serve
    except ImportError as error:
        raise CommandError(
            f"--serve: {error.name} is missing. Fix: pip install 'tailrace[editors]'"
        ) from error
    serve()
    return EXIT_OK


def source_of(program: Path, values: dict[str, Any]) -> "Source":
    """The program with its options; those about running are kept in what is compiled."""
    kept = {name: values[name] for name in RUN_OF_PROGRAM} | {"checks": "true" if values["debug"] else None}
    given = [f"--{name.replace('_', '-')}={value}" for name, value in kept.items() if value is not None]
    return program_source(program, values, given)


def show(program: Path, problems: "Problems", as_json: bool) -> None:
    """Messages on standard error, or all of them as JSON on standard output."""
    if as_json:
        found = [one.as_dict() for one in problems.shown()]
        typer.echo(json.dumps({"program": str(program), "problems": found}))
    elif text := problems.as_text():
        typer.echo(text, err=True)


def format_programs(programs: list[Path], layout: bool, diff: bool, defines: Sequence[str]) -> int:
    from tailrace.fragments.layout import reformat

    if not layout:
        raise CommandError(
            "--diff and several programs belong to --format. Fix: add --format, or name one program"
        )
    changes = [reformat(path, defines, writes=not diff) for path in programs]
    if diff:
        typer.echo("".join(changes), nl=False)
    return EXIT_NO if diff and any(changes) else EXIT_OK
