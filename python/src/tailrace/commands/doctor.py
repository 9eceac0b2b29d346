"""`tailrace doctor`."""

from typing import Annotated

import typer


def doctor(json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """What this machine offers: MPI, cores and binding, file system and its speed, optional parts."""
    from tailrace.doctor import run_doctor

    raise typer.Exit(run_doctor(as_json=json))


def register(app: typer.Typer) -> None:
    app.command()(doctor)
