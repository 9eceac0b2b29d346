# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one module per command, each with register(app). Heavy imports happen in the commands."""

from importlib import import_module
from typing import Annotated

import typer

from tailrace import __version__

COMMANDS = (
    "run",
    "case",
    "compile",
    "luna",
    "resume",
    "report",
    "trace",
    "profile",
    "revisions",
    "list",
    "inspect",
    "checkpoint",
    "compare",
    "movie",
    "plan",
    "doctor",
    "bench",
    "test",
)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tailrace {__version__}")
        raise typer.Exit()


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Parallel simulations whose data leave the computation without stopping it.

    Exit status: 0 success; 1 negative result; 2 bad usage or input; 3 the run failed;
    4 stopped in good order.
    """


def build_app(arguments: list[str]) -> typer.Typer:
    """The application for these arguments: when they begin with a command, only that one is imported."""
    app = typer.Typer(
        name="tailrace",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(common)
    for name in arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else COMMANDS:
        import_module(f"tailrace.commands.{name}").register(app)
    return app
