# SPDX-License-Identifier: BSD-3-Clause
"""Results of rounds as JSON lines that are only ever appended to, by any number of writers at a time."""

import fcntl
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMAT = "tailrace-revisions"


def append(path: Path, entry: dict[str, Any]) -> None:
    """Adds a line, whole, behind what others have added meanwhile."""
    line = json.dumps({"format": FORMAT, "format_version": 1} | entry) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.stat().st_size > 0 and not ends_with_line(path):
            line = "\n" + line  # a writer was killed in the middle of its line
        os.write(file.fileno(), line.encode())


def ends_with_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def is_number(value: Any) -> bool:
    """What a test may have measured."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def is_sound(entry: Any) -> bool:
    if (
        not isinstance(entry, dict)
        or entry.get("format") != FORMAT
        or not isinstance(entry.get("round"), int)
    ):
        return False
    numbers = entry.get("numbers")
    return isinstance(numbers, dict) and all(map(is_number, numbers.values()))


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """All whole and sound lines; others are passed over."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if is_sound(entry):
            yield entry
