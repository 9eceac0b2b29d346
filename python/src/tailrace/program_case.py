# SPDX-License-Identifier: BSD-3-Clause
"""Case files of fragment programs: `[case] simulation = "fragments"` with the tables program, fragments,
checkpoint and trace. Every key is an option of `tailrace run PROGRAM.fa`, which has the last word.
"""

import tomllib
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from tailrace.casefile import PROGRAM_SUFFIXES, apply_setting, lookup
from tailrace.console import CommandError
from tailrace.fragments.record import SIMULATION


class Key(NamedTuple):
    """A key of a case: what its value is, and the parameter of `tailrace run` that it gives a value."""

    kind: str
    parameter: str


# What values are in messages, and the types that TOML gives them.
TEXT, COUNT, NUMBER, FLAG, WORDS = "text", "a whole number above 0", "a number", "true or false", "a list"
TYPES: dict[str, tuple[type, ...]] = {
    TEXT: (str,),
    COUNT: (int,),
    NUMBER: (int, float),
    FLAG: (bool,),
    WORDS: (list,),
}
KEYS = {
    "case.simulation": Key(TEXT, ""),
    "case.title": Key(TEXT, ""),
    "program.file": Key(TEXT, "case"),
    "program.arguments": Key(WORDS, "arguments"),
    "program.defines": Key(WORDS, "defines"),
    "program.cpp_dirs": Key(WORDS, "cpp_directories"),
    "program.cpp_sources": Key(WORDS, "cpp_sources"),
    "program.warnings": Key(TEXT, "warnings"),
    "program.debug": Key(FLAG, "debug"),
    "program.unoptimised": Key(FLAG, "unoptimised"),
    "program.as_luna": Key(FLAG, "as_luna"),
    "fragments.balance": Key(TEXT, "balance"),
    "fragments.live_fragments": Key(COUNT, "live_fragments"),
    "fragments.live_bytes": Key(TEXT, "live_bytes"),
    "fragments.depth": Key(COUNT, "depth"),
    "checkpoint.every": Key(COUNT, "checkpoint_every"),
    "checkpoint.every_s": Key(NUMBER, "checkpoint_every_s"),
    "trace.mode": Key(TEXT, "trace"),
}
# Lists of files, relative to the case, that the options have in one word.
PATHS = ("program.cpp_dirs", "program.cpp_sources")


def is_program_case(path: Path) -> bool:
    """Whether a file is a case of a fragment program. One that cannot be read is not: others say why."""
    if path.suffix != ".toml" or not path.is_file():
        return False
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    return lookup(table, "case", "simulation") == SIMULATION


def read_program_case(path: Path, settings: Sequence[str]) -> dict[str, Any]:
    """The values of a case, by the names that the parameters of `tailrace run` have.

    Raises CommandError with all that is wrong, each with its key, value and fix.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    for setting in settings:
        apply_setting(table, setting)
    values: dict[str, Any] = {}
    problems = []
    for name, value in entries(table):
        try:
            key = known_key(name)
            values |= {key.parameter: converted(path, name, key, value)} if key.parameter else {}
        except ValueError as error:
            problems.append(f"{path}: {name}: {error}")
    if "case" not in values and not any(": program.file:" in one for one in problems):
        problems.append(f'{path}: program.file: is missing. Fix: [program] file = "PROGRAM.fa"')
    if problems:
        raise CommandError("\n".join(problems))
    return values


def entries(table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """All keys of the tables with their values; what should be a table and is not goes by its own name."""
    for name, below in table.items():
        if isinstance(below, dict):
            yield from ((f"{name}.{key}", value) for key, value in below.items())
        else:
            yield name, below


def known_key(name: str) -> Key:
    if name not in KEYS:
        close = get_close_matches(name, KEYS, 1)
        meant = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(KEYS)}."
        raise ValueError(f"is unknown. {meant}")
    return KEYS[name]


def converted(path: Path, name: str, key: Key, value: Any) -> Any:
    """A value as the parameter has it."""
    fits = isinstance(value, TYPES[key.kind]) and (key.kind == FLAG or not isinstance(value, bool))
    if not fits or (key.kind == COUNT and value < 1):
        raise ValueError(f"{value!r}: {key.kind} is needed")
    if name == "program.file":
        return program_of(path, value)
    if key.kind != WORDS:
        return value
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in value):
        raise ValueError(f"{value!r}: texts and numbers are needed")
    words = [str(one) for one in value]
    if name not in PATHS:
        return words
    if any(":" in word for word in words):
        raise ValueError(f"{value!r}: a colon in a path is impossible here")
    return ":".join(str(path.parent / word) for word in words)


def program_of(path: Path, value: str) -> Path:
    program = path.parent / value
    if program.suffix not in PROGRAM_SUFFIXES:
        raise ValueError(f'"{value}": a program ends in {", ".join(PROGRAM_SUFFIXES)}')
    return program
