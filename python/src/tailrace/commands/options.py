# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and options that several commands have, each once."""

import math
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from tailrace.fragments.compile import Source


def finite(value: Any) -> Any:
    """The callback of options that are numbers: refuses nan and infinity, with which no comparison says
    anything.
    """
    for number in value if isinstance(value, Sequence) else [value]:
        if number is not None and not math.isfinite(number):
            raise typer.BadParameter(f"{number} is not a finite number.")
    return value


Json = Annotated[bool, typer.Option("--json", help="Machine-readable answer.")]

# How a case is started.
Case = Annotated[
    Path, typer.Argument(metavar="CASE", help="A case file (TOML) or a k-Wave input file (.h5).")
]
Ranks = Annotated[
    int, typer.Option("-n", "--ranks", metavar="RANKS", min=1, help="Number of MPI ranks that compute.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        "-t", "--threads", metavar="THREADS", min=1, help="Threads per rank (default: all cores / ranks)."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the case, such as time.steps=50."),
]
Bind = Annotated[
    str, typer.Option("--bind", metavar="HOW", help="Bind ranks and writers: auto, none, core, numa, socket.")
]
Starter = Annotated[
    str | None,
    typer.Option(
        "--launcher",
        metavar="LAUNCHER",
        help="mpirun or srun (default: the one of the MPI it was built with).",
    ),
]
Profile = Annotated[
    str | None,
    typer.Option("--profile", metavar="WHAT", help="messages: count who sends what to whom."),
]
Oversubscribe = Annotated[bool, typer.Option("--oversubscribe", help="Start more than 4 processes per core.")]

AllowOutside = Annotated[
    bool,
    typer.Option(
        "--allow-outside", help="Let the case name output files that are not below the run directory."
    ),
]

# How fragments run: keys of a case, or options of a fragment program.
Balance = Annotated[
    str | None,
    typer.Option(
        "--balance",
        metavar="HOW",
        help="How fragments come to ranks with less to do: off, steal, diffuse, auto.",
    ),
]
LiveFragments = Annotated[
    int | None,
    typer.Option(
        "--live-fragments", metavar="N", help="Fragments of a rank beyond which it creates no more for now."
    ),
]
LiveBytes = Annotated[
    str | None,
    typer.Option("--live-bytes", metavar="SIZE", help="The same for bytes of data fragments, such as 2GB."),
]

Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", metavar="N", min=1, help="Calls within each other; one more is an error (default: 10000)."
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "-g",
        help="Debug: bodies have debug information, and those that change an input of type value, which may "
        "only be read, are found and named.",
    ),
]
Unoptimised = Annotated[
    bool, typer.Option("-O0", help="Compile bodies without optimisation: sooner ready, slower.")
]
AsLuna = Annotated[
    bool,
    typer.Option(
        "--as-luna",
        help="Two errors are warnings, as LuNA lets them through: of several imports or subroutines of one "
        "name the last one counts, and a function is called as its import says, whatever its parameters.",
    ),
]
BuildDirectory = Annotated[
    Path | None,
    typer.Option(
        "--build-dir", metavar="DIR", help="Where compiled bodies are kept (default: the user's cache)."
    ),
]

AsStarted = Annotated[
    bool,
    typer.Option(
        "--as-started",
        help="Continue a fragment program as it was started, although its sources have changed since.",
    ),
]

CheckpointEvery = Annotated[
    int | None,
    typer.Option(
        "--checkpoint-every",
        metavar="N",
        min=1,
        help="A checkpoint after each N steps, or each N fragments of a rank.",
    ),
]
CheckpointEveryS = Annotated[
    float | None,
    typer.Option(
        "--checkpoint-every-s",
        metavar="SECONDS",
        callback=finite,
        help="A checkpoint each so many seconds.",
    ),
]

