# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace checkpoint`."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tailrace import kwave
from tailrace.checkpoints.listing import Checkpoint, list_checkpoints
from tailrace.checkpoints.prune import plan_pruning, remove
from tailrace.checkpoints.verify import Verdict, verify_all
from tailrace.commands.options import Json
from tailrace.console import EXIT_NO, EXIT_OK, count_of
from tailrace.units import bytes_text, duration_text, wide_console

# If every cell is damaged, the list of them would scroll all else away.
DAMAGE_SHOWN = 20
# Their steps are sweeps.
WITHOUT_TIME = ("poisson",)
LEFT_BEHIND = "incomplete: a write that did not end, or has not yet"

Directory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", help="Run directory, its checkpoints/, or one checkpoint.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Checkpoints of a run: what is there, and is it sound.")
    group.callback()(lambda: None)
    group.command("list")(list_all)
    group.command("verify")(verify)
    group.command("convert")(convert)
    group.command("prune")(prune)
    app.add_typer(group, name="checkpoint")


def list_all(directory: Directory, as_json: Json = False) -> None:
    """What checkpoints there are. A short look at each; exit status 1 when it shows damage."""
    found = list_checkpoints(directory)
    if as_json:
        typer.echo(json.dumps([_entry(each) for each in found], indent=2))
    elif found:
        _print_list(found, wide_console())
    else:
        typer.echo(f"{directory}: no checkpoints yet")
    raise typer.Exit(EXIT_NO if any(each.damaged for each in found) else EXIT_OK)


def verify(directory: Directory, as_json: Json = False) -> None:
    """Read every byte and compare all checksums; exit status 1 when something is damaged."""
    found = list_checkpoints(directory)
    if all(each.partial for each in found):
        raise kwave.FileError(
            f"{directory}: no complete checkpoint is there. Fix: wait until the run has written one"
        )
    verdicts = verify_all(found)
    sound = all(verdict.sound for verdict in verdicts)
    if as_json:
        document = {"sound": sound, "checkpoints": [verdict.as_dict() for verdict in verdicts]}
        typer.echo(json.dumps(document, indent=2))
    else:
        print_verdicts(verdicts, wide_console())
    raise typer.Exit(EXIT_OK if sound else EXIT_NO)


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A checkpoint in any format, or a run directory.")
    ],
    target: Annotated[
        Path,
        typer.Option(
            "-o", "--out", metavar="TARGET", help="File to make; of tailrace, a directory of checkpoints."
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="tailrace, or one that the simulation knows: kwave; ascii, binary, cells, netcdf, "
            "mpi-restart (molecules).",
        ),
    ],
    run_dir: Annotated[
        Path | None,
        typer.Option(
            "--run", metavar="DIR", help="Directory of its run, if neither SOURCE nor TARGET lies in it."
        ),
    ] = None,
    case: Annotated[
        Path | None,
        typer.Option("--case", metavar="FILE", help="Its case, instead of a run."),
    ] = None,
    ranks: Annotated[
        int, typer.Option("-n", "--ranks", metavar="RANKS", min=1, help="That share the state meanwhile.")
    ] = 1,
) -> None:
    """Have a checkpoint in another format: ours in that of another program, or another program's in ours."""
    from tailrace.checkpoints.convert import ConvertRequest, convert_checkpoint

    status = convert_checkpoint(ConvertRequest(source, target, to, run_dir, case, ranks))
    raise typer.Exit(status)


def prune(
    directory: Directory,
    keep: Annotated[
        int,
        typer.Option("--keep", metavar="K", min=1, help="How many of the newest complete ones stay."),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed, and leave it.")
    ] = False,
) -> None:
    """Remove all but the newest checkpoints, and incomplete ones. Not while a run writes into DIR."""
    console = wide_console()
    pruning = plan_pruning(list_checkpoints(directory), keep)
    for each in pruning.removed:
        if not dry_run:
            remove(each)
        about = f"  {LEFT_BEHIND}" if each.partial else ""
        _print_one("would remove" if dry_run else "removed", each, about, console)
    for each in pruning.kept:
        _print_one("kept", each, f"  not counted: {each.problem}" if each.problem else "", console)
    freed = bytes_text(sum(each.size_bytes for each in pruning.removed))
    console.print(f"{'would free' if dry_run else 'freed'} {freed}")


