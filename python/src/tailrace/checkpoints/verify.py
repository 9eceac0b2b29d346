# SPDX-License-Identifier: BSD-3-Clause
"""Has every byte of checkpoints read, and names what is not as it was written."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.checkpoints.damage import Damage
from tailrace.checkpoints.listing import NAME, Checkpoint
from tailrace.console import EXIT_OK
from tailrace.kwave import FileError
from tailrace.programs import find_program
from tailrace.progress import ByteMeter, make_progress

PROGRAM = "tailrace-checkpoint"


@dataclass
class Verdict:
    """On one checkpoint."""

    path: str
    step: int | None
    size_bytes: int
    damage: list[Damage] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.damage

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values for JSON."""
        return {
            "path": self.path,
            "step": self.step,
            "size_bytes": self.size_bytes,
            "sound": self.sound,
            "damage": [damage.as_dict() for damage in self.damage],
        }


def verify_all(checkpoints: list[Checkpoint]) -> list[Verdict]:
    """Verifies those that are complete, and shows on standard error how far that is. One that a run or
    somebody else removes meanwhile is left out. Raises FileError for one of a version that is not known.
    """
    complete = [checkpoint for checkpoint in checkpoints if not checkpoint.partial]
    for each in complete:
        if each.problem and not each.damaged:
            raise FileError(each.problem)
    readable = [each for each in complete if each.usable]
    with make_progress() as display:
        meter = ByteMeter(display, "verifying", sum(each.size_bytes for each in readable))
        found = read_all([each.path for each in readable], meter.advance)
    verdicts = [
        Verdict(str(each.path), each.step, each.size_bytes, _damage(each, found.get(each.path, [])))
        for each in complete
    ]
    return [verdict for verdict in verdicts if verdict.sound or Path(verdict.path).exists()]


def _damage(checkpoint: Checkpoint, inside: list[Damage]) -> list[Damage]:
    """What a short look showed, then what the program found in the file."""
    if checkpoint.damage is not None:
        return [checkpoint.damage]
    step, named = checkpoint.manifest.step, NAME.fullmatch(checkpoint.path.resolve().name)
    if named and int(named[1]) != step:
        problem = f"this is the name of step {int(named[1])}, the manifest is of step {step}"
        return [Damage(checkpoint.path.name, "name", problem), *inside]
    return inside


def read_all(paths: list[Path], advance: Callable[[int], None]) -> dict[Path, list[Damage]]:
    """The damage of checkpoints whose manifests and lengths fit, as the native program finds it."""
    program = find_program(PROGRAM)
    if program is None:
        raise FileError(f"{PROGRAM} is not there. Fix: build it, or set TAILRACE_BIN_DIR to where it is")
    found: dict[Path, list[Damage]] = {}
    if not paths:
        return found
    command = [program, *paths]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for reported in map(json.loads, process.stdout):
            if "read" in reported:
                advance(reported["read"])
            else:
                found[Path(reported["checkpoint"])] = [damage_of(one) for one in reported["damage"]]
        said = process.stderr.read()
    if process.returncode != EXIT_OK:
        raise FileError(said.strip() or f"{PROGRAM} ended with status {process.returncode}")
    return found


def damage_of(reported: dict[str, Any]) -> Damage:
    return Damage(**reported | ({"bytes": tuple(reported["bytes"])} if "bytes" in reported else {}))
