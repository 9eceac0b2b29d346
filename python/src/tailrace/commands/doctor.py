# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace doctor`."""

import typer

from tailrace.commands.options import Bind, Json, Ranks, Threads


def doctor(ranks: Ranks = 1, threads: Threads = None, bind: Bind = "auto", json: Json = False) -> None:
    """What this machine offers: MPI, cores and binding, file system and its speed, optional parts."""
    from tailrace.doctor import run_doctor

    raise typer.Exit(run_doctor(as_json=json, ranks=ranks, threads=threads, bind=bind))


def register(app: typer.Typer) -> None:
    app.command()(doctor)
