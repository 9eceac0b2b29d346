# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace test`."""

from typing import Annotated

import typer

from tailrace.commands.options import Json


def test(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only the tests whose name contains this.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also the long crash, fuzz and sanitizer runs.")
    ] = False,
    durations: Annotated[
        bool, typer.Option("--durations", help="Also where the time went: parts, launches, the slowest 40.")
    ] = False,
    gpu: Annotated[
        bool,
        typer.Option("--gpu", help="Only the tests of simulations on devices, on those of this machine."),
    ] = False,
    json: Json = False,
) -> None:
    """Run the test suite of this checkout."""
    from tailrace.testing import run_tests

    raise typer.Exit(run_tests(name, full=full, as_json=json, durations=durations, gpu=gpu))


def register(app: typer.Typer) -> None:
    app.command()(test)
