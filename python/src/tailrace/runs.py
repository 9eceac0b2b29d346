# SPDX-License-Identifier: BSD-3-Clause
"""The runs below a directory."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tailrace.account import steps_known
from tailrace.run_files import ACCOUNT, PROGRESS, read_table
from tailrace.run_lock import is_held

MARKS = ("run.json", "start.json", "progress.json")
# A run replaces progress.json several times a second, but not while it waits for a slow step or disk.
SILENT_S = 60.0


@dataclass(frozen=True)
class RunEntry:
    """One run directory; `started` as the account or start.json says, in ISO 8601, empty where there is
    neither.
    """

    path: str
    simulation: str
    status: str
    steps: int | None
    steps_planned: int | None
    size_bytes: int
    started: str


def find_runs(root: Path) -> list[RunEntry]:
    """All runs at or below a directory, the newest last. What is inside of one is a part of it."""
    return sorted(map(describe, _run_directories(root)), key=lambda entry: (entry.started, entry.path))


def _run_directories(root: Path) -> Iterator[Path]:
    for place, directories, files in os.walk(root):
        if any(mark in files for mark in MARKS):
            directories.clear()
            yield Path(place)
        else:
            directories[:] = sorted(name for name in directories if not name.startswith("."))


def describe(directory: Path) -> RunEntry:
    """What a run directory says of itself."""
    account = read_table(directory / "run.json", ACCOUNT)
    progress = read_table(directory / "progress.json", PROGRESS).table
    known = account.table
    steps = known["steps"] if "steps" in known else steps_known(directory)
    return RunEntry(
        path=str(directory),
        simulation=known.get("simulation", ""),
        status="damaged" if account.problems else known.get("status") or _status_without(directory),
        steps=steps,
        steps_planned=known.get("steps_planned", progress.get("steps")),
        size_bytes=sum(item.stat().st_size for item in directory.rglob("*") if item.is_file()),
        started=known.get("started") or _started(directory),
    )


def _started(directory: Path) -> str:
    """When a run without an account wrote how it was started; empty where it has not."""
    try:
        written_s = (directory / "start.json").stat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(written_s, UTC).isoformat(timespec="seconds")


def _status_without(directory: Path) -> str:
    """Of a run without an account: whether somebody holds its directory or, of one that was started without
    the command, whether it has given a sign of life of late.
    """
    if (held := is_held(directory)) is not None:
        return "running" if held else "killed"
    try:
        silent_s = time.time() - (directory / "progress.json").stat().st_mtime
    except OSError:
        return "killed"
    return "running" if silent_s < SILENT_S else "killed"
