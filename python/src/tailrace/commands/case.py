# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace case`."""

import subprocess
from typing import Annotated

import typer

from tailrace.programs import simulation_program


def register(app: typer.Typer) -> None:
    app.command("case")(case)


def case(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The simulation, such as seismic.", show_default=False)
    ],
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of a case, for editors, instead.")
    ] = False,
) -> None:
    """Print a case of a simulation with all its keys, what they mean and their defaults, to begin from."""
    program = simulation_program(name, "tailrace case")
    option = "--case-schema" if schema else "--case-template"
    raise typer.Exit(subprocess.run([str(program), option], check=False).returncode)
