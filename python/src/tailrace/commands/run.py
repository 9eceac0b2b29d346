# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace run`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tailrace.commands.options import (
    PROGRAM,
    RUN_OF_PROGRAM,
    AllowOutside,
    Bind,
    CheckpointEvery,
    CheckpointEveryS,
    Device,
    Exchange,
    Fault,
    Oversubscribe,
    Pace,
    Profile,
    Ranks,
    Settings,
    Sink,
    Starter,
    Threads,
    WallLimit,
    Write,
    also,
    keys_asked,
    program_source,
    settings_of,
)
from tailrace.console import CommandError

Case = Annotated[
    Path,
    typer.Argument(
        metavar="CASE|PROGRAM.fa",
        readable=False,  # what cannot be read says so itself
        help="A case file (TOML), a k-Wave input file (.h5), or a program of the fragment language "
        "(.fa, or compiled: .so, .json).",
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="ARG", help="Arguments of PROGRAM.fa; behind -- they may begin with a dash."),
]
Directory = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Run directory to make (default: runs/CASE, runs/CASE-2, ...).",
    ),
]
Trace = Annotated[
    str | None,
    typer.Option(metavar="MODE", help="Trace of every thread: off, on, papi (with hardware counters)."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing run directory.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Do not write report.html.")]
Check = Annotated[
    bool, typer.Option("--check", help="Only look for errors of the case, as every run does first.")
]
Json = Annotated[bool, typer.Option("--json", help="Print run.json instead of the summary.")]


@also(RUN_OF_PROGRAM | PROGRAM)
def run(
    context: typer.Context,
    case: Case,
    arguments: Arguments = None,
    ranks: Ranks = 1,
    threads: Threads = None,
    out: Directory = None,
    settings: Settings = None,
    write: Write = None,
    sink: Sink = None,
    exchange: Exchange = None,
    device: Device = None,
    bind: Bind = "auto",
    launcher: Starter = None,
    oversubscribe: Oversubscribe = False,
    allow_outside: AllowOutside = False,
    fault: Fault = None,
    pace: Pace = None,
    trace: Trace = None,
    profile: Profile = None,
    checkpoint_every: CheckpointEvery = None,
    checkpoint_every_s: CheckpointEveryS = None,
    wall_limit: WallLimit = None,
    overwrite: Overwrite = False,
    check: Check = False,
    no_report: NoReport = False,
    json: Json = False,
    **more: Any,
) -> None:
    """Run a case; the result, its account and a report go into one new directory.

    Ctrl-C, SIGTERM and the wall-clock limit stop the run in good order; a second Ctrl-C kills it.
    Of a program of the fragment language the standard output is the program's. Its ranks have one thread for
    bodies each, unless -t says more, and leave traces with --trace on only.
    """
    values = {**locals(), **more}
    raise typer.Exit(start(values))


def start(values: dict[str, Any]) -> int:
    """Runs what it is: a case, or a fragment program, which may have a case."""
    from tailrace.casefile import is_fragment_program
    from tailrace.program_case import is_program_case

    given = words_given(values["context"])
    if is_program_case(values["case"]):
        values, given = with_case(values, given)
    is_program = is_fragment_program(values["case"])
    return (start_program if is_program else start_case)(values, given)


# Parameters that are fields of a request under the same name, and those that native programs have as options.
FIELDS = (
    "case",
    "ranks",
    "threads",
    "out",
    "bind",
    "launcher",
    "oversubscribe",
    "allow_outside",
    "overwrite",
    "profile",
    "check",
    "json",
)
NATIVE_OPTIONS = ("write", "sink", "exchange", "device", "fault", "pace", "trace", "wall_limit")
CHECKPOINT_OPTIONS = ("checkpoint_every", "checkpoint_every_s")
PROGRAM_PARAMETERS = ("arguments", "depth", *PROGRAM)


def with_case(values: dict[str, Any], given: dict[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters and the words that gave them, with those of a fragment program's case where the command
    line says nothing. The run directory has the name of the case.
    """
    from tailrace.program_case import KEYS, read_program_case

    case = values["case"]
    found = read_program_case(case, values["settings"] or [])
    kept = {name: value for name, value in found.items() if name not in given or name == "case"}
    words = {key.parameter: f"{case}: {name}" for name, key in KEYS.items() if key.parameter in kept}
    said = {name: word for name, word in given.items() if name != "settings"}
    return values | kept | {"name": case.stem}, words | said


def start_case(values: dict[str, Any], given: dict[str, str]) -> int:
    """Runs a case; `values` are those of the command's parameters, `given` the words that gave some."""
    from tailrace.run import RunRequest, run_case

    for name in (name for name in PROGRAM_PARAMETERS if name in given):
        case = values["case"]
        raise CommandError(
            f"{given[name]}: not for {case}: only a program of the fragment language has it. "
            "Fix: leave it out; a program (.fa) comes before its arguments"
        )
    request = RunRequest(
        **{name: values[name] for name in FIELDS},
        settings=[*(values["settings"] or []), *settings_of(values)],
        keys=keys_asked(values),
        native_options=given_options({name: values[name] for name in NATIVE_OPTIONS}),
        report=not values["no_report"],
    )
    return run_case(request)


def start_program(values: dict[str, Any], given: dict[str, str]) -> int:
    """Runs a program of the fragment language; `values` are those of the command's parameters, `given` the
    words that gave some.
    """
    from tailrace.run_fragments import ProgramRequest, check_options, run_program

    check_options(values["case"], given)
    source = program_source(values["case"], values)
    how = {
        name: values[name]
        for name in ("ranks", "bind", "launcher", "oversubscribe", "out", "overwrite", "json")
    }
    how["name"] = values.get("name", "")
    how["report"] = not values["no_report"]
    how["threads"] = values["threads"] or 1
    how["trace"] = traces(values["trace"])
    how["native_options"] = given_options(
        {name: values[name] for name in (*RUN_OF_PROGRAM, *CHECKPOINT_OPTIONS, "wall_limit")}
        | {"checks": "true" if values["debug"] else None}
    )
    return run_program(ProgramRequest(source, values["arguments"] or (), **how))


def traces(mode: str | None) -> bool:
    """Whether a fragment program leaves traces. Raises CommandError for a mode that it does not have."""
    if mode not in (None, "on", "off"):
        raise CommandError(f"--trace {mode}: a fragment program has on and off.")
    return mode == "on"


def words_given(context: typer.Context) -> dict[str, str]:
    """The parameters that were given on the command line: name in Python -> as it is written there."""
    found = {}
    for one in context.command.params:
        source = context.get_parameter_source(str(one.name))
        if source is not None and not source.name.startswith("DEFAULT"):
            found[str(one.name)] = max(one.opts, key=len) if one.param_type_name == "option" else "ARG"
    return found


def given_options(values: dict[str, Any]) -> dict[str, str]:
    """The options that were given, by the names that the native programs have for them."""
    return {name.replace("_", "-"): str(value) for name, value in values.items() if value is not None}


def register(app: typer.Typer) -> None:
    app.command()(run)