# Passed to the program as typed. Only the program knows all the values: the texts here give an example.
Write = Annotated[
    str | None,
    typer.Option(
        "--write",
        metavar="STRATEGY",
        help="Who writes, such as threads:3 or ranks:1 (default: auto, which measures and decides). "
        "tailrace-rehearse --list names all.",
    ),
]
Sink = Annotated[
    str | None,
    typer.Option(
        "--sink",
        metavar="SINK",
        help="What the file is, such as hdf5-chunked:4 (default: hdf5). tailrace-rehearse --list names all.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="DEVICES",
        help="GPUs that the ranks of each machine share out among them, in simulations that can: none, auto, "
        "0, 0,2, or emulated (default: TAILRACE_DEVICE, or none). tailrace doctor names them.",
    ),
]
Exchange = Annotated[
    str | None,
    typer.Option(
        "--exchange",
        metavar="NAME",
        help="Transport of values between ranks, such as isend, for simulations that exchange them by maps "
        "(default: auto, the fastest). tailrace doctor names all.",
    ),
]
Pace = Annotated[
    str | None,
    typer.Option(
        "--pace",
        metavar="SPEC",
        help="Slow the sink down to emulate a device, such as bandwidth=50MB/s or latency=2ms.",
    ),
]
Fault = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="Inject a fault, to see what happens, such as kill:rank=1,step=20."),
]
WallLimit = Annotated[
    str | None, typer.Option(metavar="TIME", help="Stop in good order after this time: 3600, 55min.")
]

# What a program of the fragment language means, and where its C++ is.
Defines = Annotated[
    list[str] | None,
    typer.Option("-D", metavar="NAME=VALUE", help="Define a macro, as #define before the first line does."),
]
Warnings = Annotated[
    str,
    typer.Option(
        "--warnings",
        metavar="HOW",
        help="on, off, error (they count as errors), or the codes that are shown, such as SYN5,SEM7.",
    ),
]
CppDirectories = Annotated[
    str,
    typer.Option(
        "--cpp-dir", metavar="A:B", help="Where the C++ sources are (default: the program's directory)."
    ),
]
CppSources = Annotated[str, typer.Option("--cpp-source", metavar="F:G", help="Further C++ sources.")]

# Options that commands have together: name -> annotation and default.
FRAGMENTS = {
    "balance": (Balance, None),
    "live_fragments": (LiveFragments, None),
    "live_bytes": (LiveBytes, None),
}
# Those of a run that set keys of its case: parameter -> key.
KEYS = {name: f"fragments.{name}" for name in FRAGMENTS}
KEYS |= {"checkpoint_every": "checkpoint.every", "checkpoint_every_s": "checkpoint.every_s"}
RUN_OF_PROGRAM = FRAGMENTS | {"depth": (Depth, None)}
PROGRAM = {
    "defines": (Defines, None),
    "warnings": (Warnings, "on"),
    "cpp_directories": (CppDirectories, ""),
    "cpp_sources": (CppSources, ""),
    "debug": (Debug, False),
    "unoptimised": (Unoptimised, False),
    "build_dir": (BuildDirectory, None),
    "as_luna": (AsLuna, False),
}
Command = TypeVar("Command", bound=Callable[..., Any])


def settings_of(values: dict[str, Any]) -> list[str]:
    """The options that set keys of a case, as --set has them."""
    return [f"{key}={dumps(values[name])}" for name, key in KEYS.items() if values.get(name) is not None]


def keys_asked(values: dict[str, Any]) -> dict[str, str]:
    """The keys of a case that options set: key -> option."""
    return {key: f"--{name.replace('_', '-')}" for name, key in KEYS.items() if values.get(name) is not None}


def also(options: dict[str, tuple[Any, Any]]) -> Callable[[Command], Command]:
    """Gives a command that takes `**more` these options, too; `more` has their values."""

    def add(command: Command) -> Command:
        own = signature(command)
        kept = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in options.items()
        ]
        command.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
        types = {one.name: one.annotation for one in (*kept, *added)}
        command.__annotations__ = types | {"return": own.return_annotation}
        return command

    return add


def program_source(program: Path, values: dict[str, Any], run_options: Sequence[str] = ()) -> "Source":
    """A program of the fragment language with the values of the options `PROGRAM`; `run_options` as `Source`
    has them.
    """
    from tailrace.fragments.compile import Source

    return Source(
        program,
        values["defines"] or (),
        values["warnings"],
        values["cpp_directories"],
        values["cpp_sources"],
        values["build_dir"],
        values["debug"],
        not values["unoptimised"],
        values["as_luna"],
        run_options=run_options,
    )
