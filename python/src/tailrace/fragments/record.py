# SPDX-License-Identifier: BSD-3-Clause
"""run.json of a fragment program: what was run, how it ended, and every error with its place."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailrace import __version__
from tailrace.console import EXIT_OK, EXIT_STOPPED

SIMULATION = "fragments"
UNPLACED = "the program failed; what it said of that has no place in a source"
# The first line of a message, as the front end and the native program write it.
MESSAGE = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning|note): "
    r"(?P<text>.*?)(?: \[(?P<code>[A-Z]+[0-9.]*)\])?"
)


def problems_said(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The messages of a program among the lines that it wrote, each with the lines that belong to it."""
    found: list[dict[str, Any]] = []
    notes: list[str] | None = None
    for line in lines:
        if message := MESSAGE.fullmatch(line):
            fields = message.groupdict(default="")
            notes = []
            numbers = {name: int(fields[name]) for name in ("line", "column")}
            found.append(fields | numbers | {"notes": notes})
        elif notes is not None and belongs(line, len(notes)):
            notes.append(line)
        else:
            notes = None
    return found


def belongs(line: str, number: int) -> bool:
    """Whether a line belongs to a message: that of the source, the one with a caret, or an indented one."""
    return number == 0 or (number == 1 and line.lstrip().startswith("^")) or line.startswith("  ")


def new_account(
    program: Path, arguments: Sequence[str], defines: Sequence[str], ranks: int, threads: int
) -> dict[str, Any]:
    """What is known before the program is compiled."""
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    words = {"file": str(program), "sha256": digest, "arguments": [*arguments], "defines": [*defines]}
    return {
        "format": "tailrace-run",
        "format_version": 1,
        "simulation": SIMULATION,
        "program": "tailrace-fragments",
        "title": program.name,
        "version": __version__,
        "started": now(),
        "ranks": ranks,
        "threads": threads,
        "config": {"case": {"file": str(program)}, "program": words},
    }


def ended_account(
    account: dict[str, Any], exit_status: int, wall_s: float, reason: str, problems: list[dict[str, Any]]
) -> dict[str, Any]:
    """The account with how the program ended. Without a reason it is the first error."""
    statuses = {EXIT_OK: "finished", EXIT_STOPPED: "stopped"}
    errors = [one for one in problems if one["severity"] == "error"]
    ended = account | {"status": statuses.get(exit_status, "failed"), "exit_status": exit_status}
    ended |= {"ended": now(), "wall_s": round(wall_s, 3), "problems": problems}
    if ended["status"] == "stopped":
        ended["reason"] = reason
    if ended["status"] == "failed":
        first = "{file}:{line}:{column}: {text}".format_map(errors[0]) if errors else UNPLACED
        ended["reason"] = reason or first
        ended["error"] = {
            "kind": "killed" if reason and not errors else "program",
            "message": ended["reason"],
        }
    return ended


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
