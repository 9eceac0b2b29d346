# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace case`."""

import subprocess
from typing import Annotated

import typer

from tailrace.console import CommandError
from tailrace.programs import NOT_SIMULATIONS, simulation_program

NO_CASE = {
    "fragments": "a case of a fragment program has few keys, and no template. Fix: begin with the one at the "
    "end of docs/reference/case_file.md"
}


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
    if name.split("-")[0] in NOT_SIMULATIONS:
        raise CommandError(f"tailrace case {name}: {NO_CASE.get(name, 'no simulation has this name')}")
    program = simulation_program(name, "tailrace case")
    option = "--case-schema" if schema else "--case-template"
    raise typer.Exit(subprocess.run([str(program), option], check=False).returncode)
