# SPDX-License-Identifier: BSD-3-Clause
"""What the launcher must know of a case: which program runs it, and which input to make first."""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.console import CommandError

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
# Native inputs that are cases by themselves, and the simulation they belong to.
KWAVE_SIMULATION = "ultrasound"
MARDYN_SIMULATION = "molecules"
FRAGMENTS = "fragments"
NPB_CASE = re.compile(r"heat:([A-Z])")
NPB_CLASSES = "SWABCDE"
# Fragment programs: the source in the language or in Python, the shared object, the serialised form.
PROGRAM_SOURCE, PYTHON_PROGRAM = ".fa", ".py"
PROGRAM_SUFFIXES = (PROGRAM_SOURCE, PYTHON_PROGRAM, ".so", ".json")


@dataclass(frozen=True)
class Case:
    """A case: its file, its simulation, the input file and the script that makes it, if it names them."""

    path: Path
    simulation: str
    input_file: Path | None = None
    input_script: Path | None = None
    strategy: str | None = None
    """[write] strategy, unchanged there."""
    transport: str | None = None
    """[exchange] transport, unchanged there."""
    npb_class: str | None = None
    """The class of NPB's benchmark that the case is, instead of a file."""

    def words(self) -> list[str]:
        """The words that name the case to the native program."""
        return [self.npb_class] if self.npb_class else ["--case", str(self.path)]


def is_fragment_program(path: Path) -> bool:
    """Whether what `tailrace run` is to run is no case but a program of the fragment language."""
    return path.suffix in PROGRAM_SUFFIXES


def read_case(path: Path, settings: list[str]) -> Case:
    """Reads as much of a case as the launcher needs; the native program checks the rest."""
    if is_fragment_program(path):
        raise CommandError(f"{path}: a fragment program is no case. Fix: start it with tailrace run")
    refuse_directory(path)
    if not path.is_file():
        if named := NPB_CASE.fullmatch(path.name):
            return Case(path, "heat", npb_class=named[1])
        raise CommandError(f"{path}: there is no such case file.")
    with path.open("rb") as file:
        start = file.read(len(HDF5_SIGNATURE))
    if start == HDF5_SIGNATURE or path.suffix in (".h5", ".hdf5"):
        return Case(path, KWAVE_SIMULATION)
    if is_mardyn_configuration(path):
        return Case(path, MARDYN_SIMULATION)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: not a TOML case file and not an HDF5 file: {error}") from None
    for setting in settings:
        apply_setting(table, setting)
    simulation = lookup(table, "case", "simulation")
    if simulation == FRAGMENTS:
        raise CommandError(f"{path}: is the case of a fragment program. Fix: start it with tailrace run")
    if not isinstance(simulation, str):
        raise CommandError(f'{path}: [case] simulation must name the simulation, such as "ultrasound".')
    return Case(
        path,
        simulation,
        relative(path, lookup(table, "input", "file")),
        relative(path, lookup(table, "input", "script")),
        text_at(table, "write", "strategy"),
        text_at(table, "exchange", "transport") or text_at(table, "heat", "transport"),
    )


def refuse_directory(path: Path) -> None:
    if path.is_dir():
        raise CommandError(f"{path}: is a directory. Fix: name a file, such as the case in it")


def is_mardyn_configuration(path: Path) -> bool:
    """Whether a file is a configuration of ls1 mardyn (XML) or MarDyn, with a first word of its own."""
    with path.open("rb") as file:
        text = file.read(4096).decode(errors="replace")
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    words = [word for line in lines for word in line]
    return text.lstrip().startswith("<") or words[:1] in (["MDProjectConfig"], ["MDPProjectConfig"])


def npb_case(words: list[str]) -> str | None:
    """The case that a native command line names by a class of NPB alone."""
    return f"heat:{words[0]}" if words and len(words[0]) == 1 and words[0] in NPB_CLASSES else None


def lookup(table: dict[str, Any], *keys: str) -> Any:
    value: Any = table
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(table: dict[str, Any], *keys: str) -> str | None:
    value = lookup(table, *keys)
    return value if isinstance(value, str) else None


def relative(case: Path, name: Any) -> Path | None:
    return case.parent / name if isinstance(name, str) else None


def parse_setting(setting: str) -> tuple[list[str], Any]:
    """KEY=VALUE with a dotted key; the value is TOML, or else a plain string."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise CommandError(f"--set {setting}: expected KEY=VALUE, such as time.steps=50.")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    return [part.strip() for part in key.split(".")], value


def apply_setting(table: dict[str, Any], setting: str) -> None:
    keys, value = parse_setting(setting)
    for key in keys[:-1]:
        below = table.setdefault(key, {})
        if not isinstance(below, dict):
            return  # A table array or a plain value: the native program says what is wrong with it.
        table = below
    table[keys[-1]] = value


def make_input(case: Case) -> None:
    """Runs the case's script when its input is not there yet. The file appears only when it is complete."""
    if case.input_script is None or case.input_file is None or case.input_file.exists():
        return
    if not case.input_script.is_file():
        raise CommandError(f"{case.path}: [input] script: {case.input_script} does not exist.")
    print(f"making {case.input_file} with {case.input_script}", file=sys.stderr, flush=True)
    target = case.input_file.absolute()
    partial = target.with_name(f".partial-{os.getpid()}-{target.name}")
    command = [sys.executable, str(case.input_script.absolute()), str(partial)]
    try:
        done = subprocess.run(command, cwd=case.path.absolute().parent, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise CommandError(
                f"{case.input_script} failed with status {done.returncode}; there is no input to run."
            )
        if not partial.is_file():
            raise CommandError(f"{case.input_script} did not write {partial}, the path it was given.")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
