# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace luna`."""

from typing import Annotated

import typer

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="[OPTION]... FILE [ARGUMENT]...", help="The words of LuNA's launcher."),
]


def register(app: typer.Typer) -> None:
    # All words, --help too, are those of LuNA's launcher.
    app.command(
        "luna",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )(luna)


def luna(words: Words = None) -> None:
    """Run a program with the command line of LuNA's launcher, on one rank: luna --help.

    The exit status is 0 or 1, messages begin as LuNA's do, and of several subroutines of a name the last one
    counts. share/tailrace/luna/bin has it as `luna`, and `rts` for mpirun.
    """
    from tailrace.luna import luna as launch

    raise typer.Exit(launch(words or []))