def print_verdicts(verdicts: list[Verdict], console: Console) -> None:
    """A line for each checkpoint, its damage, and what to do about it."""
    for verdict in verdicts:
        word = "[green]sound[/green]  " if verdict.sound else "[red]damaged[/red]"
        console.print(f"{word}  {escape(verdict.path)}  {bytes_text(verdict.size_bytes)}", soft_wrap=True)
        for damage in verdict.damage[:DAMAGE_SHOWN]:
            console.print(f"         {escape(str(damage))}", soft_wrap=True)
        if len(verdict.damage) > DAMAGE_SHOWN:
            console.print(f"         and {len(verdict.damage) - DAMAGE_SHOWN} more; --json lists all")
    sound = [verdict for verdict in verdicts if verdict.sound]
    if len(sound) < len(verdicts):
        advice = f"resume from {sound[-1].path}" if sound else "restore one from a copy, or begin anew"
        damaged = count_of(len(verdicts) - len(sound), "checkpoint")
        console.print(f"{damaged} of {len(verdicts)} damaged. Fix: {escape(advice)}", soft_wrap=True)


def _print_list(found: list[Checkpoint], console: Console) -> None:
    console.print(_table(found))
    for each in found:
        if each.problem:
            console.print(f"{each.path.name}: {each.problem}", markup=False, soft_wrap=True)


def _print_one(what: str, checkpoint: Checkpoint, about: str, console: Console) -> None:
    line = f"{what}  {checkpoint.path.name}  {bytes_text(checkpoint.size_bytes)}{about}"
    console.print(line, markup=False, soft_wrap=True)


def _table(found: list[Checkpoint]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("simulation", no_wrap=True)
    for name in ("time", "ranks", "size", "age"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for each in found:
        cells = [_step(each), *_of_manifest(each), bytes_text(each.size_bytes), _age(each)]
        table.add_row(*map(escape, cells), _state(each))
    return table


def _state(checkpoint: Checkpoint) -> str:
    if checkpoint.partial:
        return LEFT_BEHIND
    if checkpoint.damaged:
        return "[red]damaged[/red]"
    return "unknown" if checkpoint.problem else ""


def _step(checkpoint: Checkpoint) -> str:
    return "-" if checkpoint.step is None else str(checkpoint.step)


def _of_manifest(checkpoint: Checkpoint) -> tuple[str, str, str]:
    manifest = checkpoint.manifest
    if manifest is None:
        return "-", "-", "-"
    time = "-" if manifest.simulation in WITHOUT_TIME else duration_text(manifest.time_s)
    return manifest.simulation, time, str(manifest.ranks)


def _age(checkpoint: Checkpoint) -> str:
    if checkpoint.manifest is None:
        return "-"
    age_s = (datetime.now(UTC) - checkpoint.manifest.created).total_seconds()
    return duration_text(max(0, round(age_s)))


def _entry(checkpoint: Checkpoint) -> dict[str, Any]:
    manifest = checkpoint.manifest
    known = (
        {}
        if manifest is None
        else {
            "simulation": manifest.simulation,
            "program": manifest.program,
            "time_s": manifest.time_s,
            "ranks": manifest.ranks,
            "created": manifest.created.isoformat(),
        }
    )
    return {
        "path": str(checkpoint.path),
        "step": checkpoint.step,
        "complete": not checkpoint.partial,
        "size_bytes": checkpoint.size_bytes,
        **known,
        "problem": checkpoint.problem,
    }
