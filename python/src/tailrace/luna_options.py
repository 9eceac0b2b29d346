# SPDX-License-Identifier: BSD-3-Clause
"""The command line of LuNA's launcher: what its words ask for, and its page of help."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HELP = """
NAME
    luna - runs a program of the fragment language, with the options of LuNA's launcher

SYNOPSIS
    luna [OPTION]... FILE [ARGUMENT]...

DESCRIPTION
    Checks and compiles the program FILE and runs it on one rank. Options are written before FILE; the
    arguments behind it are those of its main. The same with more ranks and a report:
    tailrace run FILE -n RANKS.

OPTIONS
    --help                      Print this page.
    -q, --quiet                 Print no progress, no warnings, and what the program writes to standard error
                                only if it fails.
    --verbose                   Print every step and command.
    -g                          Debug: bodies that change an input they may only read are found and named.
    -b                          Balance dynamically: ranks with nothing to do ask others for fragments.
    -O0, -O                     Compile bodies without optimisation, or with it (default).
    -t                          Print TIME: SECONDS sec. at the end, without compilation.
    -u                          Print how much processor time the program used.
    -D KEY[=VALUE]              Define a macro.
    --worker-threads-count=N    Threads of each rank that run bodies (default: 4).
    --build-dir=DIR             Where intermediate files go (default: a directory of the user's cache).
    --no-cleanup                Keep libucodes.so there.
    --cpp-dir=A:B               Where the C++ sources are (default: the directory of FILE).
    --cpp-source=F:G            Further C++ sources.
    --compile-only              Build, and print the command that runs the program, for behind mpirun -np N.
    -c                          Only build ./libucodes.so.
    --output-file=FILE          Behind -c: build FILE instead.
    --disable-warning=N         1: do not warn of a file name that begins with a dash.
    --luna-home=DIR             Accepted; the installation that this command belongs to is used.

ENVIRONMENT
    CXX, CXX_FLAGS, LDFLAGS     C++ compiler, and words added to its command and to the linker's.
    LUNA_NO_CLEANUP             As --no-cleanup.
    LUNA_HOME, PYTHON           Not needed here, and not read.

EXIT STATUS
    0, or 1 with a message on standard error.
"""
NOT_HERE = "{0}: the installation that this command belongs to is used, not {1}"
NO_NUMBER = "{0}: there is no warning {1} here; warnings have codes, and tailrace run --warnings chooses them"
DASH_WARNING = 1
DEFAULT_WORKERS = 4


class LunaError(Exception):
    """Ends the launcher with a fatal error."""


@dataclass
class LunaRequest:
    """What the command line asks for; `notes` say what an option cannot mean here."""

    program: Path = Path()
    arguments: Sequence[str] = ()
    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    balance: bool = False
    optimisation: str = ""
    times: bool = False
    usage: bool = False
    defines: list[str] = field(default_factory=list)
    workers: int = DEFAULT_WORKERS
    build_dir: Path | None = None
    keeps: bool = False
    cpp_dir: str = ""
    cpp_source: str = ""
    only_compiles: bool = False
    output: Path | None = None
    quiet_warnings: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def parse_words(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> LunaRequest:
    """Reads the launcher's words. Raises LunaError for those that LuNA refuses, too."""
    request = LunaRequest(keeps="LUNA_NO_CLEANUP" in environment)
    left = list(words)
    while left:
        word = left.pop(0)
        name, _, value = word.partition("=")
        if word in FLAGS:
            FLAGS[word](request)
        elif word == "-D":
            if not left:
                raise LunaError("no value provided for -D key")
            request.defines.append(left.pop(0))
        elif name in VALUES and "=" in word:
            VALUES[name](request, value)
        else:
            return with_program(request, word, left)
    raise LunaError("no program specified")


def with_program(request: LunaRequest, word: str, arguments: Sequence[str]) -> LunaRequest:
    if word.startswith("-") and DASH_WARNING not in request.quiet_warnings:
        request.notes.append(f"WARNING#1: suspicious program name: '{word}' (mistyped a key?)")
    request.program, request.arguments = Path(word), arguments
    return request


def optimise(request: LunaRequest, word: str) -> None:
    if request.optimisation not in ("", word):
        raise LunaError(f"conflicting optimization options: '{request.optimisation}' and '{word}'")
    request.optimisation = word


def set_workers(request: LunaRequest, value: str) -> None:
    if not value.isdecimal() or not int(value):
        raise LunaError(f"--worker-threads-count={value}: a number above 0 is needed")
    request.workers = int(value)


def set_output(request: LunaRequest, value: str) -> None:
    if request.output is None:
        raise LunaError("--output-file supported only with -c before")
    request.output = Path(value)


def disable_warning(request: LunaRequest, value: str) -> None:
    if not value.isdecimal():
        raise LunaError(f"'--disable-warning' requires numerical argument, got: {value}")
    request.quiet_warnings.add(int(value))
    if int(value) != DASH_WARNING:
        request.notes.append(NO_NUMBER.format(f"--disable-warning={value}", value))


def compile_only(request: LunaRequest) -> None:
    request.only_compiles = request.keeps = True


def compile_here(request: LunaRequest) -> None:
    request.only_compiles, request.output = True, Path("libucodes.so")


def setting(name: str, value: object = True) -> Callable[[LunaRequest], None]:
    return lambda request: setattr(request, name, value)


def value_of(name: str, kind: Callable[[str], object] = str) -> Callable[[LunaRequest, str], None]:
    return lambda request, value: setattr(request, name, kind(value))


FLAGS: dict[str, Callable[[LunaRequest], None]] = {
    "-q": setting("quiet"),
    "--quiet": setting("quiet"),
    "--verbose": setting("verbose"),
    "-g": setting("debug"),
    "-b": setting("balance"),
    "-O0": lambda request: optimise(request, "-O0"),
    "-O": lambda request: optimise(request, "-O"),
    "-t": setting("times"),
    "-u": setting("usage"),
    "--no-cleanup": setting("keeps"),
    "--compile-only": compile_only,
    "-c": compile_here,
}
VALUES: dict[str, Callable[[LunaRequest, str], None]] = {
    "--worker-threads-count": set_workers,
    "--build-dir": value_of("build_dir", Path),
    "--cpp-dir": value_of("cpp_dir"),
    "--cpp-source": value_of("cpp_source"),
    "--output-file": set_output,
    "--disable-warning": disable_warning,
    "--luna-home": lambda request, value: request.notes.append(
        NOT_HERE.format(f"--luna-home={value}", value)
    ),
}
