# SPDX-License-Identifier: BSD-3-Clause
"""A run directory: the account of the run, and where its output and its input are."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tailrace import kwave
from tailrace.run_files import ACCOUNT, PROGRESS, read_table


@dataclass
class RunDirectory:
    """`account` is run.json and `progress` progress.json, empty where they are not there."""

    directory: Path
    account: dict
    progress: dict
    output: Path | None
    input: Path | None
    damage: list[str]
    """What is wrong with run.json and progress.json."""


def read_directory(directory: Path) -> RunDirectory:
    """Reads what is there; only a directory that is no run directory at all is an error."""
    if not directory.is_dir():
        raise kwave.FileError(f"{directory}: no such directory")
    account = read_table(directory / "run.json", ACCOUNT)
    progress = read_table(directory / "progress.json", PROGRESS)
    output = _output_file(directory, account.table)
    if not account.there and output is None and not (directory / "trace").is_dir():
        raise kwave.FileError(f"{directory}: not a run directory (no run.json, output.h5 or trace/)")
    return RunDirectory(
        directory,
        account.table,
        progress.table,
        output,
        _input_file(directory, account.table),
        account.problems + progress.problems,
    )


def _output_file(directory: Path, account: dict) -> Path | None:
    names = ["output.h5", *(entry.get("file", "") for entry in account.get("outputs") or [])]
    for name in names:
        path = directory / name if name else None
        if path is not None and path.is_file():
            return path
    return None


def _input_file(directory: Path, account: dict) -> Path | None:
    """The input file as recorded, or as the case names it: relative to the case, the run or here."""
    config = account.get("config") or {}
    case_file = case_file_of(account)
    name = account.get("input_file") or (config.get("input") or {}).get("file") or _named_by(case_file)
    if not name:
        return None
    bases = [Path(case_file).parent] if case_file else []
    bases += [directory, directory.parent, Path()]
    return next((base / name for base in bases if (base / name).is_file()), None)


def case_file_of(account: dict) -> str:
    """The file the run was started with, where the account says."""
    config = account.get("config") or {}
    return account.get("case_file") or (config.get("case") or {}).get("file") or ""


def _named_by(case_file: str) -> str:
    """The input that a case file names; a native input is its own case."""
    if not case_file or Path(case_file).suffix != ".toml":
        return Path(case_file).name
    try:
        case = tomllib.loads(Path(case_file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    named = case.get("input")
    return str(named.get("file", "")) if isinstance(named, dict) else ""
